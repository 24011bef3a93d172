/** A page that is loaded again goes on with its session on the machine: this tab remembers which one it was, and what was done in it. */
import type { Engine, Request } from "../engine/protocol";
import type { Place } from "../engines";
import type { Live } from "./live";

const KEY = "muslin-session";

export interface Kept {
  id: string;
  /** What was chosen from the list of scenes. */
  current: string;
  place: Place;
  opened: Request;
  log: Request[];
}

/** The number of a session on the machine. */
function idOf(engine: Engine): string | undefined {
  return "id" in engine ? String(engine.id) : undefined;
}

/** Remembers the session, if there is one that can be gone on with: a single one, whose meshes the server has itself. */
export function keep(live: Live, current: string): void {
  try {
    const [side, other] = live.sides;
    const id = side && !other && side.scene ? idOf(side.engine) : undefined;
    const recipe = side?.recipe();
    if (id === undefined || !recipe || recipe.files.size > 0) {
      sessionStorage.removeItem(KEY);
      return;
    }
    const kept: Kept = { id, current, place: live.place, opened: recipe.opened, log: recipe.log };
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing begins anew.
  }
}

export function kept(): Kept | undefined {
  try {
    const text = sessionStorage.getItem(KEY);
    return text ? (JSON.parse(text) as Kept) : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the sessions that nobody will come back to. */
export function leave(live: Live): void {
  const stays = kept()?.id;
  for (const side of live.sides) {
    const id = idOf(side.engine);
    if (id !== undefined && id !== stays) side.close();
  }
}
