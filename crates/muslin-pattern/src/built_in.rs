//! Patterns of the project's own, drawn for a figure 1.75 m high that stands at the origin, faces +z and holds its arms
//! about 40° below the level.

/// A pattern that comes with the crate.
///
/// ```
/// use muslin_pattern::{BUILT_IN, Pattern};
///
/// let skirt = BUILT_IN.iter().find(|pattern| pattern.name == "circle_skirt").unwrap();
/// let reading = Pattern::from_json(skirt.json, &Default::default())?;
/// assert_eq!(reading.pattern.panels().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, that of its file.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its text.
    pub json: &'static str,
}

/// The patterns that come with the crate.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "circle_skirt",
        summary: "a full circle in two halves, 50 cm long, 80 cm around the waist",
        json: include_str!("../patterns/circle_skirt.json"),
    },
    BuiltIn {
        name: "tunic",
        summary: "a front and a back with sleeves cut on",
        json: include_str!("../patterns/tunic.json"),
    },
    BuiltIn {
        name: "shirt",
        summary: "two fronts, a back, sleeves of two panels, a standing collar; 108 cm around the chest",
        json: include_str!("../patterns/shirt.json"),
    },
    BuiltIn {
        name: "trousers",
        summary: "four panels with darts at the back and a waistband; 82 cm around the waist",
        json: include_str!("../patterns/trousers.json"),
    },
];
