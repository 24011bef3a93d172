//! `lab`: what it writes, what it says, and what it refuses.

use serde_json::{Value, json};

use crate::muslin::Place;

#[test]
fn a_drape_writes_what_it_promises() {
    let place = Place::empty();
    let said = place.succeed("lab cusick --fabric wool --solver explicit --edge-length 0.015 --threads 1");
    for words in [
        "cusick of wool: ",
        "\n  drape coefficient ",
        "49.8 %",
        "\n  measured: Matsudaira",
        "\n  not simulated: bending hysteresis",
        "\n  at rest after ",
        "of the weight",
        "\n  open        out/lab/cusick-wool/picture.png\n",
    ] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let record = place.json("out/lab/cusick-wool/lab.json");
    assert_eq!(
        json!([record["test"], record["fabric"]["name"], record["solver"]]),
        json!(["cusick", "wool", "explicit"])
    );
    assert_eq!(json!([record["measured"]["drape_coefficient"], record["measured"]["folds"]]), json!([49.8, 5]));
    assert_eq!(record["rest"]["at_rest"], true);
    let coefficient = record["simulated"]["drape_coefficient"].as_f64().expect("a number");
    assert!((20.0..80.0).contains(&coefficient), "{coefficient} %");
    assert_eq!(record["simulated"]["outline"].as_array().map(Vec::len), Some(720));
    assert_eq!(record["files"], json!(["lab.json", "picture.png", "plot.svg"]));
    let png = place.read("out/lab/cusick-wool/picture.png");
    assert_eq!((&png[..8], &png[16..20]), (&b"\x89PNG\r\n\x1a\n"[..], &1600_u32.to_be_bytes()[..]));
    assert!(place.text("out/lab/cusick-wool/plot.svg").contains("shadow, flat sample of 30 cm"), "a caption");
}

#[test]
fn every_test_answers_in_json_and_overwrites_only_its_own() {
    let place = Place::empty();
    for (test, path) in [
        ("cantilever --edge-length 0.005", "/simulated/bending_length"),
        ("tensile --edge-length 0.02", "/simulated/bias/0/force"),
        ("shear --edge-length 0.02", "/simulated/shear_stiffness"),
    ] {
        let said =
            place.succeed(&format!("lab {test} --fabric cotton --solver explicit --out here --json --threads 1"));
        let answer: Value = serde_json::from_str(&said.out).expect("one object");
        assert!(answer.pointer(path).is_some_and(Value::is_number), "{path} in {answer}");
        assert_eq!(json!([answer["out"], answer["measured"]]), json!(["here", null]));
        assert_eq!(said.err, "", "nothing else is said");
        assert_eq!(place.json("here/lab.json")["simulated"], answer["simulated"]);
        assert_eq!(place.path("here/plot.svg").exists(), !test.starts_with("cantilever"), "{test}");
    }
    place.write("mine/picture.png", "a picture of mine");
    let said = place.run("lab shear --fabric cotton --out mine");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("would overwrite mine/picture.png"), "{}", said.err);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    let place = Place::empty();
    for (words, why) in [
        ("drape --fabric wool", "[possible values: cantilever, cusick, tensile, shear]"),
        ("cusick", "--fabric <NAME>"),
        ("cusick --fabric linen", "there is no such fabric; choose one of cotton, wool, polyester, faille,"),
        ("cusick --fabric wool --edge-length 5", "--edge-length 5: must be from 0.002 m to 0.02 m; 0.005 is 5 mm"),
        ("cusick --fabric wool --edge-length NaN", "--edge-length NaN: must be from 0.002 m"),
        ("cantilever --fabric faille --edge-length 0.02", "must be three edges at least; take 0.0081 or less"),
        ("cantilever --fabric wool --bend none", "--bend none: has no bending rigidity"),
        ("shear --fabric wool --solver newtom", "--solver newtom: unknown solver"),
        ("shear --fabric wool --stretch spring:stifness=2", "did you mean `stiffness`?"),
        ("shear --fabric wool --threads 0", "0 is not in 1..=256"),
    ] {
        let said = place.run(&format!("lab {words}"));
        assert_eq!(said.code, Some(2), "{words}: {}", said.err);
        assert!(said.err.contains(why), "{words}: {}", said.err);
        assert!(!place.path("out").exists(), "{words}: nothing is written");
    }
    let said = place.run("lab cusick --fabric linen --json");
    let error: Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!(json!([error["error"]["kind"], error["error"]["exit_code"]]), json!(["usage", 2]));
}
