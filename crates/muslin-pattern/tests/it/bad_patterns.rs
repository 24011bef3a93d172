//! Wrong patterns, each with exactly what is said of it.
//!
//! `bad_patterns.txt` has the cases, with an empty line between. A case is either `text …`, a whole file, or a list of changes of `squares.json`:
//! `/a/b/0 = JSON` sets a value, creating the key (`-` appends to a list), and `remove /a/b` takes one out. What is said
//! follows, line by line after `> `: `error` or `warning`, and the message.

use muslin_pattern::{Finding, Limits, Pattern, Severity};
use serde_json::Value;

use super::SQUARES;

const CASES: &str = include_str!("bad_patterns.txt");

#[test]
fn every_mistake_has_its_message() {
    let (mut count, mut failures) = (0, String::new());
    for case in CASES.split("\n\n").map(str::trim).filter(|case| !case.is_empty() && !case.starts_with('=')) {
        let (said, changes): (Vec<&str>, Vec<&str>) = case.lines().partition(|line| line.starts_with("> "));
        assert!(!said.is_empty(), "nothing is said of:\n{case}");
        count += 1;
        let expected = said.iter().map(|line| &line[2..]).collect::<Vec<_>>().join("\n");
        let found = messages(&text(&changes));
        if found != expected {
            let found = found.replace('\n', "\n> ");
            failures += &format!("{}\n> {found}\n\n", changes.join("\n"));
        }
    }
    assert!(count >= 60, "only {count} cases were found: is bad_patterns.txt cut off?");
    assert!(failures.is_empty(), "what was said instead:\n\n{failures}");
}

#[test]
fn the_pattern_that_the_cases_change_is_good() {
    assert_eq!(messages(SQUARES), "");
}

#[test]
fn too_much_text_is_refused_before_it_is_parsed() {
    let text = " ".repeat(muslin_pattern::MAX_BYTES + 1);
    assert_eq!(
        messages(&text),
        "error pattern: 16777217 bytes, but a pattern has at most 16777216; is this a pattern?"
    );
}

#[test]
fn too_many_panels_are_refused() {
    let mut json: Value = serde_json::from_str(SQUARES).unwrap();
    let front = json["pattern"]["panels"]["front"].clone();
    for number in 0..999 {
        json["pattern"]["panels"][format!("p{number}")] = front.clone();
    }
    assert_eq!(messages(&json.to_string()), "error pattern: 1001 panels, but at most 1000 are read; split the pattern");
}

#[test]
fn so_many_findings_are_enough() {
    let mut json: Value = serde_json::from_str(SQUARES).unwrap();
    json["pattern"]["panels"]["front"]["vertices"] = vec!["x"; 1000].into();
    assert_eq!(messages(&json.to_string()).lines().count(), muslin_pattern::MAX_FINDINGS);
}

fn messages(text: &str) -> String {
    let shown = |findings: Vec<Finding>| {
        let line = |finding: Finding| match finding.severity {
            Severity::Error => format!("error {finding}"),
            Severity::Warning => format!("warning {finding}"),
        };
        findings.into_iter().map(line).collect::<Vec<_>>().join("\n")
    };
    match Pattern::from_json(text, &Limits::default()) {
        Ok(reading) => shown(reading.warnings),
        Err(error) => shown(error.findings),
    }
}

fn text(changes: &[&str]) -> String {
    if let Some(text) = changes[0].strip_prefix("text ") {
        return text.to_owned();
    }
    let mut json: Value = serde_json::from_str(SQUARES).expect("squares.json is JSON");
    for change in changes {
        let (path, value) = match change.strip_prefix("remove ") {
            Some(path) => (path, None),
            None => {
                let (path, value) = change.split_once(" = ").expect("a change is PATH = JSON");
                (path, Some(serde_json::from_str(value).expect("the value is JSON")))
            }
        };
        let (parent, key) = path.rsplit_once('/').expect("a path begins with /");
        let parent = json.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent} for {change}"));
        match (parent, value) {
            (Value::Object(object), Some(value)) => drop(object.insert(key.to_owned(), value)),
            (Value::Object(object), None) => drop(object.remove(key).expect("nothing to remove")),
            (Value::Array(list), Some(value)) if key == "-" => list.push(value),
            (Value::Array(list), Some(value)) => list[key.parse::<usize>().expect("a number")] = value,
            (Value::Array(list), None) => drop(list.remove(key.parse().expect("a number"))),
            _ => panic!("{change} changes neither an object nor a list"),
        }
    }
    json.to_string()
}
