//! Numbers of things, in words.

/// `1 collider`, `2 colliders`, `3 vertices`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    match (number, thing) {
        (1, _) => format!("1 {thing}"),
        (_, "vertex") => format!("{number} vertices"),
        _ => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let words = [count(0, "collider"), count(1, "collider"), count(2, "frame"), count(25, "vertex")];
        assert_eq!(words, ["0 colliders", "1 collider", "2 frames", "25 vertices"]);
    }
}
