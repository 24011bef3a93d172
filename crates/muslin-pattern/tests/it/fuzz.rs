//! Whatever stands in a file: a pattern or an error, never a panic, and what is read can be meshed.

use muslin_pattern::{BUILT_IN, Limits, Panel, Pattern};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::SQUARES;
use super::mesh::check_panel;

/// Values that a mutation may put somewhere.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|value| json!(value)),
        (-50.0..50.0).prop_map(|value: f64| json!(value)),
        (0usize..6).prop_map(|value| json!(value)),
        prop::sample::select(vec![
            "front",
            "back",
            "edge",
            "panel",
            "right_wrong",
            "cubic",
            "circle",
            "quadratic",
            "relative",
            "absolute",
            "",
            "ü\n\"",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        let keys = prop::sample::select(vec![
            "pattern",
            "panels",
            "stitches",
            "front",
            "vertices",
            "edges",
            "endpoints",
            "curvature",
            "type",
            "params",
            "label",
            "translation",
            "rotation",
            "panel",
            "edge",
            "properties",
            "units_in_meter",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(keys.prop_map(|key: &str| key.to_owned()), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Patterns with nothing wrong.
fn good() -> impl Strategy<Value = &'static str> {
    let texts: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.json).chain([SQUARES]).collect();
    prop::sample::select(texts)
}

/// All places in a value, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(k, v)| places(v, &format!("{at}/{k}"), found)),
        Value::Object(map) => map.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), found)),
        _ => {}
    }
}

fn try_out(text: &str) {
    match Pattern::from_json(text, &Limits::default()) {
        Ok(reading) => {
            let area: f64 = reading.pattern.panels().iter().map(Panel::area).sum();
            assert!(reading.pattern.panels().iter().all(|panel| panel.area() > 0.0), "a panel runs clockwise: {text}");
            // About 500 vertices, however large it is. A curve cut short may cross another, which is an error.
            if let Ok(mesh) = reading.pattern.mesh((area / 500.0).sqrt().clamp(0.01, 1.0)) {
                reading.pattern.panels().iter().zip(&mesh.panels).for_each(|(panel, mesh)| check_panel(panel, mesh));
                let garment = reading.pattern.assemble(&mesh);
                assert_eq!(garment.merged().len(), garment.uv.len(), "{text}");
            }
            assert!(reading.pattern.to_svg().ends_with("</svg>\n"), "a picture without an end");
        }
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a word for {text}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        try_out(&text);
    }

    #[test]
    fn any_json_is_read_or_refused(value in values()) {
        try_out(&value.to_string());
        try_out(&json!({ "pattern": value }).to_string());
        try_out(&json!({ "pattern": { "panels": { "front": value } } }).to_string());
    }

    #[test]
    fn mutated_patterns_are_read_or_refused(good in good(), changes in prop::collection::vec((any::<prop::sample::Index>(), values()), 1..4)) {
        let mut pattern: Value = serde_json::from_str(good).unwrap();
        for (at, value) in changes {
            let mut found = Vec::new();
            places(&pattern, "", &mut found);
            *pattern.pointer_mut(at.get(&found).as_str()).unwrap() = value;
        }
        try_out(&pattern.to_string());
    }

    #[test]
    fn moved_numbers_are_read_or_refused(
        good in good(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), -60.0..60.0f64), 1..6),
    ) {
        let mut pattern: Value = serde_json::from_str(good).unwrap();
        let mut found = Vec::new();
        places(&pattern, "", &mut found);
        found.retain(|place| pattern.pointer(place).is_some_and(Value::is_number));
        for (at, is_nudge, value) in changes {
            let number = pattern.pointer_mut(at.get(&found).as_str()).unwrap();
            // A nudge leaves most patterns good.
            *number = if is_nudge { json!(number.as_f64().unwrap() + 0.05 * value) } else { json!(value) };
        }
        try_out(&pattern.to_string());
    }

    #[test]
    fn cut_text_is_refused(end in any::<prop::sample::Index>()) {
        let end = end.index(SQUARES.trim_end().len());
        let error = Pattern::from_json(&SQUARES[..end], &Limits::default()).unwrap_err();
        prop_assert!(error.to_string().starts_with("pattern: not valid JSON: "), "{}", error);
    }
}

#[test]
fn depth_is_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = Pattern::from_json(&deep, &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "pattern: not valid JSON: recursion limit exceeded at line 1 column 128");
}
