//! Fabric presets: numbers that somebody measured, with the source, and three that are plainly generic.
//!
//! Only density and bending rigidity were measured for the named fabrics; stretch is the generic default, and the
//! preset says so. Bending hysteresis (2HB) is of the size of the elastic moment for these cloths, so an elastic
//! model drapes somewhat differently from the real sheet.

/// A preset for [`Material`](crate::scene::Material).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Scene key.
    pub name: &'static str,
    /// One line for a person.
    pub summary: &'static str,
    /// Who measured it, or that nobody did.
    pub source: &'static str,
    /// Areal density ρ, in kg/m².
    pub density: f64,
    /// Bending rigidity B, in N·m.
    pub bend: f64,
    /// In-plane stiffness Y, in N/m, where known or, for generic presets, chosen.
    pub stretch: Option<f64>,
}

const KES: &str = "KES-F, Matsudaira, Masuda, Wada, Yokura, J. Textile Eng. 61(6) 69-73 (2015), \
                   doi 10.4188/jte.61.69, tables 1 and 2 (read second-hand); stretch not measured";
const GENERIC: &str = "generic: chosen to look plausible, not measured";

/// Every preset.
pub const FABRICS: &[Fabric] = &[
    Fabric {
        name: "cotton",
        summary: "cotton broadcloth",
        source: KES,
        density: 0.1238,
        bend: 11.57e-6,
        stretch: None,
    },
    Fabric { name: "wool", summary: "wool tropical", source: KES, density: 0.1629, bend: 6.57e-6, stretch: None },
    Fabric {
        name: "polyester",
        summary: "polyester tropical",
        source: KES,
        density: 0.1165,
        bend: 7.55e-6,
        stretch: None,
    },
    Fabric { name: "faille", summary: "polyester faille", source: KES, density: 0.1043, bend: 1.86e-6, stretch: None },
    Fabric {
        name: "soft",
        summary: "limp and stretchy",
        source: GENERIC,
        density: 0.1,
        bend: 1e-6,
        stretch: Some(500.0),
    },
    Fabric {
        name: "medium",
        summary: "an everyday cloth",
        source: GENERIC,
        density: 0.2,
        bend: 1e-5,
        stretch: Some(2000.0),
    },
    Fabric { name: "stiff", summary: "canvas-like", source: GENERIC, density: 0.4, bend: 2e-4, stretch: Some(10000.0) },
];
