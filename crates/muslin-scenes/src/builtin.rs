//! The scenes that come with the program.

/// A scene that comes with the program.
#[derive(Debug)]
pub struct Builtin {
    /// What it is called.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The files that it names, by their paths from the folder of the scene.
    pub files: &'static [(&'static str, &'static [u8])],
}

/// What is simulated where nothing else is named.
pub const DEFAULT: &str = "drape";

macro_rules! builtins {
    ($($name:literal $([$($file:literal),*])?),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../../../scenes/", $name, ".toml")),
            files: &[$($(($file, include_bytes!(concat!("../../../scenes/", $file)))),*)?],
        }),*]
    };
}

/// Every built-in scene, in the order in which a person is shown them.
pub const BUILTINS: &[Builtin] = builtins![
    "drape", "hanging", "flag", "curtain", "box_edge", "twist", "swing", "sleeve", "twirl", "tower", "ring", "spike",
    "bar", "press", "walk", "tunic" ["tunic/tunic.obj", "tunic/body.obj", "tunic/body.npy"],
];

impl Builtin {
    /// The built-in scene of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        BUILTINS.iter().find(|scene| scene.name == name)
    }

    /// What it shows: the comment in its first line.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default()
    }
}

/// Says that `name` is not `what` it should be, which scene may be meant, and which there are.
pub fn unknown(name: &str, what: &str) -> String {
    /// As close as clap wants its own suggestions.
    const CLOSE: f64 = 0.7;
    let closeness = |scene: &&Builtin| strsim::jaro(name, scene.name);
    let nearest = BUILTINS.iter().max_by(|a, b| closeness(a).total_cmp(&closeness(b)));
    let hint = match nearest.filter(|scene| closeness(scene) > CLOSE) {
        Some(scene) => format!("; did you mean {:?}?", scene.name),
        None => ";".to_owned(),
    };
    let names: Vec<&str> = BUILTINS.iter().map(|scene| scene.name).collect();
    format!("{name:?} is {what}{hint} the built-in scenes are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_sound_and_says_what_it_shows() {
        for scene in BUILTINS {
            let outcome = muslin::scene::parse(scene.text, &[]);
            assert_eq!(outcome.findings, [], "{}", scene.name);
            assert_eq!(outcome.scene.unwrap().name, scene.name, "the name of the file");
            assert!(scene.summary().ends_with('.'), "{}: {:?}", scene.name, scene.summary());
        }
        assert!(Builtin::find(DEFAULT).is_some(), "the default exists");
    }

    #[test]
    fn slips_are_recognised() {
        assert_eq!(
            unknown("drap", "neither a built-in scene nor a file"),
            "\"drap\" is neither a built-in scene nor a file; did you mean \"drape\"? the built-in scenes are \
             drape, hanging, flag, curtain, box_edge, twist, swing, sleeve, twirl, tower, ring, spike, bar, press, walk, tunic"
        );
        assert!(!unknown("xyz", "no scene").contains("mean"));
    }
}
