//! An item of `--solvers`: `xpbd`, `xpbd:substeps=40:iterations=2` or `fine=xpbd:substeps=40`.

use muslin::scene::{Choice, Finding, Override, parse};

use crate::failure::Failure;

/// A scene for which every solver is defined: what is wrong in it is wrong with the item.
const PROBE: &str = "[[cloth]]\ngrid = { size = [1, 1], cells = [1, 1] }\n\
                     material = { stretch = { model = \"none\" }, bend = { model = \"none\" } }\n";

/// A solver with settings, as it is typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    /// What it is called in the table and the picture.
    pub(crate) label: String,
    pub(crate) solver: String,
    settings: Vec<Override>,
}

impl Item {
    /// Reads an item; `option` is the one that it was given to.
    pub(crate) fn parse(option: &str, text: &str) -> Result<Self, Failure> {
        let refuse = |message: &str| Err(Failure::Usage(format!("{option} {text}: {message}")));
        let mut parts = text.split(':');
        let first = parts.next().unwrap_or_default();
        let (label, solver) = match first.split_once('=') {
            Some((label, solver)) => (Some(label.trim()), solver.trim()),
            None => (None, first.trim()),
        };
        if solver.is_empty() || label.is_some_and(str::is_empty) {
            return refuse("write SOLVER, SOLVER:KEY=VALUE:… or LABEL=SOLVER:…, for example xpbd:substeps=40");
        }
        let mut settings = Vec::new();
        for part in parts {
            let key = part.split_once('=').map_or(part, |(key, _)| key).trim();
            let is_word =
                |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            // Some stand in a table of their own: quality.motion.
            if !key.split('.').all(is_word) || key == "kind" || !part.contains('=') {
                return refuse(&format!(
                    "{part:?} is no setting of a solver; write KEY=VALUE, for example substeps=40"
                ));
            }
            match Override::parse(&format!("solver.{}", part.trim())) {
                Ok(setting) => settings.push(setting),
                Err(message) => return refuse(&message),
            }
        }
        let label = label.unwrap_or(text.trim()).to_owned();
        let item = Self { label, solver: solver.to_owned(), settings };
        let findings = parse(PROBE, &item.overrides(None)).findings;
        match findings.iter().filter(|finding| finding.is_error()).map(in_words).reduce(|a, b| format!("{a}; {b}")) {
            Some(message) => refuse(&message),
            None => Ok(item),
        }
    }

    /// An item as it is typed, less its label.
    pub(crate) fn without_label(text: &str) -> &str {
        let first = text.split(':').next().unwrap_or_default();
        first.find('=').map_or(text, |at| &text[at + 1..])
    }

    /// What makes a scene one of this item. `own` is the scene's solver, whose settings hold where it is the item's too:
    /// those of another solver mean something else, or nothing.
    pub(crate) fn overrides(&self, own: Option<&Choice>) -> Vec<Override> {
        let inherited = own.filter(|own| own.entry.name == self.solver).into_iter().flat_map(|own| own.settings.iter());
        let texts = [String::from("solver={}"), format!("solver.kind={}", self.solver)];
        let texts = texts.into_iter().chain(inherited.map(|(key, value)| format!("solver.{key}={value}")));
        // What does not read as an override has been refused before.
        texts.filter_map(|text| Override::parse(&text).ok()).chain(self.settings.iter().cloned()).collect()
    }
}

/// The key and what is wrong with it.
pub(super) fn in_words(finding: &Finding) -> String {
    match finding.place.path.as_str() {
        "" | "solver" | "solver.kind" => finding.message.clone(),
        path => format!("{path}: {}", finding.message),
    }
}

#[cfg(test)]
mod tests {
    use muslin::parameter::Setting;
    use muslin::scene::Scene;

    use super::*;

    fn scene(item: &str, text: &str) -> Scene {
        let own = parse(text, &[]).scene.expect("a sound scene").solver;
        let item = Item::parse("--solvers", item).unwrap_or_else(|failure| panic!("{failure}"));
        parse(text, &item.overrides(Some(&own))).scene.expect("a sound scene")
    }

    #[test]
    fn an_item_has_the_scenes_settings_only_for_the_scenes_solver() {
        let text = format!("solver = {{ kind = \"xpbd\", substeps = 7, iterations = 3 }}\n{PROBE}");
        let setting = |item: &str, key: &str| scene(item, &text).solver.settings.get(key);
        assert_eq!(setting("xpbd", "substeps"), Some(Setting::Integer(7)));
        assert_eq!(setting("a=xpbd:substeps=40", "substeps"), Some(Setting::Integer(40)));
        assert_eq!(setting("xpbd:substeps=40:precision=f64", "iterations"), Some(Setting::Integer(3)));
        assert_eq!(setting("xpbd:precision=f64", "precision"), Some(Setting::Choice("f64")));
        let default = parse(PROBE, &[Override::parse("solver.kind=pbd").unwrap()]).scene.unwrap().solver;
        assert_eq!(scene("pbd", &text).solver, default, "another solver has its own defaults");
    }

    #[test]
    fn a_setting_may_stand_in_a_table() {
        let text = format!("solver = {{ kind = \"auto\", quality = {{ max_strain = 0.05 }} }}\n{PROBE}");
        let solver = scene("auto:quality.motion=0.02", &text).solver;
        let number = |key| solver.settings.get(key);
        assert_eq!(number("quality.motion"), Some(Setting::Number(0.02)));
        assert_eq!(number("quality.max_strain"), Some(Setting::Number(0.05)), "that of the scene");
    }

    #[test]
    fn a_label_is_what_was_typed_or_given() {
        let label = |text: &str| Item::parse("--solvers", text).map(|item| item.label).ok();
        assert_eq!(label("xpbd").as_deref(), Some("xpbd"));
        assert_eq!(label("xpbd:substeps=4").as_deref(), Some("xpbd:substeps=4"));
        assert_eq!(label("rough draft=xpbd:substeps=4").as_deref(), Some("rough draft"));
        let bare = ["xpbd:substeps=4", "a=xpbd", "a=xpbd:substeps=4"].map(Item::without_label);
        assert_eq!(bare, ["xpbd:substeps=4", "xpbd", "xpbd:substeps=4"]);
        for wrong in [
            "",
            "=xpbd",
            "a=",
            "xpbd:",
            "xpbd:substeps",
            "xpbd:kind=pbd",
            "xpbd:a.b=1",
            "auto:quality.=1",
            "auto:.motion=1",
            "xpbd:substeps=",
            "5",
        ] {
            assert_eq!(label(wrong), None, "{wrong}");
        }
    }
}
