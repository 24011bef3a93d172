//! `muslin models`: everything a scene can name, from the tables that the scene reader itself uses.

use muslin::catalog::{self, Pairing};
use muslin::parameter::Entry;
use muslin_scenes::listing::{self, default_of, families};

use crate::args::ModelsArguments;
use crate::console::say;
use crate::failure::Failure;
use crate::table::Table;

pub(super) fn models(arguments: &ModelsArguments) -> Result<(), Failure> {
    if arguments.json {
        return say(format_args!("{:#}", listing::to_json()));
    }
    entries("Stretch models: cloth.material.stretch = { model = NAME, … }", catalog::stretch_models())?;
    entries("Bend models: cloth.material.bend = { model = NAME, … }", catalog::bend_models())?;
    entries("Solvers: [solver] kind = NAME", catalog::solvers())?;
    pairings()?;
    colliders()?;
    fabrics()
}

fn entries(title: &str, entries: impl Iterator<Item = &'static Entry>) -> Result<(), Failure> {
    say(title)?;
    for entry in entries {
        say(format_args!("\n  {}: {}", entry.name, entry.summary))?;
        if !entry.source.is_empty() {
            say(format_args!("    source: {}", entry.source))?;
        }
        if !entry.parameters.is_empty() {
            let mut table = Table::new(["  key", "unit", "default", "allowed", "meaning"], &[]);
            for parameter in entry.parameters {
                table.row([
                    format!("  {}", parameter.name),
                    dashed(parameter.unit),
                    dashed(&default_of(parameter).unwrap_or_default()),
                    parameter.kind.to_string(),
                    parameter.meaning.to_owned(),
                ]);
            }
            say(table)?;
        }
        if entry.one_of.len() > 1 {
            say(format_args!("    one of: {}", entry.one_of.join(", ")))?;
        }
    }
    say("")
}

/// Which solver is defined for which model, and why the others are not.
fn pairings() -> Result<(), Failure> {
    say("Which solver is defined for which model\n")?;
    let solvers: Vec<&Entry> = catalog::solvers().collect();
    let heading = ["", "model"].into_iter().chain(solvers.iter().map(|solver| solver.name));
    let mut table = Table::with_heading(heading.map(str::to_owned).collect());
    let pairings: Vec<(&str, Pairing)> = families().collect();
    for row in pairings.chunk_by(|a, b| (a.0, a.1.model.name) == (b.0, b.1.model.name)) {
        let Some((family, first)) = row.first() else { continue };
        let answers = row.iter().map(|(_, pairing)| if pairing.is_defined { "yes" } else { "no" });
        table.cells([*family, first.model.name].into_iter().chain(answers).map(str::to_owned).collect());
    }
    say(table)?;
    say("")?;
    for solver in solvers {
        let own = || pairings.iter().map(|(_, pairing)| pairing).filter(|pairing| pairing.solver.name == solver.name);
        let Some(need) = own().next().map(|pairing| pairing.need.in_words()) else { continue };
        let missing: Vec<&str> =
            own().filter(|pairing| !pairing.is_defined).map(|pairing| pairing.model.name).collect();
        let but =
            if missing.is_empty() { String::new() } else { format!("; not given as such: {}", missing.join(", ")) };
        say(format_args!("  {} needs of a model {need}{but}", solver.name))?;
    }
    say("")
}

fn colliders() -> Result<(), Failure> {
    say("Colliders: [[collider]] NAME = { … }, with friction and path beside it")?;
    for kind in listing::colliders() {
        say(format_args!("\n  {}: {}", kind.name, kind.summary))?;
        let mut table = Table::new(["  key", "unit", "default", "meaning"], &[]);
        for key in kind.keys {
            let default = key.default.unwrap_or_else(|| "required".to_owned());
            table.row([format!("  {}", key.name), dashed(key.unit), default, key.meaning.to_owned()]);
        }
        say(table)?;
    }
    say("")
}

fn fabrics() -> Result<(), Failure> {
    say("Fabrics: cloth.material.fabric = NAME\n")?;
    let mut table = Table::new(["fabric", "density [kg/m²]", "bend [N·m]", "stretch [N/m]", "what"], &[1, 2, 3]);
    for fabric in catalog::fabrics() {
        let stretch = fabric.stretch.map_or_else(|| "default".to_owned(), |stretch| stretch.to_string());
        table.row([
            fabric.name.to_owned(),
            fabric.density.to_string(),
            format!("{:e}", fabric.bend),
            stretch,
            fabric.summary.to_owned(),
        ]);
    }
    say(table)?;
    say("")?;
    let mut sources: Vec<&str> = Vec::new();
    for source in catalog::fabrics().map(|fabric| fabric.source) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    for source in sources {
        let named: Vec<&str> = catalog::fabrics().filter(|fabric| fabric.source == source).map(|f| f.name).collect();
        say(format_args!("  {}: {source}", named.join(", ")))?;
    }
    Ok(())
}

fn dashed(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}
