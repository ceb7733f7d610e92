//! `cssame ir FILE`: the intermediate forms of a program.

use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{Format, OutputOptions, ProgramOptions};
use crate::output::Output;
use clap::{Args, ValueEnum};
use cssame_answer::{Emit, IrAnswer, Judged, ir, ir_source, ir_tree};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// Arguments of `ir`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Which form: ast, cfg, ssa, cssame or source
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Cfg, hide_possible_values = true)]
    pub emit: Form,
    /// Text for people (text), a graph for Graphviz (dot), the graph as a picture (svg), or one JSON object (json)
    #[arg(long, value_enum, default_value_t = TextFormat::Text, hide_possible_values = true)]
    pub format: TextFormat,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// Values of `--emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// The syntax tree.
    Ast,
    /// The parallel flow graph.
    Cfg,
    /// SSA form.
    Ssa,
    /// CSSAME form.
    Cssame,
    /// CSSAME form as the paper prints it.
    Source,
}

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Text for people.
    #[value(alias = "human")]
    Text,
    /// A graph for Graphviz.
    Dot,
    /// The graph as a picture.
    Svg,
    /// One JSON object.
    Json,
}

/// A form, and its text where one is wanted.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Rendered {
    answer: IrAnswer,
    #[serde(skip)]
    text: String,
}

impl Job for Arguments {
    type Answer = Rendered;

    const HELP: Help = Help {
        name: "ir",
        short: "Print an intermediate form: syntax tree, flow graph, SSA",
        long: "\
Prints an intermediate form of the program:

  ast     the syntax tree, printed as a program again
  cfg     the parallel flow graph: functions of blocks of three-address code
  ssa     the same in SSA form, with phi functions
  cssame  the same in CSSAME form: a pi function before each read that concurrent writes reach
  source  the lines of the program in CSSAME form, as the paper prints them

With `--format dot` the answer is a graph for Graphviz. Each function is a cluster, and dashed edges lead from a fork \
to its threads and from their ends to the join. `--format svg` draws this graph. The forms `ast` and `source` have no \
graph.",
        examples: "\
Examples:
  cssame ir samples/cssame_fig2.csm
  cssame ir --emit source samples/cssame_fig2.csm
  cssame ir --emit cssame samples/peterson.csm
  cssame ir --emit cfg --format dot samples/dekker.csm | dot -Tsvg > dekker.svg",
    };

    fn common(&self) -> Common<'_> {
        let format = match self.format {
            TextFormat::Text | TextFormat::Dot | TextFormat::Svg => Format::Human,
            TextFormat::Json => Format::Json,
        };
        Common::new(from_ref(&self.file), format, &self.output)
    }

    fn validate(&self) -> Result<(), String> {
        match (self.emit, self.format) {
            (Form::Ast, TextFormat::Dot | TextFormat::Svg) => {
                Err("the syntax tree cannot be shown as a graph".to_owned())
            }
            (Form::Source, TextFormat::Dot | TextFormat::Svg) => {
                Err("the lines of the program cannot be shown as a graph".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn answer(&self, _: &Output) -> Result<Rendered, Diagnostics> {
        let answer = match self.emit {
            Form::Ast => {
                load::not_of_c(&self.file, ("syntax trees", "`--emit cfg` shows how it was read"))?;
                self.tree()?
            }
            Form::Cfg => self.graph(Emit::Cfg)?,
            Form::Ssa => self.graph(Emit::Ssa)?,
            Form::Cssame => self.graph(Emit::Cssame)?,
            Form::Source => ir_source(load::unit(&self.file, &self.program.inputs())?, &self.program.inputs())?,
        };
        let text = match self.format {
            TextFormat::Text => answer.text(),
            TextFormat::Dot => answer.dot().unwrap_or_default(),
            TextFormat::Svg => answer.svg().map_err(too_large)?.unwrap_or_default(),
            TextFormat::Json => String::new(),
        };
        Ok(Rendered { answer, text })
    }

    fn print(&self, rendered: &Rendered, _: &Judged, output: &mut Output) {
        output.print(&rendered.text);
    }
}

impl Arguments {
    fn tree(&self) -> Result<IrAnswer, Diagnostics> {
        let mut sources = SourceMap::default();
        match load::program(&mut sources, &self.file, &self.program.inputs()) {
            Ok(file) => ir_tree(sources, file),
            Err(diagnostic) => Err(Diagnostics::new(sources, vec![diagnostic])),
        }
    }

    fn graph(&self, emit: Emit) -> Result<IrAnswer, Diagnostics> {
        ir(load::unit(&self.file, &self.program.inputs())?, emit)
    }
}

fn too_large(size: usize) -> Diagnostics {
    let message = format!("the graph has {size} lines, too many for a picture");
    let diagnostic = Diagnostic::general(Code::FileTooLarge, Severity::Error, message);
    Diagnostics::general(diagnostic.with_help("let Graphviz draw it: `--format dot`"))
}
