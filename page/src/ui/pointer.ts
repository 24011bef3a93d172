/** The hand on the cloth: pull it, pin it by a click, move bodies, and leave the rest to the camera. */
import * as THREE from "three";
import type { Context } from "../app/context";
import type { Live } from "../app/live";
import type { Side } from "../app/side";
import type { Vec3 } from "../engine/protocol";
import { handful, pickCloth, pickNear, vertexAt } from "../view/pick";

export type Tool = "pull" | "move" | "look";

/** A pointer that went no farther than this, in pixels, has clicked. */
const CLICK = 5;

/** A pointer that misses the cloth by no more than this, in pixels, still takes it. */
const NEAR = 7;

/** A pointer that is no farther than this from a pin, in pixels, is on its mark. */
const MARK = 5;

interface Hold {
  pointer: number;
  side: number;
  sides: Side[];
  what: "cloth" | "body";
  vertex: number;
  collider: number;
  start: THREE.Vector3;
  plane: THREE.Plane;
  x: number;
  y: number;
  moved: boolean;
  /** Where the body was put before, while time stood still. */
  aim: Vec3;
}

export class Pointer {
  tool: Tool = "pull";
  private hold: Hold | undefined;
  private looked = 0;

  constructor(private readonly context: Context, private readonly live: () => Live | undefined, area: HTMLElement) {
    const { canvas } = context.stage;
    // Before the camera's controls hear of it.
    area.addEventListener("pointerdown", (e) => e.target === canvas && this.down(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", (e) => this.up(e));
    canvas.addEventListener("pointercancel", () => this.cancel());
    canvas.addEventListener("lostpointercapture", (e) => this.hold?.pointer === e.pointerId && this.up(e));
  }

  private down(event: PointerEvent): void {
    if (this.hold) {
      // A second finger turns or zooms; it does not pull.
      this.cancel();
      return;
    }
    const live = this.live();
    if (!live || event.button !== 0 || event.ctrlKey || event.metaKey || this.tool === "look") return;
    const target = this.under(event.clientX, event.clientY, event.shiftKey);
    if (!target) return;
    const { camera, controls, canvas } = this.context.stage;
    controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    canvas.dataset["hold"] = target.what;
    const facing = camera.getWorldDirection(new THREE.Vector3());
    this.hold = {
      pointer: event.pointerId,
      ...target,
      sides: live.touched(target.side, target.what === "cloth" ? "vertices" : "colliders"),
      plane: new THREE.Plane().setFromNormalAndCoplanarPoint(facing, target.start),
      x: event.clientX,
      y: event.clientY,
      moved: false,
      aim: this.context.stage.views[target.side]!.bodies.aims.get(target.collider) ?? [0, 0, 0],
    };
    if (target.what === "body") this.context.stage.views.forEach((view) => view.bodies.light(target.collider));
    this.context.stage.invalidate();
  }

  /** What the tool would take hold of. */
  private under(x: number, y: number, shift: boolean): Pick<Hold, "side" | "what" | "vertex" | "collider" | "start"> | undefined {
    const { stage } = this.context;
    const { side, ray } = stage.rayAt(x, y);
    const view = stage.views[side];
    if (!view) return undefined;
    const bodies = this.tool === "move" || shift;
    if (bodies) {
      const caster = new THREE.Raycaster(ray.origin, ray.direction);
      const hit = caster.intersectObjects(view.bodies.group.children, false)[0];
      if (!hit) return undefined;
      return { side, what: "body", vertex: -1, collider: Number(hit.object.userData["collider"]), start: hit.point };
    }
    const { positions, triangles } = view.cloth;
    const hit = pickCloth(ray, positions, triangles);
    const target = hit ?? pickNear(ray, positions, NEAR * stage.anglePerPixel());
    if (!target) return undefined;
    const start = hit ? ray.at(hit.distance, new THREE.Vector3()) : vertexAt(positions, target.vertex);
    const body = new THREE.Raycaster(ray.origin, ray.direction).intersectObjects(view.bodies.group.children, false)[0];
    // Cloth behind a body is not within reach; cloth that lies on it is.
    if (body && body.distance < target.distance - 0.01) return undefined;
    return { side, what: "cloth", vertex: target.vertex, collider: -1, start };
  }

  private move(event: PointerEvent): void {
    const { hold } = this;
    if (!hold) {
      this.hover(event);
      return;
    }
    if (event.pointerId !== hold.pointer) return;
    if (!hold.moved) {
      if (Math.hypot(event.clientX - hold.x, event.clientY - hold.y) < CLICK) return;
      hold.moved = true;
      if (hold.what === "cloth") this.grab(hold);
    }
    const ray = this.context.stage.rayIn(hold.side, event.clientX, event.clientY);
    const point = ray.intersectPlane(hold.plane, new THREE.Vector3());
    if (!point) return;
    const offset = point.sub(hold.start).toArray() as Vec3;
    for (const side of hold.sides) {
      if (hold.what === "cloth") side.pull(offset);
      else side.push(hold.collider, offset);
    }
    if (hold.what === "body" && !this.live()?.playing) this.preview(hold, offset);
  }

  /** Time stands still, and with it the bodies of the simulation: the one in hand is drawn where it will go. */
  private preview(hold: Hold, offset: Vec3): void {
    const live = this.live();
    if (!live) return;
    for (const side of hold.sides) {
      const view = this.context.stage.views[live.sides.indexOf(side)];
      view?.bodies.aims.set(hold.collider, [hold.aim[0] + offset[0], hold.aim[1] + offset[1], hold.aim[2] + offset[2]]);
      view?.bodies.update(side.frame.poses, undefined);
    }
    this.context.stage.invalidate();
  }

  private grab(hold: Hold): void {
    const vertices = handful(hold.vertex, this.context.stage.views[hold.side]!.cloth.triangles);
    for (const side of hold.sides) void side.call({ do: "grab", vertices }).catch(() => undefined);
    this.context.stage.views.forEach((view, i) => hold.sides.length > 1 || i === hold.side ? view.setHeld([hold.vertex]) : undefined);
    if (!this.live()?.playing) this.context.say("info", "Paused: the cloth follows once it plays.", false);
  }

  private up(event: PointerEvent): void {
    const { hold } = this;
    if (!hold || event.pointerId !== hold.pointer) return;
    this.end();
    const live = this.live();
    if (!live) return;
    if (hold.what === "body") {
      if (hold.moved) void this.drop(live, hold);
    } else if (hold.moved) {
      for (const side of hold.sides) void side.flush().then(() => side.call({ do: "release" })).catch(() => undefined);
    } else {
      this.togglePin(hold.side, this.pinUnder(hold) ?? hold.vertex);
    }
  }

  private async drop(live: Live, hold: Hold): Promise<void> {
    for (const side of hold.sides) await side.flush();
    await live.hand(hold.sides, { do: "drop", collider: hold.collider });
  }

  /** The pin whose mark was clicked. Marks are drawn above everything: the cloth may be in front of the pin, or end beside it. */
  private pinUnder(hold: Hold): number | undefined {
    const { stage } = this.context;
    const view = stage.views[hold.side];
    const pinned = this.live()?.sides[hold.side]?.scene.pinned;
    if (!view || !pinned) return undefined;
    return pickNear(stage.rayIn(hold.side, hold.x, hold.y), view.cloth.positions, MARK * stage.anglePerPixel(), pinned)?.vertex;
  }

  togglePin(side: number, vertex: number): void {
    const live = this.live();
    if (!live) return;
    const pinned = live.sides[side]!.scene.pinned.includes(vertex);
    void live.hand(live.touched(side, "vertices"), { do: pinned ? "unpin" : "pin", vertex });
  }

  /** Lets go without a click. */
  private cancel(): void {
    const { hold } = this;
    if (!hold) return;
    this.end();
    if (hold.moved && hold.what === "cloth") for (const side of hold.sides) void side.call({ do: "release" }).catch(() => undefined);
    const live = this.live();
    if (hold.moved && hold.what === "body" && live) void this.drop(live, hold);
  }

  private end(): void {
    const { stage } = this.context;
    this.hold = undefined;
    stage.controls.enabled = true;
    delete stage.canvas.dataset["hold"];
    for (const view of stage.views) {
      view.setHeld([]);
      view.bodies.light(undefined);
    }
    stage.invalidate();
  }

  private hover(event: PointerEvent): void {
    // Looking for what is under the pointer takes too long in a large mesh to be done all the time.
    if (this.context.stage.views[0]!.cloth.triangles.length > 600_000) return;
    if (event.buttons !== 0 || event.pointerType === "touch" || event.timeStamp - this.looked < 60) return;
    this.looked = event.timeStamp;
    const { canvas } = this.context.stage;
    const over = this.live() && this.tool !== "look" ? this.under(event.clientX, event.clientY, event.shiftKey)?.what : undefined;
    if (over) canvas.dataset["over"] = over;
    else delete canvas.dataset["over"];
  }
}
