//! One panel: its place, its corners, its edges in a loop.

use crate::curve::{Curve, Point, distance, sub};
use crate::finding::{Findings, Place, Problem};
use crate::json::Json;
use crate::outline;
use crate::pattern::{Edge, Panel, Placement};

use super::{
    Conventions, EXTENT, MAX_DISTANCE, MAX_EDGES, MIN_AREA, MIN_EDGE, TOUCH, is_far, label, long_name, near, object,
    required, shortened, wrong,
};

/// An edge as the file has it.
struct RawEdge {
    endpoints: [usize; 2],
    curve: Curve,
    label: Option<String>,
}

pub(super) fn read(name: &str, json: &Json, conventions: &Conventions, findings: &mut Findings) -> Option<Panel> {
    let place = Place::Panel { panel: shortened(name) };
    long_name(name, &place, findings);
    let known = ["translation", "rotation", "vertices", "edges", "label"];
    object(json, "it", &known, &place, findings)?;
    let placement = placement(json, conventions, &place, findings);
    let label = label(json.get("label"), &place, findings);
    let corners = corners(name, json, conventions, &place, findings)?;
    let edges = edges(name, json, &corners, conventions, &place, findings)?;
    let order = loop_order(name, &edges, &place, findings)?;
    let used = |corner: usize| edges.iter().any(|edge| edge.endpoints.contains(&corner));
    for corner in (0..corners.len()).filter(|&corner| !used(corner)) {
        findings.warning(Place::Corner { panel: shortened(name), corner }, Problem::UnusedCorner);
    }
    let mut edges: Vec<Option<RawEdge>> = edges.into_iter().map(Some).collect();
    let in_order = order
        .into_iter()
        .filter_map(|number| edges[number].take().map(|edge| Edge { number, curve: edge.curve, label: edge.label }));
    let edges: Vec<Edge> = in_order.collect();
    let panel = Panel { name: name.to_owned(), label, edges, placement: placement?, is_turned: false };
    shape(panel, &place, findings)
}

/// Translation and rotation. Panels of patterns that nobody places have none; they stay at the origin.
fn placement(json: &Json, conventions: &Conventions, place: &Place, findings: &mut Findings) -> Option<Placement> {
    let mut three = |key: &'static str, cure: &'static str, expected: &'static str| {
        let value = required(json.get(key), Problem::Missing { key, cure }, place, findings)?;
        let numbers = value.numbers::<3>();
        if numbers.is_none() {
            wrong(place, &format!("{key:?}"), value, expected, findings);
        }
        numbers
    };
    let translation = three("translation", "write where it is, [x, y, z]", "three numbers, [x, y, z]");
    let rotation =
        three("rotation", "write angles in degrees, [0, 0, 0] for none", "three angles in degrees, [x, y, z]");
    let translation = translation?.map(|value| value * conventions.scale);
    if let Some(value) = translation.iter().find(|value| is_far(**value)) {
        let (what, value) = ("a coordinate of \"translation\"", format!("{value:.4e} m"));
        findings.error(place.clone(), Problem::Absurd { what, value, limit: MAX_DISTANCE });
        return None;
    }
    Some(Placement::from_degrees(rotation?, translation))
}

fn corners(
    name: &str,
    json: &Json,
    conventions: &Conventions,
    place: &Place,
    findings: &mut Findings,
) -> Option<Vec<Point>> {
    let missing = Problem::Missing { key: "vertices", cure: "write its corners, [[x, y], …]" };
    let value = required(json.get("vertices"), missing, place, findings)?;
    let Some(list) = value.list() else {
        wrong(place, "\"vertices\"", value, "a list of corners, [[x, y], …]", findings);
        return None;
    };
    if list.len() > MAX_EDGES {
        findings.error(place.clone(), Problem::TooMany { what: "corners", count: list.len(), limit: MAX_EDGES });
        return None;
    }
    let read = list.iter().enumerate().map(|(corner, value)| {
        let place = Place::Corner { panel: shortened(name), corner };
        let Some(point) = value.numbers::<2>() else {
            wrong(&place, "it", value, "two numbers, [x, y]", findings);
            return None;
        };
        near(point.map(|value| value * conventions.scale), "a coordinate", &place, findings)
    });
    // Every wrong corner is reported, not only the first.
    read.collect::<Vec<_>>().into_iter().collect()
}

