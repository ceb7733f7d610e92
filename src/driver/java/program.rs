//! The program in Java: `Program.java`, and a file for each class.
//!
//! In: a program of the graph. Out: Java text, with the lines of the events. Only code that main reaches by calls and forks is
//! written.

use super::Form;
use super::body::method;
use super::fold::Folding;
use super::line::{Lines, Mark};
use super::locks::Monitors;
use super::symbol_table::{SymbolTable, Variable};
use super::text::comment;
use super::tree::{Node, tree};
use crate::{DriveError, Input, Options};
use cssame_ir::structure::structured;
use cssame_ir::sync::Kind;
use cssame_ir::{ClassId, Follow, FunctionId, Instruction, LeafKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// A file of the program.
pub(super) struct JavaFile {
    /// `Program.java`
    pub(super) name: String,
    pub(super) text: String,
    /// The events by their lines.
    pub(super) events: Vec<(usize, Mark)>,
}

/// The files of a program in a Java package.
///
/// # Errors
///
/// The program has no `main`, or a function that Java cannot nest.
pub(super) fn files(
    input: &Input<'_>,
    package: &str,
    form: Form,
    options: &Options,
) -> Result<Vec<JavaFile>, DriveError> {
    let main = input.program.main.ok_or(DriveError::NoMain)?;
    let functions = input.program.reached_functions([main], Follow::CallsAndThreads);
    let trees = trees(input, &functions)?;
    let monitors = Monitors::find(input.program, &trees);
    let symbols = SymbolTable::new(input, &functions, monitors);
    let recursive = recursive(input, &functions);
    let mut own = Lines::at(1);
    let mut of_class: FxHashMap<ClassId, Lines> = FxHashMap::default();
    for (id, tree) in trees {
        let text = method(&symbols, id, tree, recursive.contains(&id));
        check_length(text.count(), || input.program.texts.get(input.program.functions[id].name).to_owned())?;
        let lines = match symbols.methods[&id].class {
            Some(class) => of_class.entry(class).or_insert_with(|| Lines::at(1)),
            None => &mut own,
        };
        lines.push("");
        lines.append(text);
    }
    let about = format!("`{}` in Java: made by cssame {}.", comment(&options.file), env!("CARGO_PKG_VERSION"));
    check_length(symbols.globals.len(), || "Program.reset".to_owned())?;
    let mut files = vec![program_file(&symbols, (package, &about, form), own)];
    let used = used_classes(&symbols, &of_class);
    for class in input.program.classes.ids().filter(|class| used.contains(class)) {
        let methods = of_class.remove(&class).unwrap_or_else(|| Lines::at(1));
        files.push(class_file(&symbols, class, (package, form), methods));
    }
    Ok(files)
}

/// Lines that a method may have. Java bounds its code by 64 KiB, and an event in three lines takes some twenty bytes.
const MAX_LINES: usize = 6_000;

/// Refuses a method that Java's compiler would call too large.
fn check_length(lines: usize, name: impl Fn() -> String) -> Result<(), DriveError> {
    match lines {
        0..=MAX_LINES => Ok(()),
        _ => Err(DriveError::Unwritable {
            function: name(),
            reason: format!("it would have {lines} lines in one method of Java, which are at most {MAX_LINES} here"),
        }),
    }
}

/// The statements of each function.
fn trees(input: &Input<'_>, functions: &[FunctionId]) -> Result<Vec<(FunctionId, Vec<Node>)>, DriveError> {
    let mut trees = Vec::with_capacity(functions.len());
    for &id in functions {
        let function = &input.program.functions[id];
        let folding = Folding::of(function);
        let may_test = |block| {
            let number = function.blocks[block].instructions.len() as u32;
            folding.is_condition(function, block) && !folding.reads(function, (block, number)).is_empty()
        };
        let statements = structured(function, &may_test).map_err(|error| DriveError::Unwritable {
            function: input.program.texts.get(function.name).to_owned(),
            reason: error.to_string(),
        })?;
        trees.push((id, tree(function, &statements)));
    }
    Ok(trees)
}

/// Functions that may call themselves, by others too.
fn recursive(input: &Input<'_>, functions: &[FunctionId]) -> FxHashSet<FunctionId> {
    let mut graph = petgraph::graphmap::DiGraphMap::<u32, ()>::new();
    for &id in functions {
        let calls = input.program.functions[id].blocks.iter().flat_map(|block| &block.instructions);
        for instruction in calls.filter(|instruction| matches!(instruction, Instruction::Call { .. })) {
            for callee in instruction.callees() {
                graph.add_edge(id.0, callee.0, ());
            }
        }
    }
    let circles = petgraph::algo::tarjan_scc(&graph);
    let is_circle = |circle: &Vec<u32>| circle.len() > 1 || circle.iter().any(|&one| graph.contains_edge(one, one));
    circles.into_iter().filter(is_circle).flatten().map(FunctionId).collect()
}

/// Classes of which there are objects.
fn used_classes(symbols: &SymbolTable<'_>, of_class: &FxHashMap<ClassId, Lines>) -> FxHashSet<ClassId> {
    let program = symbols.input.program;
    let mut used: FxHashSet<ClassId> = of_class.keys().copied().collect();
    let mut waiting: Vec<Type> = program.variables.iter().map(|variable| variable.ty).collect();
    waiting.extend(used.iter().map(|&class| Type::Class(class)));
    let mut seen = FxHashSet::default();
    while let Some(ty) = waiting.pop() {
        match ty {
            Type::Array(array) => waiting.push(program.arrays[array].element),
            Type::Class(class) if seen.insert(class) => {
                used.insert(class);
                waiting.extend(program.classes[class].fields.iter().map(|field| field.ty));
            }
            Type::Class(_) | Type::Single(_) => {}
        }
    }
    used
}

/// A class with what stands before it.
fn with_head(package: &str, about: &str, body: Lines) -> Lines {
    let mut lines = Lines::default();
    lines.push(format!("package {package};"));
    lines.push("");
    lines.push("import cssame.*;");
    for class in ["Phaser", "Semaphore"].iter().filter(|class| body.mentions(class)) {
        lines.push(format!("import java.util.concurrent.{class};"));
    }
    lines.push("");
    lines.push(format!("/** {about} */"));
    lines.append(body);
    lines
}

fn program_file(symbols: &SymbolTable<'_>, (package, about, form): (&str, &str, Form), methods: Lines) -> JavaFile {
    let mut lines = Lines::default();
    lines.open("public final class Program {");
    if uses(symbols, |instruction| matches!(instruction, Instruction::AtomicBegin)) {
        lines.push("/** What atomic blocks hold. */");
        lines.push("static final Object ATOMIC = new Object();");
        lines.push("");
    }
    let bare = uses(symbols, |instruction| {
        matches!(instruction, Instruction::Synchronise(operation)
            if matches!(operation.kind, Kind::WaitBare | Kind::NotifyBare | Kind::NotifyAllBare))
    });
    if bare {
        lines.push("/** What threads wait at without an object. */");
        lines.push("static Condition waiting;");
    }
    for (_, variable) in &symbols.globals {
        lines.push(format!("static {}", declaration(symbols, variable)));
    }
    if bare || !symbols.globals.is_empty() {
        lines.push("");
    }
    lines.push("private Program() {}");
    lines.push("");
    lines.push("/** Gives all variables their first values. */");
    lines.open("public static void reset() {");
    if bare {
        lines.push("waiting = new Condition();");
    }
    for (_, variable) in &symbols.globals {
        lines.push(format!("{} = {};", variable.name, symbols.initial(variable)));
    }
    lines.close("}");
    lines.append(methods);
    lines.close("}");
    let (text, events) = with_head(package, about, lines).finish(form == Form::Hooks);
    JavaFile { name: "Program.java".to_owned(), text, events }
}

fn class_file(symbols: &SymbolTable<'_>, class: ClassId, (package, form): (&str, Form), methods: Lines) -> JavaFile {
    let name = &symbols.classes[class.index()];
    let (program, sources) = (symbols.input.program, symbols.input.sources);
    let declared = &program.classes[class];
    let mut lines = Lines::default();
    let about = format!("Class `{}`, line {}.", comment(program.texts.get(declared.name)), sources.line(declared.span));
    lines.open(format!("final class {name} {{"));
    for field in &symbols.fields[class.index()] {
        let declaration = declaration(symbols, field);
        let declaration = declaration.trim_end_matches(';');
        let constant = if field.is_volatile || is_plain(field) { "" } else { "final " };
        lines.push(format!("{constant}{declaration} = {};", symbols.initial(field)));
    }
    lines.append(methods);
    lines.close("}");
    let (text, events) = with_head(package, &about, lines).finish(form == Form::Hooks);
    JavaFile { name: format!("{name}.java"), text, events }
}

/// Whether a variable is assigned to.
fn is_plain(variable: &Variable) -> bool {
    matches!(variable.ty, Type::Single(LeafKind::Data(_))) && !variable.is_cell
}

/// `volatile int a;`
fn declaration(symbols: &SymbolTable<'_>, variable: &Variable) -> String {
    let ty = symbols.type_text(variable.ty, Some(variable.key), variable.is_cell);
    let volatile = if is_plain(variable) && variable.is_volatile { "volatile " } else { "" };
    format!("{volatile}{ty} {};", variable.name)
}

fn uses(symbols: &SymbolTable<'_>, found: impl Fn(&Instruction) -> bool) -> bool {
    let written = symbols.methods.keys().map(|&id| &symbols.input.program.functions[id]);
    written.flat_map(|function| function.blocks.iter()).flat_map(|block| &block.instructions).any(found)
}
