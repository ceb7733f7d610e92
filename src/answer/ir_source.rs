//! CSSAME form as printed in the paper: the lines of the program, with versions after its variables.
//!
//! **Input**: a program, and the values of its `input` constants. **Output**: the lines of its text, or what an editor shows in it.
//!
//! **Algorithm**
//! 1. Print the syntax tree, one statement per line, and compile that text: each access is then in the line of its statement. A
//!    program in C stays as it is written.
//! 2. Ask [`SourceForm`] where versions and merges stand.
//! 3. A version follows the name; a merge has its own line.
//!
//! **Limits**: comments of a `.csm` file are lost. In C, a line of several statements has all its pi functions before it.

use super::ir::IrAnswer;
use super::source_form::SourceForm;
use cssame_diagnostics::Diagnostics;
use cssame_front::Language;
use cssame_front::csm::syntax;
use cssame_model::Unit;

/// The text of a program in CSSAME form.
///
/// # Errors
///
/// The program has no `main`: what concurrent threads do is known only where one starts them.
pub fn ir_source(unit: Unit, inputs: &[(String, String)]) -> Result<IrAnswer, Diagnostics> {
    let mut unit = unit.with_main()?;
    if Language::of_name(unit.name()) == Language::Csm {
        let tree = syntax::parse(&unit.sources, unit.file).program;
        unit = Unit::from_text(unit.name(), &syntax::print_with_lone_heads(&tree), inputs)?;
    }
    Ok(IrAnswer::Source(lines(&unit, &SourceForm::of(&unit))))
}

/// What an editor shows in the text of a program, so that it reads in CSSAME form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormHint {
    /// Behind this byte of the text.
    pub offset: u32,
    /// `_2`, ` = pi(a_0, a_2)` behind the read of `a_4`, or the whole of another merge.
    pub label: String,
    /// Whether it continues a name; if not, it stands for itself.
    pub is_suffix: bool,
}

/// The hints of a program that has a `main`, by place.
#[must_use]
pub fn form_hints(unit: &Unit) -> Vec<FormHint> {
    let form = SourceForm::of(unit);
    let names = form.names.values().filter_map(|name| {
        let mut label = form.suffix(name, unit.sources.text(name.span));
        if let Some(merge) = form.pi_of(name) {
            let text = merge.text();
            label.push_str(text.find(" = ").map_or("", |at| &text[at..]));
        }
        (!label.is_empty()).then_some(FormHint { offset: name.span.end, label, is_suffix: true })
    });
    let file = unit.sources.file(unit.file);
    let merges = form.merges.iter().filter(|(_, merge)| merge.function != "pi").map(|(place, merge)| {
        let range = file.line_range(place.line - 1).unwrap_or_default();
        let end = range.start + unit.text()[range.clone()].trim_end().len();
        let offset = if place.is_behind { end } else { (range.start + place.indentation).min(end) };
        FormHint { offset: offset as u32, label: merge.text(), is_suffix: false }
    });
    let mut hints: Vec<FormHint> = names.chain(merges).collect();
    hints.sort_by_key(|hint| hint.offset);
    hints
}

fn lines(unit: &Unit, form: &SourceForm) -> Vec<String> {
    let file = unit.sources.file(unit.file);
    let mut merges = form.merges.iter().peekable();
    let mut lines = Vec::new();
    for (index, text) in unit.text().lines().enumerate() {
        let mut add = |lines: &mut Vec<String>, is_behind: bool| {
            let here = (index + 1, is_behind);
            while let Some((place, merge)) = merges.next_if(|(place, _)| (place.line, place.is_behind) <= here) {
                lines.push(" ".repeat(place.indentation) + &merge.text());
            }
        };
        add(&mut lines, false);
        let start = file.line_range(index).unwrap_or_default().start as u32;
        lines.push(line_with_versions(unit, form, start, text));
        add(&mut lines, true);
    }
    lines
}

fn line_with_versions(unit: &Unit, form: &SourceForm, start: u32, text: &str) -> String {
    let mut line = String::new();
    let mut from = 0;
    for (&end, name) in form.names.range(start + 1..start + 1 + text.len() as u32) {
        let at = (end - start) as usize;
        line.push_str(&text[from..at]);
        from = at;
        line.push_str(&form.suffix(name, unit.sources.text(name.span)));
    }
    line + &text[from..]
}