fn edges(
    name: &str,
    json: &Json,
    corners: &[Point],
    conventions: &Conventions,
    place: &Place,
    findings: &mut Findings,
) -> Option<Vec<RawEdge>> {
    let missing = Problem::Missing { key: "edges", cure: "write the closed loop around it" };
    let value = required(json.get("edges"), missing, place, findings)?;
    let Some(list) = value.list() else {
        wrong(place, "\"edges\"", value, "a list of edges", findings);
        return None;
    };
    if list.len() < 2 {
        findings.error(place.clone(), Problem::FewEdges { count: list.len() });
        return None;
    }
    if list.len() > MAX_EDGES {
        findings.error(place.clone(), Problem::TooMany { what: "edges", count: list.len(), limit: MAX_EDGES });
        return None;
    }
    let read = list.iter().enumerate().map(|(edge, value)| {
        let place = Place::Edge { panel: shortened(name), edge };
        read_edge(value, corners, conventions, &place, findings)
    });
    read.collect::<Vec<_>>().into_iter().collect()
}

fn read_edge(
    json: &Json,
    corners: &[Point],
    conventions: &Conventions,
    place: &Place,
    findings: &mut Findings,
) -> Option<RawEdge> {
    object(json, "it", &["endpoints", "curvature", "label"], place, findings)?;
    let label = label(json.get("label"), place, findings);
    let missing = Problem::Missing { key: "endpoints", cure: "write the corners where it begins and ends, [0, 1]" };
    let value = required(json.get("endpoints"), missing, place, findings)?;
    let indices: Option<Vec<usize>> = value.list().and_then(|list| list.iter().map(Json::index).collect());
    let Some(&[start, end]) = indices.as_deref() else {
        wrong(place, "\"endpoints\"", value, "two numbers of corners, [0, 1]", findings);
        return None;
    };
    if let Some(&corner) = [start, end].iter().find(|&&corner| corner >= corners.len()) {
        findings.error(place.clone(), Problem::NoSuchCorner { corner, count: corners.len() });
        return None;
    }
    if start == end {
        findings.error(place.clone(), Problem::SameCorner { corner: start });
        return None;
    }
    let ends = [corners[start], corners[end]];
    if distance(ends[0], ends[1]) < MIN_EDGE {
        let length = distance(ends[0], ends[1]);
        findings.error(place.clone(), Problem::ZeroLength { length, limit: MIN_EDGE });
        return None;
    }
    let curve = curve(json.get("curvature"), ends, conventions, place, findings)?;
    Some(RawEdge { endpoints: [start, end], curve, label })
}

