//! Wrong invocations, scenes and meshes, and exactly what is said of them: the wording is part of the product.
//!
//! `refusals.txt` has the cases, with `---` between. `$ WORDS` is what is typed; `+ NAME` begins a file, whose lines
//! follow (`tiny.toml` and `square.obj` are there already); `exit N` ends it, and what follows is standard
//! error to the letter. `MUSLIN_BLESS=1 cargo test -p muslin-cli` writes what is said now, to be read before it is kept.

use crate::muslin::{Place, SQUARE, Said};

const CASES: &str = include_str!("refusals.txt");
const SEPARATOR: &str = "---\n";

#[test]
fn wrong_input_is_refused_to_the_letter() {
    let cases: Vec<Case<'_>> = CASES.split(SEPARATOR).map(Case::parse).collect();
    assert!(cases.len() >= 60, "only {} cases were found: is refusals.txt cut off?", cases.len());
    if std::env::var_os("MUSLIN_BLESS").is_some() {
        return bless(&cases);
    }
    for case in cases {
        let said = case.run();
        assert_eq!((said.code, said.err.as_str()), (case.code, case.said), "\n{}\nsaid:\n{}", case.input, said.err);
    }
}

struct Case<'a> {
    input: &'a str,
    code: Option<i32>,
    said: &'a str,
}

impl<'a> Case<'a> {
    fn parse(text: &'a str) -> Self {
        let (input, said) = text.split_once("\nexit ").expect("an exit code");
        let (code, said) = said.split_once('\n').expect("what is said");
        Self { input, code: code.parse().ok(), said }
    }

    fn run(&self) -> Said {
        let place = Place::new();
        place.write("square.obj", SQUARE);
        let mut files = self.input.split("\n+ ");
        let words = files.next().and_then(|line| line.strip_prefix("$ ")).expect("what is typed");
        for file in files {
            let (name, text) = file.split_once('\n').unwrap_or((file, ""));
            place.write(name, text);
        }
        let said = place.run(words);
        assert_eq!(said.out, "", "{words}");
        assert!(!place.path("out").exists(), "nothing is written for a wrong scene: {words}");
        said
    }
}

fn bless(cases: &[Case<'_>]) {
    let said = |case: &Case<'_>| {
        let said = case.run();
        format!("{}\nexit {}\n{}", case.input, said.code.unwrap_or(-1), said.err)
    };
    let text = cases.iter().map(said).collect::<Vec<_>>().join(SEPARATOR);
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/refusals.txt"), text).expect("written");
}
