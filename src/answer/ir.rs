//! The answer of `ir`: an intermediate form of a program.

use cssame_diagnostics::Diagnostics;
use cssame_form as form;
use cssame_form::print::CssameAnnotations;
use cssame_front::csm::syntax;
use cssame_ir::dot::dot_program;
use cssame_ir::json::{ProgramData, program_data};
use cssame_ir::picture::{Picture, picture};
use cssame_ir::print::{Annotations, Plain, print_program};
use cssame_ir::svg::svg_program;
use cssame_model::Unit;
use cssame_source::{FileId, SourceMap};
use cssame_ssa as ssa;
use cssame_ssa::ProgramSsa;
use cssame_ssa::print::SsaAnnotations;
use serde::{Serialize, Serializer};

/// Which form of the flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The parallel flow graph.
    Cfg,
    /// SSA form.
    Ssa,
    /// CSSAME form.
    Cssame,
}

/// An intermediate form. It is put into text, or serialised as [`IrReport`], when that is asked for.
#[derive(Debug)]
pub enum IrAnswer {
    /// The syntax tree, printed as a program.
    Tree(String),
    /// The lines of the program in CSSAME form.
    Source(Vec<String>),
    /// A flow graph.
    Graph(Box<FlowGraph>),
}

/// A flow graph, and in which form it is written.
#[derive(Debug)]
pub struct FlowGraph {
    unit: Unit,
    emit: Emit,
}

/// An intermediate form as plain data.
#[derive(Debug, Serialize)]
pub struct IrReport {
    /// `ast`, `cfg`, `ssa`, `cssame` or `source`
    pub emit: &'static str,
    /// The form.
    #[serde(flatten)]
    pub form: FormData,
}

/// The data of a form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FormData {
    /// The syntax tree.
    Tree {
        /// Printed as a program.
        text: String,
    },
    /// The program in CSSAME form.
    Source {
        /// Its lines.
        source: Vec<String>,
    },
    /// A flow graph.
    Graph(ProgramData),
}

/// The syntax tree of a file. It needs no names and types: a program with other errors has one too.
///
/// # Errors
///
/// The syntax has errors.
pub fn ir_tree(sources: SourceMap, file: FileId) -> Result<IrAnswer, Diagnostics> {
    let parsed = syntax::parse(&sources, file);
    if !parsed.diagnostics.is_empty() {
        return Err(Diagnostics::new(sources, parsed.diagnostics));
    }
    Ok(IrAnswer::Tree(syntax::print(&parsed.program)))
}

/// The flow graph of a program in one of its forms.
///
/// # Errors
///
/// CSSAME form is asked for, and the program has no `main`: what concurrent threads do is known only where one starts them.
pub fn ir(unit: Unit, emit: Emit) -> Result<IrAnswer, Diagnostics> {
    let unit = if emit == Emit::Cssame { unit.with_main()? } else { unit };
    Ok(IrAnswer::Graph(Box::new(FlowGraph { unit, emit })))
}

impl IrAnswer {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            IrAnswer::Tree(text) => text.clone(),
            IrAnswer::Source(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
            IrAnswer::Graph(graph) => graph.render(print_program),
        }
    }

    /// In the language of Graphviz; nothing for text.
    #[must_use]
    pub fn dot(&self) -> Option<String> {
        match self {
            IrAnswer::Tree(_) | IrAnswer::Source(_) => None,
            IrAnswer::Graph(graph) => Some(graph.render(dot_program)),
        }
    }

    /// Where the parts of a graph stand in a picture; nothing for text.
    ///
    /// # Errors
    ///
    /// The number of lines, where there are too many.
    pub fn picture(&self) -> Result<Option<Picture>, usize> {
        match self {
            IrAnswer::Tree(_) | IrAnswer::Source(_) => Ok(None),
            IrAnswer::Graph(graph) => graph.render(picture).map(Some),
        }
    }

    /// As a picture; nothing for text.
    ///
    /// # Errors
    ///
    /// The number of lines, where there are too many.
    pub fn svg(&self) -> Result<Option<String>, usize> {
        match self {
            IrAnswer::Tree(_) | IrAnswer::Source(_) => Ok(None),
            IrAnswer::Graph(graph) => graph.render(svg_program).map(Some),
        }
    }

    /// As plain data.
    #[must_use]
    pub fn report(&self) -> IrReport {
        match self {
            IrAnswer::Tree(text) => IrReport { emit: "ast", form: FormData::Tree { text: text.clone() } },
            IrAnswer::Source(lines) => IrReport { emit: "source", form: FormData::Source { source: lines.clone() } },
            IrAnswer::Graph(graph) => {
                IrReport { emit: graph.emit.word(), form: FormData::Graph(graph.render(program_data)) }
            }
        }
    }
}

impl Serialize for IrAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

impl FlowGraph {
    /// Calls a renderer with what is written to the graph in its form.
    fn render<T>(&self, renderer: impl Fn(&cssame_ir::Program, &SourceMap, &dyn Annotations) -> T) -> T {
        let Unit { sources, program, .. } = &self.unit;
        let ssa = || -> ProgramSsa { ssa::build_program(program) };
        match self.emit {
            Emit::Cfg => renderer(program, sources, &Plain),
            Emit::Ssa => renderer(program, sources, &SsaAnnotations::new(program, &ssa())),
            Emit::Cssame => {
                let (ssa, form) = (ssa(), form::analyse(program));
                renderer(program, sources, &CssameAnnotations::new(program, &ssa, form.as_ref()))
            }
        }
    }
}

impl Emit {
    fn word(self) -> &'static str {
        match self {
            Emit::Cfg => "cfg",
            Emit::Ssa => "ssa",
            Emit::Cssame => "cssame",
        }
    }
}
