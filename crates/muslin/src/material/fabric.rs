//! Fabric presets: numbers that somebody measured, with the source, and three that are plainly generic.
//!
//! A named fabric has at least its density and its bending rigidity from one publication, in stated units. Only these two
//! were measured for those below; stretch is the generic default, and the preset says so. As published, in the units of
//! the Kawabata system (1 gf·cm²/cm = 9.80665e-5 N·m, 1 gf·cm/cm = 9.80665e-3 N, 1 mg/cm² = 0.01 kg/m²):
//!
//! | fabric | B, gf·cm²/cm | 2HB, gf·cm/cm | weight, mg/cm² | thickness, mm | drape coefficient, % |
//! |---|---|---|---|---|---|
//! | cotton broad | 0.118 | 0.124 | 12.38 | 0.497 | 82.9 |
//! | wool tropical | 0.067 | 0.033 | 16.29 | 0.407 | 49.8 |
//! | polyester tropical | 0.077 | 0.029 | 11.65 | 0.340 | 50.7 |
//! | polyester faille | 0.019 | 0.007 | 10.43 | 0.226 | 28.3 |
//!
//! Bending hysteresis (2HB) is of the size of the elastic moment for these cloths, so an elastic model drapes somewhat
//! differently from the real sheet. The table gives one B for a fabric, not one for warp and one for weft.
//!
//! Left out: the four fabrics of Penava et al. (2014), of which density, thickness and Poisson ratio are known here, but no
//! bending rigidity; the ten of Wang, O'Brien, Ramamoorthi (2011), whose data may not be shipped.

/// A preset for [`Material`](crate::scene::Material).
///
/// ```
/// use muslin::material::fabric::FABRICS;
///
/// let cotton = FABRICS.iter().find(|fabric| fabric.name == "cotton").ok_or("there is cotton")?;
/// assert!(cotton.density > 0.05 && cotton.bend < 1e-4 && !cotton.source.is_empty());
/// # Ok::<(), &str>(())
/// ```
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
        summary: "cotton broadcloth, plain weave",
        source: KES,
        density: 0.1238,
        bend: 11.57e-6,
        stretch: None,
    },
    Fabric {
        name: "wool",
        summary: "wool tropical, plain weave",
        source: KES,
        density: 0.1629,
        bend: 6.57e-6,
        stretch: None,
    },
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

#[cfg(test)]
mod tests {
    use super::*;

    /// N·m of 1 gf·cm²/cm, from the definition of the gram-force.
    const KES_BENDING: f64 = 9.80665e-5;
    /// kg/m² of 1 mg/cm².
    const KES_WEIGHT: f64 = 0.01;

    #[test]
    fn measured_fabrics_are_as_published() {
        for (name, bending, weight) in
            [("cotton", 0.118, 12.38), ("wool", 0.067, 16.29), ("polyester", 0.077, 11.65), ("faille", 0.019, 10.43)]
        {
            let fabric = FABRICS.iter().find(|fabric| fabric.name == name).unwrap();
            // Bending is kept to 10⁻⁸ N·m, which is less than half of its last published digit.
            assert!((fabric.bend - bending * KES_BENDING).abs() < 0.5e-8, "{name}: {} N·m", fabric.bend);
            assert!((fabric.density - weight * KES_WEIGHT).abs() < 1e-12, "{name}: {} kg/m²", fabric.density);
        }
    }

    #[test]
    fn every_fabric_says_where_it_is_from() {
        for fabric in FABRICS {
            let is_measured = fabric.source.contains("doi");
            assert!(is_measured || fabric.source.starts_with("generic"), "{}: {}", fabric.name, fabric.source);
            assert!(is_measured || fabric.stretch.is_some(), "{}: a generic one is complete", fabric.name);
        }
    }
}
