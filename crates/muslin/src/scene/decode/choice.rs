//! A model or a solver by its name, as a table of a scene has it.

use crate::description::Choice;
use crate::parameter::{Entry, Parameter, Settings};
use crate::scene::cursor::Table;
use crate::validate::choice::{Family, Given};
use crate::validate::suggest::KeyOwner;

/// Reads the table of a choice.
pub(super) fn choice(t: &mut Table<'_, '_>, family: &Family) -> Option<Choice> {
    let find = |name: &str| family.find(name).and_then(|entry| family.suited(entry));
    let entry = match t.get(family.key) {
        Some(item) => item.refine(|v| v.text(), find),
        None => family.silent(|key| !t.given(&[key]).is_empty()).map_err(|message| t.error(message)).ok(),
    };
    let Some(entry) = entry else {
        t.forgive();
        return None;
    };
    t.belongs_to(KeyOwner { name: family.owner(entry), others: family.others(entry) });
    let given = Given { forms: t.given(entry.one_of), values: values(t, entry) };
    let mut faults = Vec::new();
    let settings = family.settle(entry, &given, &mut faults);
    for fault in faults {
        match fault.key {
            Some(key) => t.key_error(key, fault.message),
            None => t.error(fault.message),
        }
    }
    Some(Choice { entry, settings: settings? })
}

/// The values that the table gives, each inside its range.
fn values(t: &mut Table<'_, '_>, entry: &'static Entry) -> Settings {
    let mut settings = nested(t, entry);
    for parameter in entry.parameters.iter().filter(|parameter| !parameter.name.contains('.')) {
        if let Some(value) = t.get(parameter.name).and_then(|v| v.setting(parameter.kind)) {
            settings.set(parameter.name, value);
        }
    }
    settings
}

/// The values of the parameters that stand in a table of their own, as `quality.motion` does.
fn nested(t: &mut Table<'_, '_>, entry: &'static Entry) -> Settings {
    let mut settings = Settings::default();
    let split =
        |parameter: &'static Parameter| parameter.name.split_once('.').map(|(table, key)| (table, key, parameter));
    let mut all: Vec<_> = entry.parameters.iter().filter_map(split).collect();
    while let Some(&(table, ..)) = all.first() {
        t.section(table, |inner| {
            for (_, key, parameter) in all.extract_if(.., |(name, ..)| *name == table) {
                if let Some(value) = inner.get(key).and_then(|v| v.setting(parameter.kind)) {
                    settings.set(parameter.name, value);
                }
            }
        });
    }
    settings
}
