/** The ground: shadows, and lines every 0.1 m and 1 m that fade out with distance. */
import * as THREE from "three";

export class Ground {
  readonly group = new THREE.Group();
  private readonly shadow = new THREE.ShadowMaterial({ opacity: 0.28, transparent: true, depthWrite: false });
  private readonly lines: THREE.ShaderMaterial;

  constructor() {
    this.lines = new THREE.ShaderMaterial({
      transparent: true,
      depthWrite: false,
      uniforms: { color: { value: new THREE.Color(0x888888) }, reach: { value: 3 }, center: { value: new THREE.Vector2() }, strength: { value: 0.35 } },
      vertexShader: /* glsl */ `
        varying vec2 at;
        void main() {
          vec4 world = modelMatrix * vec4(position, 1.0);
          at = world.xz;
          gl_Position = projectionMatrix * viewMatrix * world;
        }`,
      fragmentShader: /* glsl */ `
        varying vec2 at;
        uniform vec3 color;
        uniform float reach, strength;
        uniform vec2 center;
        float lines(float step) {
          vec2 p = at / step;
          vec2 w = fwidth(p);
          vec2 d = abs(fract(p - 0.5) - 0.5) / w;
          return (1.0 - min(min(d.x, d.y), 1.0)) * (1.0 - smoothstep(0.04, 0.25, max(w.x, w.y)));
        }
        void main() {
          float fade = 1.0 - smoothstep(0.35, 1.0, length(at - center) / reach);
          float a = max(0.3 * lines(0.1), lines(1.0)) * fade * strength;
          gl_FragColor = vec4(color, a);
          #include <colorspace_fragment>
        }`,
    });
    const plane = new THREE.PlaneGeometry(1, 1).rotateX(-Math.PI / 2);
    const catcher = new THREE.Mesh(plane, this.shadow);
    catcher.receiveShadow = true;
    catcher.renderOrder = -1;
    const grid = new THREE.Mesh(plane, this.lines);
    grid.renderOrder = -2;
    this.group.add(catcher, grid);
  }

  place(height: number, center: THREE.Vector3, reach: number): void {
    this.group.position.set(center.x, height - 1e-4, center.z);
    this.group.scale.set(reach * 2, 1, reach * 2);
    this.lines.uniforms["reach"]!.value = reach;
    (this.lines.uniforms["center"]!.value as THREE.Vector2).set(center.x, center.z);
  }

  lower(height: number): void {
    this.group.position.y = height - 1e-4;
  }

  theme(dark: boolean): void {
    (this.lines.uniforms["color"]!.value as THREE.Color).set(dark ? 0x9aa4b0 : 0x5c6672);
    this.lines.uniforms["strength"]!.value = dark ? 0.2 : 0.26;
    this.shadow.opacity = dark ? 0.42 : 0.22;
  }
}
