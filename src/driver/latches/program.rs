//! `Program.java`: the program in CSSAME form, with the translation of the paper.
//!
//! **Input**: a program that the form can express. **Output**: Java text: one class, whose fields are the versions; an inner
//! class for each thread, a method for each function, and a method for each pi and phi function, whose calls the aspect replaces.

use super::body::{Context, body};
use super::registers::{Phi, Registers};
use super::sites::Sites;
use super::unsaid::Unsaid;
use super::versions::{Field, Pi, Versions};
use crate::Input;
use crate::java::line::Lines;
use crate::java::text::{comment, string, type_name};
use cssame_ir::structure::{Structured, structured};
use cssame_ir::{Function, FunctionId, Instruction};
use cssame_ssa::{FunctionSsa, ProgramSsa};
use rustc_hash::FxHashMap;

/// The name of the file in what it is about, and of the package of Java.
#[derive(Clone, Copy)]
pub(super) struct Names<'n> {
    pub(super) package: &'n str,
    pub(super) file: &'n str,
}

/// The statements of the functions, or why one has none.
pub(super) fn structure(
    input: &Input<'_>,
    sites: &Sites<'_>,
    ssa: &ProgramSsa,
) -> Result<Vec<(FunctionId, Vec<Structured>)>, Unsaid> {
    let of = |&id: &FunctionId| {
        let function = &input.program.functions[id];
        match structured(&with_phis(function, &ssa.functions[id]), &|_| false) {
            Ok(statements) => Ok((id, statements)),
            Err(_) => {
                let construct = format!("`{}`", input.program.texts.get(function.name));
                let reason = "its branches cannot be nested as Java has them";
                Err(Unsaid { span: function.span, construct, reason })
            }
        }
    };
    sites.functions.iter().map(of).collect()
}

/// The function with an instruction in each block at whose head phi functions stand: a block without instructions would have no
/// place in the tree.
fn with_phis(function: &Function, form: &FunctionSsa) -> Function {
    let mut function = function.clone();
    for phi in form.ssa.phis() {
        let block = &mut function.blocks[cssame_ir::BlockId(phi.block)];
        if block.instructions.is_empty() {
            block.instructions.push(Instruction::Join);
            block.spans.push(block.terminator_span);
        }
    }
    function
}

/// The text of the file. The versions get the names of threads, functions, phi functions and merged locals besides.
pub(super) fn emit<'a>(
    (input, sites, ssa): (&'a Input<'a>, &Sites<'a>, &'a ProgramSsa),
    versions: &mut Versions<'a>,
    functions: &[(FunctionId, Vec<Structured>)],
    names: Names<'_>,
) -> String {
    let mut of_functions: FxHashMap<FunctionId, String> = FxHashMap::default();
    for (id, _) in functions.iter().filter(|(id, _)| input.program.main != Some(*id)) {
        let name = input.program.texts.get(input.program.functions[*id].name);
        of_functions.insert(*id, versions.fresh(name));
    }
    let all: Vec<Registers<'a>> = functions.iter().map(|(id, _)| Registers::new(input, *id, ssa, versions)).collect();
    let mut lines = Lines::at(0);
    lines.open("public final class Program implements Runnable {");
    fields(&mut lines, versions, &all);
    let mut merges: Vec<Phi> = Vec::new();
    let taken = versions.taken.clone();
    let mut bodies: Vec<Lines> = Vec::new();
    let context = Context { input, sites, versions, names: &of_functions };
    for (mut registers, (id, statements)) in all.into_iter().zip(functions) {
        let mut own: Vec<_> = registers.phis.iter().collect();
        own.sort_by_key(|(block, _)| **block);
        merges.extend(own.into_iter().flat_map(|(_, phis)| phis.iter().cloned()));
        // The names are cloned, so that they live as long as the registers do.
        registers.name_locals(&taken);
        bodies.push(function(&context, (*id, statements), registers));
    }
    for body in bodies {
        lines.push("");
        lines.append(body);
    }
    versions.pis.iter().for_each(|pi| pi_method(&mut lines, versions, pi));
    merges.iter().for_each(|phi| phi_method(&mut lines, phi));
    lines.push("");
    lines.push("private static IllegalStateException woven() {");
    lines.push("    return new IllegalStateException(\"the aspect is not woven in\");");
    lines.push("}");
    lines.close("}");
    let mut file = head(names, &lines);
    file.append(lines);
    file.finish(true).0
}

fn head(names: Names<'_>, program: &Lines) -> Lines {
    let mut lines = Lines::at(0);
    lines.push(format!("package {};", names.package));
    lines.push("");
    for class in IMPORTED.iter().filter(|class| program.mentions(class)) {
        lines.push(format!("import cssame.{class};"));
    }
    lines.push("");
    lines.push("/**");
    let version = env!("CARGO_PKG_VERSION");
    lines.push(format!(" * `{}` in CSSAME form: made by cssame {version}; do not edit.", comment(names.file)));
    lines.push(" *");
    lines.push(" * <p>Each version of a shared variable is a field that is assigned once. Calls of pi and phi functions are replaced");
    lines.push(" * by the aspect {@code cssame.Latches}.");
    lines.push(" */");
    lines
}

