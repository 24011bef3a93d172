//! What a run says and leaves of contact: motion that was cut, starts that are refused, starts that are untangled.

use crate::muslin::Place;

/// A sheet that is torn at one corner, faster than contact can follow.
const TORN: &str = "name = \"torn\"\nduration = 0.1\n\
    solver = { kind = \"xpbd\", substeps = 1 }\ncontact = { self_contact = true }\n\
    [[cloth]]\ngrid = { size = [0.5, 0.5], cells = [5, 5] }\nvelocity = [300, 0, 0]\n\
    pins = [{ vertices = [0] }]\n";

#[test]
fn motion_that_was_cut_is_told_once_at_the_end() {
    let place = Place::empty();
    place.write("torn.toml", TORN);
    let said = place.run("run torn.toml --preview none --formats npy --out out");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let words = "motion was cut short in ";
    assert_eq!(said.out.matches(words).count() + said.err.matches(words).count(), 1, "{}{}", said.out, said.err);
    assert!(
        said.out.contains("first in frame 1,") && said.out.contains("raise solver.substeps (now 1)"),
        "{}",
        said.out
    );
    let report = place.json("out/report.json");
    assert!(report["frames"][0]["cut_vertices"].as_u64().is_some_and(|count| count > 0), "{}", report["frames"][0]);
    let told = |warning: &serde_json::Value| warning.as_str().is_some_and(|text| text.starts_with(words));
    assert!(report["warnings"].as_array().is_some_and(|list| list.iter().filter(|w| told(w)).count() == 1), "{report}");

    // Enough substeps for 300 m/s and edges of 10 cm.
    place.succeed("run torn.toml --quiet --preview none --formats npy --out slow --set cloth.0.velocity=[1,0,0]");
    let report = place.json("slow/report.json");
    assert!(
        report["frames"].as_array().is_some_and(|all| all.iter().all(|frame| frame["cut_vertices"] == 0)),
        "{report}"
    );
}
