//! Random programs in C: what is found of them holds of each of their executions, and of what a C compiler makes of them.
//!
//! The programs have no undefined behaviour but races, and end (`support::c_programs`). Each must be accepted. Random executions may
//! access only what the static side knows for the access, read only from terms, and end as the explorer says; its strategies must
//! agree. Where there is a C compiler, some are compiled and run, and what they print must be one of the outcomes.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::hunt;
use cssame::budget::{Budget, Limits};
use cssame::concurrency::EventKind;
use cssame::explore::{Answer, FailureWitness, HuntRequest, OutcomeStatus, Query, Subject, by_executions, by_states};
use cssame::form::{definition_name, read_name};
use cssame::ir::{Access, DefinitionId, LeafId, ReadId};
use cssame::model::{Model, Options};
use cssame::schedule::{Random, run};
use cssame::vm::{Cell, CodeIndex, Event, FailureKind, Observer, ThreadName};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use support::{c_programs, first_seed, programs};

/// What the main thread prints, and how an execution ends.
type End = (Vec<String>, String);

/// What the programs taught.
#[derive(Debug, Default)]
struct Tally {
    refused: Vec<String>,
    too_large: u64,
    explored: u64,
    executions: u64,
    accesses: u64,
    outcomes: u64,
    terms: u64,
    compared: u64,
    compiled: u64,
    failures: u64,
    outputs: u64,
}

/// Runs of each compiled program.
const RUNS: u32 = 30;

/// A compiled program that runs for longer is blocked.
const PATIENCE: Duration = Duration::from_secs(10);

fn limits() -> Limits {
    Limits { max_states: Some(12_000), max_executions: Some(6_000), ..Limits::default() }
}

fn ends(answer: &Answer) -> BTreeSet<End> {
    let outcome = |outcome: &cssame::explore::Outcome| {
        let lines = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output));
        (lines.map(str::to_owned).collect(), outcome.status.word().to_owned())
    };
    answer.outcomes.iter().map(outcome).collect()
}

fn pairs(answer: &Answer) -> BTreeSet<(ReadId, DefinitionId)> {
    answer.terms.iter().map(|term| (term.read, term.definition)).collect()
}

/// The parts of memory that the static side knows for each access, with the element where it is known.
type Known = BTreeMap<Access, BTreeSet<(LeafId, Option<u32>)>>;

fn known(model: &Model) -> Known {
    let mut known = Known::new();
    let concurrency = &model.form().concurrency;
    for event in &concurrency.events {
        let accesses = match event.kind {
            EventKind::Read(read) => vec![Access::Read(read)],
            EventKind::Write(definition) => vec![Access::Write(definition)],
            EventKind::Update { read, definition, .. } => vec![Access::Read(read), Access::Write(definition)],
            _ => continue,
        };
        let locations = concurrency.locations_of(event).iter().map(|&at| &concurrency.locations[at]);
        let parts: Vec<_> = locations.map(|location| (location.leaf, location.element)).collect();
        for access in accesses {
            known.entry(access).or_default().extend(&parts);
        }
    }
    known
}

/// Holds an execution to what is known.
struct Watch<'a> {
    model: &'a Model,
    known: &'a Known,
    shared: &'a BTreeSet<ReadId>,
    seen: BTreeSet<(ReadId, DefinitionId)>,
    accesses: u64,
    wrong: Option<String>,
}

impl Watch<'_> {
    fn access(&mut self, access: Access, cell: Cell) {
        self.accesses += 1;
        let program = self.model.program();
        let name = program.texts.get(access.name(program));
        let Some((leaf, element)) = cell.element(program) else {
            self.wrong = Some(format!("{} of {name} is in no part of memory", access.word()));
            return;
        };
        let known = self.known.get(&access);
        if !known.is_some_and(|all| all.contains(&(leaf, None)) || all.contains(&(leaf, Some(element)))) {
            let named = |&(leaf, _): &(LeafId, Option<u32>)| program.texts.get(program.leaves[leaf].name);
            let all: Vec<_> = known.into_iter().flatten().map(named).collect();
            let place = self.model.sources().position(access.span(program));
            self.wrong = Some(format!(
                "place: {} of {name} at {place} is of {}, known are {all:?}",
                access.word(),
                cell.name(program)
            ));
        }
    }
}

impl Observer for Watch<'_> {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Read { read, cell, writer, shared, .. } => {
                self.access(Access::Read(read), cell);
                if let Some(writer) = writer
                    && (shared || self.shared.contains(&read))
                {
                    self.seen.insert((read, writer));
                }
            }
            Event::Write { definition, cell, .. } => self.access(Access::Write(definition), cell),
            _ => {}
        }
    }
}

