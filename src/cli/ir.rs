//! `cssame ir FILE`: the intermediate forms of a program.

use super::arguments::Job;
use super::json;
use super::load;
use super::options::{Format, OutputOptions, ProgramOptions};
use super::output::Output;
use super::status::Status;
use crate::diagnostics::Diagnostics;
use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::form::print::CssameAnnotations;
use crate::front::csm::syntax;
use crate::ir::dot::dot_program;
use crate::ir::json::{ProgramData, program_data};
use crate::ir::print::{Annotations, Plain, print_program};
use crate::ir::svg::svg_program;
use crate::model::Unit;
use crate::source::SourceMap;
use crate::ssa;
use crate::ssa::print::SsaAnnotations;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The long description of the command.
pub const ABOUT: &str = "\
Prints an intermediate form of the program:

  ast     the syntax tree, printed as a program again
  cfg     the parallel flow graph: functions of blocks of three-address code
  ssa     the same in SSA form, with phi functions
  cssame  the same in CSSAME form: a pi function before each read that concurrent writes reach

As a graph for Graphviz (`--format dot`), each function is a cluster, and dashed edges lead from a fork to its threads \
and from their ends to the join; `--format svg` draws it. The syntax tree has no such form.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame ir samples/cssame_fig2.csm
  cssame ir --emit cssame samples/peterson.csm
  cssame ir --emit cfg --format dot samples/dekker.csm | dot -Tsvg > dekker.svg";

/// Arguments of `ir`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Which form: ast, cfg, ssa or cssame
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
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Form::Ast => "ast",
            Form::Cfg => "cfg",
            Form::Ssa => "ssa",
            Form::Cssame => "cssame",
        }
    }
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

/// The answer in JSON.
#[derive(Debug, Serialize)]
struct IrReport {
    emit: &'static str,
    #[serde(flatten)]
    form: FormData,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FormData {
    /// The syntax tree is a program text.
    Tree {
        text: String,
    },
    Graph(ProgramData),
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "ir"
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.file)
    }

    fn format(&self) -> Format {
        match self.format {
            TextFormat::Text => Format::Human,
            TextFormat::Dot | TextFormat::Svg => Format::Dot,
            TextFormat::Json => Format::Json,
        }
    }

    fn output_options(&self) -> &OutputOptions {
        &self.output
    }

    fn validate(&self) -> Result<(), String> {
        match (self.emit, self.format) {
            (Form::Ast, TextFormat::Dot | TextFormat::Svg) => {
                Err("the syntax tree cannot be shown as a graph".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn execute(&self, output: &mut Output) -> Result<Status, Diagnostics> {
        let text = if self.emit == Form::Ast { self.tree()? } else { self.graph()? };
        output.print(&text);
        Ok(Status::Clean)
    }
}

impl Arguments {
    /// The syntax tree needs no names and types: a program with other errors is printed too.
    fn tree(&self) -> Result<String, Diagnostics> {
        let mut sources = SourceMap::default();
        let file = match load::read(&mut sources, &self.file) {
            Ok(file) => file,
            Err(diagnostic) => return Err(Diagnostics::new(sources, vec![diagnostic])),
        };
        let parsed = syntax::parse(&sources, file);
        if !parsed.diagnostics.is_empty() {
            return Err(Diagnostics::new(sources, parsed.diagnostics));
        }
        let text = syntax::print(&parsed.program);
        Ok(if self.format == TextFormat::Json { self.document(FormData::Tree { text }) } else { text })
    }

    fn graph(&self) -> Result<String, Diagnostics> {
        // What concurrent threads do is known only where there is a main that starts them.
        let loaded = load::unit(&self.file, &self.program.inputs)?;
        let loaded = if self.emit == Form::Cssame { loaded.with_main()? } else { loaded };
        Ok(match self.emit {
            Form::Ast | Form::Cfg => self.render(&loaded, &Plain)?,
            Form::Ssa => {
                let forms = ssa::build_program(&loaded.program);
                self.render(&loaded, &SsaAnnotations::new(&loaded.program, &forms))?
            }
            Form::Cssame => {
                let forms = ssa::build_program(&loaded.program);
                let form = crate::form::analyse(&loaded.program);
                self.render(&loaded, &CssameAnnotations::new(&loaded.program, &forms, form.as_ref()))?
            }
        })
    }

    fn render(&self, loaded: &Unit, annotations: &dyn Annotations) -> Result<String, Diagnostics> {
        let Unit { sources, program, .. } = loaded;
        Ok(match self.format {
            TextFormat::Text => print_program(program, sources, annotations),
            TextFormat::Dot => dot_program(program, sources, annotations),
            TextFormat::Svg => svg_program(program, sources, annotations).map_err(too_large)?,
            TextFormat::Json => self.document(FormData::Graph(program_data(program, sources, annotations))),
        })
    }

    fn document(&self, form: FormData) -> String {
        json::document(self.name(), self.file(), &IrReport { emit: self.emit.word(), form })
    }
}

fn too_large(size: usize) -> Diagnostics {
    let message = format!("the graph has {size} nodes and edges, too many for a picture");
    let diagnostic = Diagnostic::general(Code::FileTooLarge, Severity::Error, message);
    Diagnostics::general(diagnostic.with_help("let Graphviz draw it: `--format dot`"))
}
