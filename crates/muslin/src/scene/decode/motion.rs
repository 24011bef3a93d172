//! Motion of pins and colliders: `path` with its sibling keys `axis`, `center` and `ease`.

use crate::description::{Path, Waypoint};
use crate::scene::cursor::{Item, Table};

use crate::parameter::Kind;
use crate::validate::limits::{self, NOT_NEGATIVE};

/// Reads the motion keys of a pin or of a collider.
pub(super) fn path(t: &mut Table<'_, '_>) -> Option<Path> {
    let still = Path::still();
    let waypoints = t.get("path").map(waypoints);
    let axis = t.get("axis").and_then(Item::direction).unwrap_or(still.axis);
    let center = t.get("center").and_then(|v| v.vector(Kind::BOUNDED));
    let ease = t.get("ease").and_then(Item::word).unwrap_or(still.ease);
    if waypoints.is_none() {
        for key in t.given(&["axis", "center", "ease"]) {
            t.key_error(key, "has no effect without `path`; give one, or remove this");
        }
    }
    Some(Path { waypoints: waypoints.unwrap_or(Some(still.waypoints))?, axis, center, ease })
}

fn waypoints(item: Item<'_, '_>) -> Option<Vec<Waypoint>> {
    let mut earlier = None;
    item.list("waypoints", |v| v.table(|t| waypoint(t, &mut earlier)))
}

fn waypoint(t: &mut Table<'_, '_>, earlier: &mut Option<f64>) -> Option<Waypoint> {
    let later = |time: f64| limits::later(earlier.replace(time), time);
    let time = t.need("time", "0.0").and_then(|v| v.refine(|v| v.number(NOT_NEGATIVE), later));
    let offset = t.get("offset").and_then(|v| v.vector(Kind::BOUNDED)).unwrap_or_default();
    let turn = t.get("turn").and_then(|v| v.number(Kind::BOUNDED)).unwrap_or(0.0);
    Some(Waypoint { time: time?, offset, turn })
}
