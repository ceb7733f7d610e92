//! Packages of parallel unit tests: for pairs of methods, executions that tear them, and their serial orders.
//!
//! In: the programs in which the pairs run, and for each pair its executions, or the reason why there is none. Out: a [`Package`]
//! of the same form as for terms, with one test for each execution; two tears in one execution share a test. A test of a tear
//! fails with a description of the tear, unless the recorded behaviour is expected. If the pairs run in several programs, each
//! program is a module.

use super::manifest::{Manifest, PairEntry, PairTestEntry};
use super::names::Names;
use super::parts::Module;
use super::plan::End;
use super::planner::plan;
use super::test_case::TestCase;
use super::{DriveError, Input, MAX_STEPS, Options, Package, package};
use cssame_budget::Bound;
use cssame_correlation::Status;
use cssame_correlation::report::Counts;
use cssame_vm::Choice;

/// What a test shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseKind {
    /// A method is torn between two variables.
    Tear {
        /// The two.
        variables: [String; 2],
        /// How it touches each: `read` or `write`.
        accesses: [&'static str; 2],
        /// Who comes between, in this order.
        by: Vec<String>,
    },
    /// The method runs before the other one.
    Serial,
    /// The two fail or block in parallel, with that status.
    End(&'static str),
}

/// A test that is wanted.
#[derive(Clone, Debug)]
pub struct PairCase {
    /// What it shows.
    pub kind: CaseKind,
    /// Who is torn, or who comes first.
    pub method: String,
    /// Index of the program in which it runs.
    pub program: Option<usize>,
    /// The execution, or why there is none.
    pub schedule: Result<Vec<Choice>, String>,
}

/// A pair of methods.
#[derive(Clone, Debug)]
pub struct PairCases {
    /// The two.
    pub methods: [String; 2],
    /// From 0 to 1.
    pub rank: f64,
    /// What executions show of it.
    pub status: Status,
    /// The `main` that was added to the file.
    pub context: Option<String>,
    /// The tests that are wanted.
    pub cases: Vec<PairCase>,
}

/// A package with the tests of some pairs. `programs` are what they run in; `bound` has stopped the search for executions.
///
/// # Errors
///
/// A program has no `main`, or is one in C that the target cannot write.
pub fn drive_pairs(
    programs: &[Input<'_>],
    pairs: &[PairCases],
    counts: &Counts,
    (bound, states): (Option<Bound>, u64),
    options: &Options,
) -> Result<Package, DriveError> {
    let mut manifest = Manifest::new(options, bound, states);
    let mut writer = Writer { programs, options, names: Names::of_tests(), cases: Vec::new(), steps: 0 };
    let entries: Vec<PairEntry> = pairs.iter().map(|pair| writer.pair(pair)).collect();
    let cases = writer.cases;
    manifest.set_pairs(entries, counts);
    package(&modules(programs), &cases, manifest, options)
}

/// The programs with the names of their modules.
fn modules<'a>(programs: &[Input<'a>]) -> Vec<Module<'a>> {
    let module = |(index, &input)| Module { name: module(programs.len(), index), input };
    programs.iter().enumerate().map(module).collect()
}

/// The name of a program, of so many.
fn module(count: usize, index: usize) -> Option<String> {
    (count > 1).then(|| format!("context_{}", index + 1))
}

struct Writer<'a> {
    programs: &'a [Input<'a>],
    options: &'a Options,
    names: Names<'static>,
    cases: Vec<TestCase>,
    /// Of all tests so far.
    steps: usize,
}

impl Writer<'_> {
    fn pair(&mut self, pair: &PairCases) -> PairEntry {
        let mut known: Vec<(usize, &[Choice], String)> = Vec::new();
        let mut tests = Vec::new();
        for case in &pair.cases {
            let made = match (&case.schedule, case.program) {
                (Err(reason), _) => Err(reason.clone()),
                (Ok(_), None) => Err("there is no program to run it in".to_owned()),
                (Ok(schedule), Some(program)) => {
                    let same = known.iter().find(|(of, known, _)| *of == program && known == schedule);
                    same.map_or_else(|| self.test(pair, case, schedule, program), |(_, _, test)| Ok(test.clone()))
                }
            };
            if let (Ok(schedule), Some(program), Ok(test)) = (&case.schedule, case.program, &made) {
                known.push((program, schedule, test.clone()));
            }
            tests.push(entry(case, made));
        }
        let PairCases { methods, rank, status, context, .. } = pair.clone();
        PairEntry { methods, rank, status, context, tests }
    }

    /// Adds a test; its name, or why there is none.
    fn test(
        &mut self,
        pair: &PairCases,
        case: &PairCase,
        schedule: &[Choice],
        program: usize,
    ) -> Result<String, String> {
        if self.steps + schedule.len() > MAX_STEPS {
            return Err("it is not written: the tests of the package are too long already".to_owned());
        }
        let input = &self.programs[program];
        let plan = plan(input, schedule, self.options.max_steps)
            .map_err(|reason| format!("the execution that shows it {reason}"))?;
        self.steps += schedule.len();
        let [first, second] = &pair.methods;
        let other = if *first == case.method { second } else { first };
        let (wanted, title, violation) = match &case.kind {
            CaseKind::Tear { variables: [one, two], accesses, by } => {
                let others = by.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let verb = if by.len() > 1 { "come" } else { "comes" };
                let [how, then] = accesses;
                (
                    format!("{}_torn_by_{other}_between_{one}_and_{two}", case.method),
                    format!("`{}` {how}s `{one}` and {then}s `{two}`; {others} {verb} between.", case.method),
                    Some(format!("`{}` is torn between `{one}` and `{two}` by {others}", case.method)),
                )
            }
            CaseKind::Serial => (
                format!("{}_before_{other}", case.method),
                format!("First `{}`, then `{other}`; they do not overlap.", case.method),
                None,
            ),
            CaseKind::End(status) => (
                format!("{}_beside_{other}_{}", case.method, status.replace('-', "_")),
                format!("`{}` and `{other}` in parallel: {status}.", case.method),
                None,
            ),
        };
        // Where the program fails, that is said.
        let violation = violation.filter(|_| plan.end == End::Ok);
        let name = self.names.fresh(&wanted);
        let main = module(self.programs.len(), program);
        let test = TestCase::of_pair(input, name.clone(), main, title, plan, schedule);
        self.cases.push(test.expecting(self.options.expect, violation));
        Ok(name)
    }
}

fn entry(case: &PairCase, made: Result<String, String>) -> PairTestEntry {
    let (kind, variables, accesses) = match &case.kind {
        CaseKind::Tear { variables, accesses, .. } => ("tear", Some(variables.clone()), Some(*accesses)),
        CaseKind::Serial => ("serial", None, None),
        CaseKind::End(_) => ("end", None, None),
    };
    let (test, reason) = match made {
        Ok(test) => (Some(test), None),
        Err(reason) => (None, Some(reason)),
    };
    PairTestEntry { kind, method: case.method.clone(), variables, accesses, test, reason }
}
