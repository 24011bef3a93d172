//! The picture of the flat pattern.

use muslin_pattern::{BUILT_IN, Pattern};

use super::SQUARES;

fn svg(text: &str) -> String {
    Pattern::from_json(text, &Default::default()).expect("it can be read").pattern.to_svg()
}

#[test]
fn both_edges_of_a_seam_have_its_colour_and_number() {
    for built_in in BUILT_IN {
        let pattern = Pattern::from_json(built_in.json, &Default::default()).unwrap().pattern;
        let svg = pattern.to_svg();
        for panel in pattern.panels() {
            assert!(svg.contains(&format!(">{}</text>", panel.name())), "{} has no name", panel.name());
        }
        let circles: Vec<&str> = svg.lines().filter(|line| line.starts_with("<circle")).collect();
        assert_eq!(circles.len(), 2 * pattern.stitches().len(), "{}", built_in.name);
        for (number, pair) in circles.chunks(2).enumerate() {
            let fill = |line: &str| line.split("fill=").nth(1).map(str::to_owned);
            assert_eq!(fill(pair[0]), fill(pair[1]), "{} seam {number}", built_in.name);
            let label = format!(">{}</text>", number + 1);
            assert!(svg.matches(&label).count() >= 2, "{} seam {number}", built_in.name);
        }
    }
}

#[test]
fn it_is_drawn_in_true_size() {
    // Two squares of 40 cm with hollow tops, 6 cm apart, 5 cm of margin, and the scale below.
    let svg = svg(SQUARES);
    assert!(svg.contains("width=\"50.00cm\" height=\"101.00cm\" viewBox=\"0 0 50.00 101.00\""), "{}", &svg[..200]);
    assert!(svg.contains(">10 cm</text>"), "no scale");
}

#[test]
fn names_are_escaped() {
    let svg = svg(&SQUARES.replace("\"front\"", "\"<front> & \\u0007\""));
    assert!(svg.contains(">&lt;front&gt; &amp; \u{fffd}</text>"), "{svg}");
}
