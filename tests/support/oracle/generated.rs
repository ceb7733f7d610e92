//! The program of a generated test: the text of the classes as it is, then the objects, then a `main`.

use super::coverage::with_program;
use cssame::front::csm::syntax::ast::{Function, Item, MemberKind, Program, TypeKind};
use std::collections::BTreeMap;

/// A test. All calls are source text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// `A o`.
    pub objects: Vec<String>,
    /// Calls by main before.
    pub prefix: Vec<String>,
    /// Calls by the threads `a` and `b`.
    pub suffixes: [Vec<String>; 2],
    /// Calls by main behind.
    pub post: Vec<String>,
}

impl Test {
    /// From lists with `;` between their parts.
    pub fn new(objects: &str, prefix: &str, a: &str, b: &str, post: &str) -> Test {
        let list = |text: &str| -> Vec<String> {
            text.split(';').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        };
        Test { objects: list(objects), prefix: list(prefix), suffixes: [list(a), list(b)], post: list(post) }
    }

    /// The same test with objects of other classes: `A` for `B`.
    pub fn with_class(&self, from: &str, to: &str) -> Test {
        let renamed = |object: &String| match object.split_once(' ') {
            Some((class, name)) if class == from => format!("{to} {name}"),
            _ => object.clone(),
        };
        Test { objects: self.objects.iter().map(renamed).collect(), ..self.clone() }
    }
}

/// Stands in the output behind each call, where calls are marked.
pub const MARK: &str = "#done";

/// The text of the program. With marks, each call is followed by a line of output.
pub fn program(text: &str, test: &Test, marks: bool) -> Result<String, String> {
    with_program(text, |tree, _| {
        let classes: BTreeMap<&str, &str> = test
            .objects
            .iter()
            .filter_map(|object| object.split_once(' '))
            .map(|(class, name)| (name, class))
            .collect();
        let calls = |calls: &[String], indent: &str| -> Result<String, String> {
            let mut lines = String::new();
            for call in calls {
                let statement =
                    if has_result(tree, &classes, call)? { format!("print({call});") } else { format!("{call};") };
                lines += &format!("{indent}{statement}\n");
                if marks {
                    lines += &format!("{indent}print(\"{MARK}\");\n");
                }
            }
            Ok(lines)
        };
        let mut program = format!("{text}\n");
        test.objects.iter().for_each(|object| program += &format!("{object};\n"));
        program += &format!("void main() {{\n{}  cobegin\n    a: {{\n", calls(&test.prefix, "  ")?);
        program += &format!("{}    }}\n    b: {{\n", calls(&test.suffixes[0], "      ")?);
        program += &format!("{}    }}\n  coend\n{}}}\n", calls(&test.suffixes[1], "      ")?, calls(&test.post, "  ")?);
        Ok(program)
    })
}

/// Whether the call has a result, by the declaration of what is called.
fn has_result(program: &Program, classes: &BTreeMap<&str, &str>, call: &str) -> Result<bool, String> {
    // A field may be read behind the threads.
    let Some((callee, _)) = call.split_once('(') else { return Ok(true) };
    let callee = callee.trim();
    if callee == "assert" {
        return Ok(false);
    }
    let function = match callee.rsplit_once('.') {
        Some((object, method)) => {
            let class = classes.get(object.trim()).ok_or_else(|| format!("no object {object}"))?;
            method_of(program, class, method.trim())
        }
        None => program.items.iter().find_map(|item| match item {
            Item::Function(function) if function.name.name == callee => Some(function),
            _ => None,
        }),
    };
    Ok(function.ok_or_else(|| format!("nothing to call: {call}"))?.result.kind != TypeKind::Void)
}

fn method_of<'p>(program: &'p Program, class: &str, method: &str) -> Option<&'p Function> {
    program.items.iter().find_map(|item| {
        let Item::Class(found) = item else { return None };
        let mut methods = found.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Method(function) => Some(function),
            _ => None,
        });
        if found.name.name == class { methods.find(|function| function.name.name == method) } else { None }
    })
}