fn curve(
    json: Option<&Json>,
    [start, end]: [Point; 2],
    conventions: &Conventions,
    place: &Place,
    findings: &mut Findings,
) -> Option<Curve> {
    let json = match json {
        None | Some(Json::Null) => return Some(Curve::Line([start, end])),
        Some(json) => json,
    };
    if json.list().is_some() {
        let [control] = controls([json], "\"curvature\"", [start, end], conventions, place, findings)?;
        return Some(Curve::Quadratic([start, control, end]));
    }
    if !matches!(json, Json::Object(_)) {
        wrong(place, "\"curvature\"", json, "[u, v], or an object with \"type\" and \"params\"", findings);
        return None;
    }
    object(json, "\"curvature\"", &["type", "params"], place, findings)?;
    let missing = Problem::Missing { key: "type", cure: "\"curvature\" is \"quadratic\", \"cubic\" or \"circle\"" };
    let kind = required(json.get("type"), missing, place, findings)?;
    let missing = Problem::Missing { key: "params", cure: "\"curvature\" has its control points there, or its circle" };
    let params = required(json.get("params"), missing, place, findings)?;
    let expected = match kind.text() {
        Some("quadratic") => "one control point, [[u, v]]",
        Some("cubic") => "two control points, [[u, v], [u, v]]",
        Some("circle") => "[radius, large_arc, right] with 0 or 1 for the last two",
        _ => {
            let found = kind.text().map_or_else(|| kind.shown(), shortened);
            findings.error(place.clone(), Problem::UnknownCurvature { found });
            return None;
        }
    };
    let key = "\"params\" of \"curvature\"";
    match (kind.text(), params.list()) {
        (Some("quadratic"), Some([control])) => {
            let [control] = controls([control], key, [start, end], conventions, place, findings)?;
            Some(Curve::Quadratic([start, control, end]))
        }
        (Some("cubic"), Some([first, second])) => {
            let [first, second] = controls([first, second], key, [start, end], conventions, place, findings)?;
            Some(Curve::Cubic([start, first, second, end]))
        }
        (Some("circle"), Some([radius, large, right])) => {
            let (Some(radius), Some(large), Some(right)) = (radius.number(), flag(large), flag(right)) else {
                wrong(place, key, params, expected, findings);
                return None;
            };
            circle(radius * conventions.scale, large, right, [start, end], place, findings)
        }
        _ => {
            wrong(place, key, params, expected, findings);
            None
        }
    }
}

fn circle(
    radius: f64,
    is_large: bool,
    is_right: bool,
    [start, end]: [Point; 2],
    place: &Place,
    findings: &mut Findings,
) -> Option<Curve> {
    // A circle of 1 km bends an edge of 1 m by 0.1 mm: it is meant as a line, or is a mistake in the units.
    let limit = 1000.0;
    if radius > limit {
        let value = format!("{radius:.4e} m");
        findings.error(place.clone(), Problem::Absurd { what: "the radius of its circle", value, limit });
        return None;
    }
    let arc = Curve::arc(start, end, radius, is_large, is_right);
    if arc.is_none() {
        findings.error(place.clone(), Problem::ArcRadius { radius, chord: distance(start, end) });
    }
    arc
}

/// 0 or 1, or what JSON has for them.
fn flag(json: &Json) -> Option<bool> {
    match json {
        Json::Bool(value) => Some(*value),
        Json::Number(value) if *value == 0.0 || *value == 1.0 => Some(*value == 1.0),
        _ => None,
    }
}

/// Control points in the plane of the panel, in m. A relative one is start + u (end − start) + v (−dy, dx).
fn controls<const N: usize>(
    points: [&Json; N],
    key: &str,
    [start, end]: [Point; 2],
    conventions: &Conventions,
    place: &Place,
    findings: &mut Findings,
) -> Option<[Point; N]> {
    let mut controls = [[0.0; 2]; N];
    for (control, json) in controls.iter_mut().zip(points) {
        let Some([u, v]) = json.numbers::<2>() else {
            wrong(place, key, json, "two numbers for each control point, [u, v]", findings);
            return None;
        };
        let [dx, dy] = sub(end, start);
        let point = if conventions.is_relative {
            [start[0] + u * dx - v * dy, start[1] + u * dy + v * dx]
        } else {
            [u * conventions.scale, v * conventions.scale]
        };
        *control = near(point, "a coordinate of a control point", place, findings)?;
    }
    Some(controls)
}

