//! Edits of a scene by touch: settings that bring others with them, pins, bodies that were put elsewhere; and the effect of a change on
//! a simulation that runs.

use muslin::model::Model;
use muslin::parameter::{Kind, Settings};
use muslin::scene::{Choice, Collider, ColliderShape, Override, Path, Pin, Scene, Selection};

/// Reads `PATH=VALUE` as the command line does, but for what would leave a scene with settings of something that it no longer has: a
/// scene here has all its defaults written out. Another solver or model begins with its own settings, another fabric keeps the models and
/// drops their numbers, and of settings that exclude each other the last one given counts.
pub(crate) fn change(scene: &Scene, set: &str) -> Result<Override, String> {
    Override::parse(&whole_table(scene, set).unwrap_or_else(|| set.to_owned()))
}

/// The table that is to be replaced as a whole where a single key would not do.
fn whole_table(scene: &Scene, set: &str) -> Option<String> {
    let (path, value) = set.split_once('=')?;
    let value = value.trim();
    let quoted = if value.starts_with(['"', '\'']) { value.to_owned() } else { format!("{value:?}") };
    let path = path.trim().replace('[', ".").replace(']', "");
    let keys: Vec<&str> = path.split('.').collect();
    match keys[..] {
        ["solver", "kind"] => Some(format!("solver={{ kind = {quoted} }}")),
        ["cloth", index, "material", "fabric"] => {
            let material = &scene.cloths.get(index.parse::<usize>().ok()?)?.material;
            let (stretch, bend) = (material.stretch.entry.name, material.bend.entry.name);
            Some(format!(
                "cloth.{index}.material={{ fabric = {quoted}, damping = {:?}, stretch = {{ model = {stretch:?} }}, \
                 bend = {{ model = {bend:?} }} }}",
                material.damping
            ))
        }
        ["cloth", index, "material", part @ ("stretch" | "bend"), key] => {
            let material = &scene.cloths.get(index.parse::<usize>().ok()?)?.material;
            let choice = if part == "stretch" { &material.stretch } else { &material.bend };
            let table = format!("cloth.{index}.material.{part}");
            if key == "model" {
                return Some(format!("{table}={{ model = {quoted} }}"));
            }
            excluding(choice, key).map(|settings| {
                let others: String = settings.iter().map(|(name, setting)| format!(", {name} = {setting}")).collect();
                format!("{table}={{ model = {:?}{others}, {key} = {value} }}", choice.entry.name)
            })
        }
        _ => None,
    }
}

/// The settings of a choice without those that exclude `key`; `None` where nothing does.
fn excluding(choice: &Choice, key: &str) -> Option<Settings> {
    let one_of = choice.entry.one_of;
    if one_of.len() < 2 || !one_of.contains(&key) {
        return None;
    }
    let mut settings = Settings::default();
    for (name, setting) in choice.settings.iter().filter(|(name, _)| !one_of.contains(name)) {
        settings.set(name, setting);
    }
    Some(settings)
}

/// Why a simulation has to begin again to follow a change; `None` if it can go on.
pub(crate) fn restart_reason(old: &Scene, new: &Scene) -> Option<&'static str> {
    let shape = |scene: &Scene| {
        let cloth = |c: &muslin::scene::Cloth| {
            (c.name.clone(), c.shape.clone(), c.repair, c.scale, c.rotate, c.translate, c.velocity)
        };
        scene.cloths.iter().map(cloth).collect::<Vec<_>>()
    };
    let pins = |scene: &Scene| scene.cloths.iter().map(|cloth| cloth.pins.clone()).collect::<Vec<_>>();
    let meshes = |scene: &Scene| {
        let is_mesh = |c: &&Collider| matches!(c.shape, ColliderShape::Mesh(_));
        scene.colliders.iter().filter(is_mesh).map(|c| (c.shape.clone(), c.path.clone())).collect::<Vec<_>>()
    };
    let guards = new.contact.self_contact || new.colliders.iter().any(|c| matches!(c.shape, ColliderShape::Mesh(_)));
    if shape(old) != shape(new) {
        Some("the shape or the start of a cloth has changed")
    } else if pins(old) != pins(new) {
        Some("pins hold from the start on")
    } else if old.fps != new.fps {
        Some("the length of a frame has changed")
    } else if old.colliders.len() != new.colliders.len() {
        Some("there are other colliders")
    } else if meshes(old) != meshes(new) {
        Some("a mesh that appears elsewhere could cut the cloth")
    } else if guards
        && (old.contact.thickness, old.contact.self_contact, old.contact.start)
            != (new.contact.thickness, new.contact.self_contact, new.contact.start)
    {
        Some("contact has to begin from a state that is free of cuts")
    } else {
        None
    }
}

/// Pins a vertex of a cloth from the start on, as the user numbers it, or frees it.
pub(crate) fn pin(scene: &mut Scene, model: &Model, cloth: usize, vertex: u32, is_held: bool) {
    let selected = model.pin_vertices(cloth, &scene.cloths[cloth]);
    let pins = &mut scene.cloths[cloth].pins;
    // The first pin that names a vertex keeps it.
    let keeper = selected.iter().position(|(vertices, _)| vertices.contains(&vertex));
    if is_held && keeper.is_some_and(|keeper| is_plain(&pins[keeper])) {
        return;
    }
    for (pin, (mut vertices, center)) in pins.iter_mut().zip(selected) {
        if vertices.contains(&vertex) {
            vertices.retain(|&v| v != vertex);
            pin.selection = Selection::Vertices(vertices);
            // The others go on turning about the same point.
            if !pin.path.is_still() {
                pin.path.center.get_or_insert(center);
            }
        }
    }
    // A pin of nothing is refused by the reader.
    pins.retain(|pin| !matches!(&pin.selection, Selection::Vertices(vertices) if vertices.is_empty()));
    if is_held {
        let plain = pins.iter_mut().filter(|pin| is_plain(pin)).find_map(|pin| match &mut pin.selection {
            Selection::Vertices(vertices) => Some(vertices),
            _ => None,
        });
        match plain {
            Some(vertices) => vertices.push(vertex),
            None => pins.push(Pin { selection: Selection::Vertices(vec![vertex]), until: None, path: Path::still() }),
        }
    }
}

/// Whether a pin holds its vertices where they are, for ever.
fn is_plain(pin: &Pin) -> bool {
    pin.path.is_still() && pin.until.is_none()
}

/// Puts a collider elsewhere, with all of its path.
pub(crate) fn shift(scene: &mut Scene, collider: usize, offset: [f64; 3]) {
    let add = |point: &mut [f64; 3]| point.iter_mut().zip(offset).for_each(|(x, d)| *x += d);
    let collider = &mut scene.colliders[collider];
    match &mut collider.shape {
        ColliderShape::Solid(Choice { entry, settings }) => {
            for point in entry.parameters.iter().filter(|parameter| parameter.kind == Kind::Point) {
                if let Some(mut place) = settings.vector(point.name) {
                    add(&mut place);
                    settings.set(point.name, place.into());
                }
            }
        }
        // No scene that was read has one.
        ColliderShape::Custom(_) => {}
        ColliderShape::Mesh(mesh) => add(&mut mesh.translate),
    }
    if let Some(center) = &mut collider.path.center {
        add(center);
    }
}
