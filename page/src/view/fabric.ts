/**
 * The look of cloth: a plain weave of threads, uneven as yarn is, with another tint on the back, and a faint sheen at grazing angles.
 *
 * Threads are drawn where a pixel can show them and fade out before they would flicker; the unevenness is of all sizes and stays.
 */
import * as THREE from "three";
import { glslMap } from "./colormap";

export interface FabricUniforms {
  /** 0 shows the fabric, 1 a number per vertex by colour. */
  byValue: { value: number };
  range: { value: THREE.Vector2 };
  /** Threads per metre; 0 draws plain cloth. */
  threads: { value: number };
}

const head = /* glsl */ `
varying vec3 vWeave;
varying vec3 vTint;
varying float vNumber;
`;

const fragmentHead = /* glsl */ `
${head}
uniform float byValue;
uniform vec2 range;
uniform float threads;
${glslMap()}

float hash1(vec2 p) {
  p = fract(p * vec2(0.1031, 0.1030));
  p += dot(p, p.yx + 33.33);
  return fract((p.x + p.y) * p.x);
}
float smoothNoise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  return mix(mix(hash1(i), hash1(i + vec2(1, 0)), f.x), mix(hash1(i + vec2(0, 1)), hash1(i + vec2(1, 1)), f.x), f.y);
}
/* Along the threads in both directions: long in one, thin in the other. */
float yarn(vec2 p) {
  return smoothNoise(vec2(p.x * 0.9, p.y * 0.03)) + smoothNoise(vec2(p.x * 0.03, p.y * 0.9)) - 1.0;
}
vec2 weavePlane() {
  vec3 n = abs(cross(dFdx(vWeave), dFdy(vWeave)));
  if (n.z >= n.x && n.z >= n.y) return vWeave.xy;
  return n.x >= n.y ? vWeave.zy : vWeave.xz;
}
/* Where the warp is on top, its round back; elsewhere that of the weft. */
float weaveHeight(vec2 p) {
  vec2 s = sin(3.14159265 * p);
  return s.x * s.y > 0.0 ? abs(s.x) : abs(s.y);
}
`;

export function fabricMaterial(): { material: THREE.MeshStandardMaterial; uniforms: FabricUniforms } {
  const uniforms: FabricUniforms = {
    byValue: { value: 0 },
    range: { value: new THREE.Vector2(0, 1) },
    threads: { value: 260 },
  };
  const material = new THREE.MeshStandardMaterial({
    side: THREE.DoubleSide,
    roughness: 0.88,
    metalness: 0,
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${head}\nattribute vec3 weave;\nattribute vec3 tint;\nattribute float number;`)
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvWeave = weave; vTint = tint; vNumber = number;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${fragmentHead}`)
      .replace("#include <color_fragment>", /* glsl */ `
        vec2 thread = weavePlane() * threads;
        vec2 width = fwidth(thread);
        float fade = threads > 0.0 ? 1.0 - smoothstep(0.35, 0.9, max(width.x, width.y)) : 0.0;
        float height = weaveHeight(thread);
        if (byValue > 0.5) {
          diffuseColor.rgb = mapColor(clamp((vNumber - range.x) / (range.y - range.x), 0.0, 1.0));
          fade *= 0.35;
        } else {
          vec3 tint = vTint;
          if (!gl_FrontFacing) tint = mix(tint, vec3(dot(tint, vec3(0.3, 0.5, 0.2))), 0.35) * 0.62 + 0.06;
          if (threads > 0.0) {
            float slub = 0.6 * yarn(thread * 0.5) + 0.7 * yarn(thread * 0.11) + 0.35 * fade * yarn(thread);
            tint *= 1.0 + 0.17 * slub;
          }
          diffuseColor.rgb = tint;
        }
        diffuseColor.rgb *= 1.0 - 0.34 * fade * (1.0 - height);
      `)
      .replace("#include <normal_fragment_maps>", /* glsl */ `
        #include <normal_fragment_maps>
        if (fade > 0.01) {
          vec3 sigmaX = dFdx(-vViewPosition), sigmaY = dFdy(-vViewPosition);
          vec3 r1 = cross(sigmaY, normal), r2 = cross(normal, sigmaX);
          float det = dot(sigmaX, r1);
          float h = height * 0.0011 * fade;
          vec3 gradient = sign(det) * (dFdx(h) * r1 + dFdy(h) * r2);
          normal = normalize(abs(det) * normal - gradient);
        }
      `)
      .replace("#include <opaque_fragment>", /* glsl */ `
        {
          float grazing = 1.0 - clamp(dot(normalize(vViewPosition), normal), 0.0, 1.0);
          outgoingLight += diffuseColor.rgb * (0.22 * grazing * grazing * grazing);
        }
        #include <opaque_fragment>
      `);
  };
  return { material, uniforms };
}