fn named(model: &Model, &(read, definition): &(ReadId, DefinitionId)) -> String {
    let (sources, program) = (model.sources(), model.program());
    format!("{} reads {}", read_name(sources, program, read), definition_name(sources, program, definition))
}

/// Random executions, against terms and outcomes.
fn check_executions(model: &Model, answer: Option<&Answer>, tally: &mut Tally) -> Result<(), String> {
    let (form, known) = (model.form(), known(model));
    let shared: BTreeSet<ReadId> = form.shared_reads().into_iter().collect();
    let ends = answer.map(ends).unwrap_or_default();
    for seed in 0..20 {
        let mut watch =
            Watch { model, known: &known, shared: &shared, seen: BTreeSet::new(), accesses: 0, wrong: None };
        let execution = run(model.machine(), &mut Random::new(seed), 20_000, &mut watch);
        tally.executions += 1;
        tally.accesses += watch.accesses;
        if let Some(wrong) = watch.wrong {
            return Err(wrong);
        }
        for pair in &watch.seen {
            if !form.terms(pair.0).contains(&pair.1) {
                return Err(format!("law: {}, which is no term", named(model, pair)));
            }
        }
        let Some(answer) = answer else { continue };
        let end = (execution.lines(model.machine()), execution.status.word().to_owned());
        if !ends.contains(&end) {
            return Err(format!("execution: ends with {end:?}, which is no outcome"));
        }
        if let Some(pair) = watch.seen.iter().find(|(read, writer)| answer.term(*read, *writer).is_none()) {
            return Err(format!("unseen: {}, which is not seen by the explorer", named(model, pair)));
        }
    }
    Ok(())
}

/// The strategies of the explorer, and hunts, against each other.
fn check_strategies(model: &Model, answer: &Answer, tally: &mut Tally) -> Result<(), String> {
    let machine = model.machine();
    let form: BTreeSet<_> = model.form().shared_reads().into_iter().collect();
    if let Some(pair) = pairs(answer)
        .iter()
        .find(|(read, definition)| form.contains(read) && !model.form().terms(*read).contains(definition))
    {
        return Err(format!("explored: {}, which is no term", named(model, pair)));
    }
    let budget = Budget::from(limits());
    let states = by_states(machine, &Query::default(), &budget);
    let executions = by_executions(machine, &Query::default(), &budget).ok();
    for other in [Some(states), executions].into_iter().flatten().filter(Answer::is_complete) {
        tally.compared += 1;
        if ends(&other) != ends(answer) {
            let (a, b) = (ends(answer), ends(&other));
            return Err(format!("strategy: outcomes differ: {:?}", a.symmetric_difference(&b).next()));
        }
        if pairs(&other) != pairs(answer) {
            let (a, b) = (pairs(answer), pairs(&other));
            let differing: Vec<_> = a.symmetric_difference(&b).map(|pair| named(model, pair)).collect();
            return Err(format!("strategy: terms differ: {differing:?}"));
        }
    }
    let hunted = Subject::from(model).hunt(&HuntRequest { samples: 20, ..HuntRequest::default() }, &budget);
    let bad = |word: &str| word != "ok";
    let expected: BTreeSet<String> = ends(answer).into_iter().map(|(_, status)| status).filter(|of| bad(of)).collect();
    let mut found: BTreeSet<String> =
        hunted.failures.iter().map(|(witness, _)| witness.failure.kind.status().to_owned()).collect();
    found.extend((!hunted.deadlocks.is_empty()).then(|| "deadlock".to_owned()));
    if !found.is_subset(&expected) || hunted.has_all_ends && found != expected {
        return Err(format!("hunt: finds {found:?}, there are {expected:?}"));
    }
    Ok(())
}

/// The compilers of C that have their headers and their assembler: `cc` alone may be only a linker.
pub fn compilers() -> &'static [&'static str] {
    static COMPILERS: OnceLock<Vec<&'static str>> = OnceLock::new();
    let works = |compiler: &&str| {
        let folder = tempfile::tempdir().unwrap();
        let text = "#include <pthread.h>\n#include <stdio.h>\nint main(void) { return 0; }\n";
        compiled(compiler, text, folder.path()).is_ok()
    };
    COMPILERS.get_or_init(|| ["cc", "clang"].into_iter().filter(works).collect())
}