/// The classes of the runtime that a program may name.
const IMPORTED: &[&str] = &[
    "Barrier",
    "Event",
    "Failure",
    "Handle",
    "Local",
    "Lock",
    "Output",
    "Phi",
    "Pi",
    "Semaphore",
    "Threads",
    "Version",
];

fn fields(lines: &mut Lines, versions: &Versions<'_>, all: &[Registers<'_>]) {
    let merged = all.iter().flat_map(|registers| &registers.fields).map(|field| ("Local", field));
    let mut last: Option<&str> = None;
    for (kind, field) in versions.fields.iter().map(|field| ("Version", field)).chain(merged) {
        let Field { name, ty, of, at } = field;
        if last.is_some_and(|last| last != of) {
            lines.push("");
        }
        last = Some(of);
        if kind == "Local" || versions.is_latched(field) {
            lines.push(format!("@{kind}(of = {}, at = {})", string(of), string(at)));
        } else {
            lines.push(format!("// {}: no pi function shows it", comment(at)));
        }
        // A local is of one thread.
        let volatile = if kind == "Version" { "volatile " } else { "" };
        lines.push(format!("{volatile}{} {name};", type_name(*ty)));
    }
    if last.is_some() && !versions.plain.is_empty() {
        lines.push("");
    }
    versions.plain.iter().for_each(|plain| lines.push(plain.declaration.clone()));
}

/// A method, or the class of a thread.
fn function<'a>(
    context: &Context<'_, 'a>,
    (id, statements): (FunctionId, &[Structured]),
    registers: Registers<'a>,
) -> Lines {
    let input = context.input;
    let function = &input.program.functions[id];
    let name = comment(input.program.texts.get(function.name));
    let line = input.sources.line(function.span);
    let own = context.names.get(&id).map_or("", String::as_str);
    let is_thread = context.sites.of(id).first().is_some_and(|site| site.is_thread);
    let parameters: Vec<String> =
        registers.parameters.iter().map(|(ty, name)| format!("{} {name}", type_name(*ty))).collect();
    let mut lines = Lines::at(1);
    if input.program.main == Some(id) {
        lines.push(format!("/** The main thread, line {line}. */"));
        lines.push("@Override");
        lines.open("public void run() {");
        lines.append(body(context, registers, statements, 2));
        lines.close("}");
    } else if is_thread {
        lines.push(format!("/** Thread `{name}`, line {line}. */"));
        lines.open(format!("final class {own} implements Runnable {{"));
        if !parameters.is_empty() {
            parameters.iter().for_each(|parameter| lines.push(format!("final {parameter};")));
            lines.push("");
            lines.open(format!("{own}({}) {{", parameters.join(", ")));
            registers.parameters.iter().for_each(|(_, name)| lines.push(format!("this.{name} = {name};")));
            lines.close("}");
            lines.push("");
        }
        lines.push("@Override");
        lines.open("public void run() {");
        lines.append(body(context, registers, statements, 3));
        lines.close("}");
        lines.close("}");
    } else {
        let result = function.result.map_or("void", type_name);
        lines.push(format!("/** Function `{name}`, line {line}. */"));
        lines.open(format!("{result} {own}({}) {{", parameters.join(", ")));
        lines.append(body(context, registers, statements, 2));
        lines.close("}");
    }
    lines
}

fn pi_method(lines: &mut Lines, versions: &Versions<'_>, pi: &Pi) {
    let array = |names: Vec<&str>| names.into_iter().map(string).collect::<Vec<_>>().join(", ");
    let (terms, control) = (versions.versions(&pi.terms), versions.versions(&pi.control));
    let ty = type_name(pi.ty);
    let parameters: Vec<String> = terms.iter().map(|term| format!("{ty} {term}")).collect();
    lines.push("");
    lines.push(format!("@Pi(at = {}, terms = {{{}}}, control = {{{}}})", string(&pi.at), array(terms), array(control)));
    lines.open(format!("static {ty} {}({}) {{", pi.method, parameters.join(", ")));
    lines.push("throw woven();");
    lines.close("}");
}

fn phi_method(lines: &mut Lines, phi: &Phi) {
    let ty = type_name(phi.ty);
    let parameters: Vec<String> = phi.arguments.iter().map(|argument| format!("{ty} {argument}")).collect();
    lines.push("");
    lines.push(format!("@Phi(of = {})", string(&phi.of)));
    lines.open(format!("static {ty} {}({}) {{", phi.method, parameters.join(", ")));
    lines.push("throw woven();");
    lines.close("}");
}
