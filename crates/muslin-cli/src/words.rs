//! Numbers of things, in words.

/// `1 collider`, `2 colliders`, `3 vertices`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    match (number, thing) {
        (1, _) => format!("1 {thing}"),
        (_, "vertex") => format!("{number} vertices"),
        _ => format!("{number} {thing}s"),
    }
}

/// A share in percent, in a few characters however large: `0.30 %`, `1.2e140 %`.
pub(crate) fn percent(share: f64, decimals: usize) -> String {
    let percent = 100.0 * share;
    if percent.abs() < 1e6 { format!("{percent:.decimals$} %") } else { format!("{percent:.1e} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let words = [count(0, "collider"), count(1, "collider"), count(2, "frame"), count(25, "vertex")];
        assert_eq!(words, ["0 colliders", "1 collider", "2 frames", "25 vertices"]);
    }

    #[test]
    fn a_percentage_is_short() {
        let words = [percent(0.003, 2), percent(9999.0, 1), percent(1.234e138, 1), percent(f64::INFINITY, 1)];
        assert_eq!(words, ["0.30 %", "999900.0 %", "1.2e140 %", "inf %"]);
    }
}
