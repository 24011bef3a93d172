//! Drapes that somebody measured, of fabrics of the catalogue.

/// Cusick's test of a fabric, as published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredDrape {
    /// The name of the fabric in the catalogue.
    pub fabric: &'static str,
    /// Drape coefficient, in %.
    pub coefficient: f64,
    /// Folds of the shadow: nodes, as the paper calls them.
    pub folds: usize,
    /// Bending hysteresis 2HB, in N: the moment per width that friction alone holds.
    pub hysteresis: f64,
    /// Who measured it.
    pub source: &'static str,
}

const SOURCE: &str = "Matsudaira, Masuda, Wada, Yokura, J. Textile Eng. 61(6) 69-73 (2015), doi 10.4188/jte.61.69, \
                      tables 1 and 2 (read second-hand)";

/// Drapes of 30 cm on a disc of 18 cm. 2HB was published in gf·cm/cm, which is 9.80665e-3 N.
pub const DRAPES: &[MeasuredDrape] = &[
    MeasuredDrape { fabric: "cotton", coefficient: 82.9, folds: 2, hysteresis: 1.216e-3, source: SOURCE },
    MeasuredDrape { fabric: "wool", coefficient: 49.8, folds: 5, hysteresis: 0.324e-3, source: SOURCE },
    MeasuredDrape { fabric: "polyester", coefficient: 50.7, folds: 5, hysteresis: 0.284e-3, source: SOURCE },
    MeasuredDrape { fabric: "faille", coefficient: 28.3, folds: 7, hysteresis: 0.069e-3, source: SOURCE },
];

/// The measured drape of a fabric, if there is one.
pub fn drape(fabric: &str) -> Option<&'static MeasuredDrape> {
    DRAPES.iter().find(|drape| drape.fabric == fabric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_fabric_is_in_the_catalogue() {
        let missing = DRAPES.iter().find(|drape| !muslin::catalog::fabrics().any(|fabric| fabric.name == drape.fabric));
        assert_eq!(missing, None);
        assert_eq!(drape("medium"), None, "nobody measured a generic one");
    }
}
