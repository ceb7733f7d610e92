//! `cssame correlate FILE`: correlated variables, endangered correlations, and method pairs by rank.

use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, ProcessBounds, parse_part};
use crate::output::Output;
use crate::progress::with_budget;
use crate::record;
use crate::shared::SearchOptions;
use crate::view::correlate::{self as view, CorrelateView};
use clap::Args;
use cssame_answer::{CorrelateAnswer, CorrelateRequest, Execute, Findings, Judged, correlate, finding};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics};
use std::path::PathBuf;
use std::slice::from_ref;

/// Arguments of `correlate`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Least probability of a correlation, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = parse_part)]
    pub threshold: f64,
    /// Select pairs of a higher rank than R, from 0 to 1 (Jannesari and Wolf take 0.3)
    #[arg(long, value_name = "R", default_value_t = 0.0, value_parser = parse_part)]
    pub rank: f64,
    /// Rank pairs by sets too: any two shared variables of a set of more than two count as correlated
    #[arg(long)]
    pub sets: bool,
    /// Rank only, execute nothing
    #[arg(long = "static")]
    pub only_static: bool,
    /// Write the schedules of confirmed tears to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
}

impl Job for Arguments {
    type Answer = CorrelateAnswer;

    const HELP: Help = Help {
        name: "correlate",
        short: "Find variables that belong together, and method pairs that may tear them",
        long: "\
Finds variables that belong together: one is computed from the other, one is written under a condition on the other, \
or both are computed from a third. Then it ranks the pairs of methods that may run in parallel. A pair ranks high if \
one method accesses two such variables with synchronisation in between, so that another method can run in between and \
see, or leave, values that do not fit together.

Which variables belong together is a guess from the text, with a probability. So is the rank: it says where to test \
first. Then the pairs above the threshold are executed in all ways. An endangered access is `confirmed` if an \
execution tears the variables apart and the other method of the pair takes part in that; the execution is shown. It is \
`refuted` if no execution tears them apart. It is `elsewhere` if only other methods take part, which are named. \
Otherwise it stays `potential`.

In a program with a `main`, the methods are its functions, and those arms of a `cobegin` that access shared variables \
directly. In a file of classes without a `main`, any two public methods may run in parallel, also a method with \
itself. They are executed in programs that cssame makes for them.",
        examples: "\
Examples:
  cssame correlate samples/jannesari_fig9.csm
  cssame correlate --rank 0.3 samples/order_pool_broken.csm
  cssame correlate --sets samples/order_pool_broken.csm
  cssame correlate --threshold 0.8 --format json samples/bank_account.csm

Exit status: 0 no access is endangered, or all of them are refuted, 1 an execution tears a pair with a rank above the \
threshold, or fails or blocks in it (with --static: there is such a pair), 2 the program does not compile, 3 none was \
found so far, but an endangered access stays potential, or there are too many pairs to rank all of them.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.search.bounds.set_defaults(bounds)
    }

    fn answer(&self, output: &Output) -> Result<CorrelateAnswer, Diagnostics> {
        let unit = load::unit(&self.file, &self.search.analysis.program.inputs())?;
        let request = CorrelateRequest {
            threshold: self.threshold,
            rank: self.rank,
            sets: self.sets,
            execute: if self.only_static { Execute::Nothing } else { Execute::Selected },
            options: &self.search.options(),
        };
        let search = |budget: &Budget<'_>| correlate(unit, &request, budget);
        let answer = match request.execute {
            Execute::Selected => with_budget(&self.search.bounds, output, search),
            Execute::Nothing => search(&Budget::unlimited()),
        };
        if let Some(directory) = &self.record_dir {
            record::write_tears(directory, &self.file, &answer)?;
        }
        Ok(answer)
    }

    fn findings<'a>(&self, answer: &'a CorrelateAnswer) -> Findings<'a> {
        answer.findings(self.only_static)
    }

    fn bounds(&self, answer: &CorrelateAnswer) -> Vec<Diagnostic> {
        answer.executed.bound.map(|bound| finding::bound(bound, None)).into_iter().collect()
    }

    fn print(&self, answer: &CorrelateAnswer, _: &Judged, output: &mut Output) {
        let view = CorrelateView {
            answer,
            file: &self.file,
            bounds: &self.search.bounds.text(),
            record_dir: self.record_dir.as_deref(),
            colour: output.colour(),
        };
        output.print(&view.text());
        output.complain(&answer.executed.unit().sources, &self.bounds(answer));
        output.summary(&view::summary(answer));
    }

    /// Where nothing is executed, what the text shows is the finding.
    fn is_decided(&self, answer: &CorrelateAnswer) -> bool {
        if self.only_static { answer.correlation.complete } else { answer.is_decided() }
    }
}
