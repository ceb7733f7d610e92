//! The selections of a test.
//!
//! **Input**: selected terms. **Output**: reads, and the fields that their pi functions return; or the reason why a selection has
//! none.
//!
//! **Soundness and limits**: contradictions between selections are not checked, except for two that give one pi function two
//! terms.

use super::versions::Versions;
use crate::Input;
use crate::manifest::name_in_contexts;
use cssame_form::{Selection, definition_name, read_name, selected_definition};
use cssame_ir::{DefinitionId, ReadId};
use rustc_hash::FxHashMap;

/// Says why a selection means no term of a pi function.
pub(super) fn check_selections(
    input: &Input<'_>,
    versions: &Versions<'_>,
    selections: &[Selection],
) -> Result<(), String> {
    let (sources, program) = (input.sources, input.program);
    let mut chosen: FxHashMap<ReadId, DefinitionId> = FxHashMap::default();
    for selection in selections {
        let (read, definition) = (selection.read(), selection.definition());
        let name = name_in_contexts(input, selection);
        if selection.instance.is_some() {
            return Err(format!("`{name}`: a pi function of this form is evaluated once"));
        }
        let first = versions.first(read);
        let Some(pi) = versions.pi(first) else {
            return Err(format!("`{name}` has no pi function: no more than one definition reaches it"));
        };
        let definition_name = |each| definition_name(sources, program, each);
        if !pi.terms.contains(&definition) {
            let terms: Vec<String> = pi.terms.iter().map(|&term| format!("`{}`", definition_name(term))).collect();
            let wanted = selected_definition(sources, program, selection);
            return Err(format!("`{wanted}` is no term of `{name}`, which has {}", terms.join(", ")));
        }
        if let Some(other) = chosen.insert(first, definition)
            && other != definition
        {
            let (pi, one, two) =
                (read_name(sources, program, first), definition_name(other), definition_name(definition));
            return Err(format!("the one pi function of `{pi}` cannot give both `{one}` and `{two}`"));
        }
    }
    Ok(())
}

/// The reads, and the fields that their pi functions give.
pub(super) fn select(versions: &Versions<'_>, selections: &[Selection]) -> Vec<(String, String)> {
    let mut selected: Vec<(String, String)> = Vec::new();
    for selection in selections {
        let pi = versions.pi(versions.first(selection.read()));
        if let (Some(pi), Some(version)) = (pi, versions.version(selection.definition())) {
            let one = (pi.at.clone(), version.to_owned());
            if !selected.contains(&one) {
                selected.push(one);
            }
        }
    }
    selected
}
