//! Which edges are sewn together.

use std::collections::BTreeMap;

use crate::finding::{Findings, Place, Problem};
use crate::json::Json;
use crate::pattern::{EdgeRef, Panel, Stitch};

use super::{GATHER_WARNING, Limits, MAX_EDGES, MAX_PANELS, names, object, required, shortened, wrong};

/// A panel, or the name of one with an error.
type Read<'a> = Result<Panel, &'a str>;

pub(super) fn read_all(
    json: Option<&Json>,
    panels: &[Read<'_>],
    limits: &Limits,
    findings: &mut Findings,
) -> Option<Vec<Stitch>> {
    let list = match json {
        None | Some(Json::Null) => return Some(Vec::new()),
        Some(Json::List(list)) => list,
        Some(other) => {
            wrong(&Place::File, "\"stitches\"", other, "a list of stitches", findings);
            return None;
        }
    };
    let limit = MAX_PANELS * MAX_EDGES / 2;
    if list.len() > limit {
        findings.error(Place::File, Problem::TooMany { what: "stitches", count: list.len(), limit });
        return None;
    }
    let mut sewn = BTreeMap::new();
    let read = list.iter().enumerate().map(|(stitch, json)| {
        let place = Place::Stitch { stitch };
        let read = read_one(json, panels, &place, findings)?;
        for (index, side) in read.sides.into_iter().enumerate() {
            let panel = panels[side.panel].as_ref().ok()?;
            let (name, edge) = (shortened(&panel.name), panel.edges[side.edge].number);
            match sewn.insert(side, stitch) {
                None => {}
                Some(_) if index == 1 && read.sides[0] == side => {
                    findings.error(place, Problem::SameEdge { panel: name, edge });
                    return None;
                }
                Some(other) => {
                    findings.error(place, Problem::EdgeTwice { panel: name, edge, other });
                    return None;
                }
            }
        }
        compare_lengths(&read, panels, limits, &place, findings)?;
        Some(read)
    });
    read.collect::<Vec<_>>().into_iter().collect()
}

fn read_one(json: &Json, panels: &[Read<'_>], place: &Place, findings: &mut Findings) -> Option<Stitch> {
    let Some(list) = json.list() else {
        wrong(place, "it", json, "a list of two edges", findings);
        return None;
    };
    let (sides, words): (Vec<&Json>, Vec<&Json>) = list.iter().partition(|entry| entry.text().is_none());
    if sides.len() != 2 {
        findings.error(place.clone(), Problem::StitchSides { count: sides.len() });
        return None;
    }
    if let Some(word) = words.iter().filter_map(|word| word.text()).find(|word| *word != "right_wrong") {
        let (key, choices) = ("a word beside its edges", "\"right_wrong\", or nothing");
        findings.error(place.clone(), Problem::UnknownWord { key, found: shortened(word), choices });
        return None;
    }
    let [first, second] = [sides[0], sides[1]].map(|side| read_side(side, panels, place, findings));
    Some(Stitch { sides: [first?, second?], is_right_to_wrong: !words.is_empty() })
}

fn read_side(json: &Json, panels: &[Read<'_>], place: &Place, findings: &mut Findings) -> Option<EdgeRef> {
    object(json, "a side", &["panel", "edge"], place, findings)?;
    let missing = Problem::Missing { key: "panel", cure: "each side is {\"panel\": \"front\", \"edge\": 0}" };
    let panel = required(json.get("panel"), missing, place, findings)?;
    let missing = Problem::Missing { key: "edge", cure: "each side is {\"panel\": \"front\", \"edge\": 0}" };
    let edge = required(json.get("edge"), missing, place, findings)?;
    let Some(name) = panel.text() else {
        wrong(place, "\"panel\"", panel, "the name of a panel", findings);
        return None;
    };
    let Some(number) = edge.index() else {
        wrong(place, "\"edge\"", edge, "the number of an edge", findings);
        return None;
    };
    let name_of = |panel: &Read<'_>| match panel {
        Ok(panel) => panel.name.clone(),
        Err(name) => (*name).to_owned(),
    };
    let Some(at) = panels.iter().position(|panel| name_of(panel) == name) else {
        let all: Vec<String> = panels.iter().map(name_of).collect();
        let known = names(all.iter().map(String::as_str));
        findings.error(place.clone(), Problem::NoSuchPanel { key: "it", panel: shortened(name), known });
        return None;
    };
    // A panel with an error has its own message.
    let panel = panels[at].as_ref().ok()?;
    let Some(index) = panel.edges.iter().position(|edge| edge.number == number) else {
        let count = panel.edges.len();
        findings.error(place.clone(), Problem::NoSuchEdge { panel: shortened(name), edge: number, count });
        return None;
    };
    Some(EdgeRef { panel: at, edge: index })
}

fn compare_lengths(
    stitch: &Stitch,
    panels: &[Read<'_>],
    limits: &Limits,
    place: &Place,
    findings: &mut Findings,
) -> Option<()> {
    let [first, second] = stitch.sides.map(|side| {
        let panel = panels[side.panel].as_ref().ok()?;
        let edge = &panel.edges[side.edge];
        Some((shortened(&panel.name), edge.number, edge.curve.length()))
    });
    let (first, second) = (first?, second?);
    let ratio = (first.2 / second.2).max(second.2 / first.2);
    if ratio < GATHER_WARNING {
        return Some(());
    }
    let sides = [first, second];
    if ratio > limits.gather {
        findings.error(place.clone(), Problem::SeamRatio { sides, ratio, limit: limits.gather });
        return None;
    }
    findings.warning(place.clone(), Problem::Gathered { sides, ratio, usual: GATHER_WARNING });
    Some(())
}
