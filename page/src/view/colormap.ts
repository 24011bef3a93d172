/** Colours for numbers: five stops, dark to bright, even in lightness and readable without red or green. */

export const stops: readonly [number, number, number][] = [
  [0x4a, 0x3f, 0x86], [0x3a, 0x6a, 0x9c], [0x24, 0x93, 0x8b], [0x74, 0xc3, 0x6a], [0xfb, 0xe3, 0x4a],
];

/** For a gradient of the legend. */
export function cssGradient(): string {
  return `linear-gradient(to right, ${stops.map(([r, g, b]) => `rgb(${r} ${g} ${b})`).join(", ")})`;
}

/** The same in GLSL, as linear light: `vec3 mapColor(float t)`. */
export function glslMap(): string {
  const linear = stops.map((stop) => `vec3(${stop.map((c) => toLinear(c / 255).toFixed(4)).join(", ")})`);
  const n = stops.length - 1;
  let body = `vec3 c = ${linear[0]};`;
  for (let i = 1; i <= n; i++) body += `\n  c = mix(c, ${linear[i]}, clamp(t * ${n}.0 - ${i - 1}.0, 0.0, 1.0));`;
  return `vec3 mapColor(float t) {\n  ${body}\n  return c;\n}`;
}

function toLinear(c: number): number {
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}