/// The numbers of the edges in the order of the loop, beginning with the first.
///
/// Edges that all run one way round are sorted. One that runs against its neighbours is an error: if it were turned, stitches that begin at its start
/// would begin at its end, and if the others were, the panel would face the other way.
fn loop_order(name: &str, edges: &[RawEdge], place: &Place, findings: &mut Findings) -> Option<Vec<usize>> {
    let corner_count = edges.iter().flat_map(|edge| edge.endpoints).max()? + 1;
    let mut at_corner = vec![Vec::new(); corner_count];
    for (number, edge) in edges.iter().enumerate() {
        edge.endpoints.iter().for_each(|&corner| at_corner[corner].push(number));
    }
    if let Some(corner) = at_corner.iter().position(|edges| edges.len() > 2) {
        let count = at_corner[corner].len();
        findings.error(Place::Corner { panel: shortened(name), corner }, Problem::Branching { count });
        return None;
    }
    let edge_place = |edge: usize| Place::Edge { panel: shortened(name), edge };
    if let Some(corner) = at_corner.iter().position(|edges| edges.len() == 1) {
        findings.error(edge_place(at_corner[corner][0]), Problem::OpenLoop { corner });
        return None;
    }
    let mut starts = vec![None; corner_count];
    for (number, edge) in edges.iter().enumerate() {
        let start = &mut starts[edge.endpoints[0]];
        if start.is_some() {
            let against = minority(edges, &at_corner);
            let endpoints = edges[against].endpoints;
            findings.error(edge_place(against), Problem::Against { endpoints });
            return None;
        }
        *start = Some(number);
    }
    let mut order = vec![0];
    let mut corner = edges[0].endpoints[1];
    while let Some(next) = starts[corner].filter(|&next| next != 0) {
        order.push(next);
        corner = edges[next].endpoints[1];
    }
    if order.len() < edges.len() {
        let other = (0..edges.len()).find(|number| !order.contains(number)).unwrap_or(0);
        findings.error(edge_place(other), Problem::SecondLoop);
        return None;
    }
    if !order.is_sorted() {
        let shown = order.iter().take(20).map(usize::to_string).collect::<Vec<_>>().join(", ");
        let order = if order.len() > 20 { format!("{shown}, …") } else { shown };
        findings.warning(place.clone(), Problem::Reordered { order });
    }
    Some(order)
}

/// The first edge of those, walking around from edge 0, that run the way of fewer edges.
fn minority(edges: &[RawEdge], at_corner: &[Vec<usize>]) -> usize {
    let (mut forward, mut backward) = (vec![0], Vec::new());
    let (mut edge, mut corner) = (0, edges[0].endpoints[1]);
    for _ in 1..edges.len() {
        let Some(&next) = at_corner[corner].iter().find(|&&next| next != edge) else { break };
        let is_forward = edges[next].endpoints[0] == corner;
        if next == 0 {
            break;
        }
        (if is_forward { &mut forward } else { &mut backward }).push(next);
        corner = edges[next].endpoints[usize::from(is_forward)];
        edge = next;
    }
    let fewer = if backward.is_empty() || (backward.len() > forward.len()) { &forward } else { &backward };
    fewer.iter().copied().min().unwrap_or(0)
}

/// Checks the outline, and turns a panel whose loop runs clockwise.
fn shape(mut panel: Panel, place: &Place, findings: &mut Findings) -> Option<Panel> {
    let name = shortened(&panel.name);
    let (points, owners) = panel.outline();
    let [low, high] = outline::bounds(points.iter().copied());
    let size = sub(high, low);
    let longest = size[0].max(size[1]);
    if points.len() < 3 {
        findings.error(place.clone(), Problem::FewEdges { count: panel.edges.len() });
        return None;
    }
    let area = outline::area(&points);
    if !(EXTENT[0]..=EXTENT[1]).contains(&longest) {
        findings.error(place.clone(), Problem::Extent { size, low: EXTENT[0], high: EXTENT[1] });
        return None;
    }
    if let Some([first, second]) = outline::meeting(&points, TOUCH) {
        let [first, second] = [owners[first], owners[second]].map(|edge| panel.edges[edge].number);
        let other = (first != second).then_some(first.max(second));
        findings.error(Place::Edge { panel: name, edge: first.min(second) }, Problem::Crosses { other });
        return None;
    }
    if area.abs() < MIN_AREA {
        findings.error(place.clone(), Problem::NoArea { area: area.abs(), limit: MIN_AREA });
        return None;
    }
    if area < 0.0 {
        panel.edges.iter_mut().for_each(|edge| edge.curve = edge.curve.mirrored());
        panel.placement = panel.placement.turned();
        panel.is_turned = true;
    }
    Some(panel)
}