/// Compiles a program. What the compiler says is the error, and one of the generator.
pub fn compiled(compiler: &str, text: &str, folder: &Path) -> Result<PathBuf, String> {
    let (source, binary) = (folder.join("p.c"), folder.join("p"));
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-O0", "-w", "-pthread", "-DRUN", "-o"]).arg(&binary).arg(&source);
    let output = command.output().map_err(|error| format!("{compiler}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(binary) } else { Err(format!("{compiler}: {said}")) }
}

/// How a compiled program ends; one that is blocked is killed.
pub fn ran(binary: &Path, seed: u32) -> End {
    let mut command = Command::new(binary);
    command.env("CSSAME_RUN_SEED", seed.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_micros(300));
    };
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    let word = match status {
        None => "deadlock".to_owned(),
        Some(status) if status.success() => "ok".to_owned(),
        Some(status) => status.to_string(),
    };
    (text.lines().map(str::to_owned).collect(), word)
}

fn check_compiled(text: &str, answer: &Answer, name: &str, tally: &mut Tally) -> Result<(), String> {
    let folder = format!("c_programs_{}_{name}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let compiler = compilers().first();
    let held = compiler.map_or(Ok(()), |compiler| check_outputs(&compiled(compiler, text, &folder)?, answer, tally));
    let _ = std::fs::remove_dir_all(folder);
    held
}

fn check_outputs(binary: &Path, answer: &Answer, tally: &mut Tally) -> Result<(), String> {
    tally.compiled += 1;
    let mut seen = BTreeSet::new();
    let ends = ends(answer);
    for seed in 1..=RUNS {
        let end = ran(binary, seed);
        if !ends.contains(&end) {
            let near: Vec<_> = ends.iter().take(3).collect();
            return Err(format!("output: {end:?} is no outcome; some are {near:?}"));
        }
        seen.insert(end);
    }
    tally.outputs += seen.len() as u64;
    Ok(())
}

/// What is asked of a program.
#[derive(Clone, Copy, Debug)]
struct Asked {
    compiled: bool,
    /// Whether threads may block for ever.
    may_block: bool,
    /// Whether memory may be given back too early, or twice.
    may_free: bool,
}

const PLAIN: Asked = Asked { compiled: false, may_block: false, may_free: false };

fn check(text: &str, name: &str, asked: Asked, tally: &mut Tally) -> Result<(), String> {
    let model = match Model::from_text("p.c", text, &Options::default()) {
        Ok(model) => model,
        Err(problem) => {
            tally.refused.push(format!("{problem}"));
            return Ok(());
        }
    };
    cssame::ir::verify::verify(model.program()).map_err(|violations| format!("verifier: {violations:?}"))?;
    let answer = Subject::from(&model).futures(&Query::default(), &Budget::from(limits()));
    let whole = answer.is_complete().then_some(&answer);
    check_executions(&model, whole, tally)?;
    let is_of_memory =
        |kind| matches!(kind, FailureKind::UseAfterFree | FailureKind::DoubleFree | FailureKind::InvalidFree);
    tally.failures += answer.failures.len() as u64;
    let others = |witness: &&FailureWitness| !(asked.may_free && is_of_memory(witness.failure.kind));
    if let Some(failure) = answer.failures.iter().find(others) {
        return Err(format!("failure: {:?} in a program that does not fail", failure.failure.kind));
    }
    if !asked.may_block && answer.outcomes.iter().any(|outcome| outcome.status == OutcomeStatus::Deadlock) {
        return Err("deadlock: of a program that does not block".to_owned());
    }
    if whole.is_none() {
        tally.too_large += 1;
        return Ok(());
    }
    tally.explored += 1;
    tally.outcomes += answer.outcomes.len() as u64;
    tally.terms += answer.terms.len() as u64;
    check_strategies(&model, &answer, tally)?;
    if asked.compiled { check_compiled(text, &answer, name, tally) } else { Ok(()) }
}

fn kind(message: &str) -> String {
    message.split(':').next().unwrap_or_default().to_owned()
}

/// Holds random programs to the laws.
fn hold(count: u64, asked: Asked) -> Tally {
    let first = first_seed(1);
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for seed in first..first + count {
        let text = match asked.may_free {
            true => c_programs::freeing_program(seed),
            false => c_programs::program(seed, asked.may_block),
        };
        let Err(message) = check(&text, &format!("p{seed}"), asked, &mut tally) else { continue };
        let mut fails_alike = |candidate: &str| {
            check(candidate, "small", asked, &mut Tally::default()).is_err_and(|other| kind(&other) == kind(&message))
        };
        let small = c_programs::shrink(&text, &mut fails_alike);
        let last = check(&small, "small", asked, &mut Tally::default()).err().unwrap_or_default();
        failures.push(format!("seed {seed}: {last}\n(at first {message})\n{small}"));
    }
    let refused = tally.refused.len() as u64;
    assert!(failures.is_empty(), "{} programs fail\n{}", failures.len(), failures.join("\n\n"));
    assert!(refused * 20 <= count, "{refused} of {count} are refused:\n{}", tally.refused.join("\n"));
    tally
}

#[test]
fn what_is_known_holds_of_every_execution() {
    let tally = hold(programs(40), PLAIN);
    println!("{tally:?}");
    assert!(support::has_new_seed() || tally.explored > 25 && tally.accesses > 10_000);
}

#[test]
fn what_is_known_holds_where_threads_may_block() {
    let tally = hold(programs(15), Asked { may_block: true, ..PLAIN });
    println!("{tally:?}");
    assert!(support::has_new_seed() || tally.explored > 10);
}

#[test]
fn memory_that_is_given_back_too_early_is_found() {
    let tally = hold(programs(25), Asked { may_free: true, ..PLAIN });
    println!("{tally:?}");
    assert!(support::has_new_seed() || tally.failures > 10);
}

#[test]
fn compiled_programs_print_what_is_an_outcome() {
    println!("{:?}", hold(programs(15), Asked { compiled: true, ..PLAIN }));
}

#[test]
fn hunts_of_programs_in_c_find_what_brute_force_finds() {
    let (first, mut checked, mut races, mut deadlocks) = (first_seed(1), 0, 0, 0);
    for seed in first..first + programs(25) {
        let text = c_programs::program(seed, true);
        let Ok(model) = Model::from_text("p.c", &text, &Options::default()) else { continue };
        let Some((found, _)) = hunt::agrees(&model, &format!("seed {seed}\n{text}")) else { continue };
        assert!(found.failures.is_empty(), "seed {seed}\n{text}");
        checked += 1;
        races += found.races.len();
        deadlocks += found.deadlocks.len();
    }
    println!("{checked} programs, {races} races, {deadlocks} deadlocks");
    assert!(support::has_new_seed() || checked > 10 && races > 20 && deadlocks > 0);
}

/// Found by a hundred thousand random programs: an element behind a pointer was taken for the first one, and a `cas` that gives the
/// old value for one that gives 1.
const LOST_TERMS: [&str; 3] = [
    "#include <pthread.h>
#include <stdio.h>
long other;
unsigned table[2];
pthread_mutex_t lock;
int chosen = 1;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    other++;
    unsigned *element = &table[chosen & 1];
    element[0] = 5;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf(\"%u %u\\n\", table[0], table[1]);
    return 0;
}
",
    "#include <pthread.h>
#include <stdio.h>
struct s { unsigned char n; unsigned char v[2]; } ss[2];
unsigned char other;
pthread_mutex_t lock;
static void *work(void *argument) {
    struct s *q = argument;
    pthread_mutex_lock(&lock);
    other++;
    q->v[other % 2u] = 7;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, ss + 1);
    pthread_create(&two, NULL, work, &ss[1]);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf(\"%d %d\\n\", ss[1].v[0], ss[1].v[1]);
    return 0;
}
",
    "#include <pthread.h>
#include <stdio.h>
int n = 4, m;
static void *clear(void *unused) { n = 0; return unused; }
static void *swap(void *unused) {
    int old = __sync_val_compare_and_swap(&n, 0, 2);
    m = old ? 1 : n;
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, clear, NULL);
    pthread_create(&two, NULL, swap, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf(\"%d %d\\n\", n, m);
    return 0;
}
",
];

#[test]
fn no_term_is_lost_behind_a_pointer_or_a_swap() {
    for text in LOST_TERMS {
        let mut tally = Tally::default();
        check(text, "lost", PLAIN, &mut tally).unwrap();
        assert_eq!((tally.explored, tally.refused.len()), (1, 0), "{tally:?}");
    }
}

#[test]
fn what_does_not_hold_is_noticed() {
    let text = "#include <stdio.h>\n#ifdef RUN\n#define N 2\n#else\n#define N 1\n#endif\nint x = N;\n\
                int main(void) { printf(\"%d\\n\", x); return 0; }\n";
    let (asked, mut tally) = (Asked { compiled: true, ..PLAIN }, Tally::default());
    let said = check(text, "noticed", asked, &mut tally);
    assert!(tally.compiled == 0 || said.is_err_and(|message| kind(&message) == "output"));
    let model = Model::from_text("p.c", text, &Options::default()).unwrap();
    let (none, shared) = (Known::new(), BTreeSet::new());
    let mut watch =
        Watch { model: &model, known: &none, shared: &shared, seen: BTreeSet::new(), accesses: 0, wrong: None };
    run(model.machine(), &mut Random::new(1), 100, &mut watch);
    assert!(watch.wrong.is_some_and(|message| kind(&message) == "place"));
}
