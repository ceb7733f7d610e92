//! A thread that meets others several times before it reads: a value that comes by one of the meetings stays known, whatever the
//! thread meets before or after.

use cssame::budget::{Budget, Limits};
use cssame::diagnostics::Code;
use cssame::explore::{Query, Subject, by_states, races};
use cssame::form;
use cssame::form::definition_name;
use cssame::form::races::potential_races;
use cssame::model::Model;
use std::collections::BTreeSet;
use support::generate::Rng;
use support::{first_seed, model, possible_model, programs};

/// How the reader meets another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    Event,
    Semaphore,
    Barrier,
    Join,
    /// By a third thread, which waits for one event and sets another one.
    Chain,
    /// By an event that two threads set, each behind the write.
    TwoSetters,
    /// By a semaphore that one thread raises at one of two places.
    TwoPlaces,
}

const MEETINGS: [Meeting; 7] = [
    Meeting::Event,
    Meeting::Semaphore,
    Meeting::Barrier,
    Meeting::Join,
    Meeting::Chain,
    Meeting::TwoSetters,
    Meeting::TwoPlaces,
];

/// Declarations, functions, threads, the beginning of the reader, and its meeting with the thread of that number.
fn parts(meeting: Meeting, number: usize, writes: bool) -> [String; 4] {
    let write = if writes { "a = 1; " } else { "" };
    let n = number;
    match meeting {
        Meeting::Event => {
            [format!("event e{n};"), format!("W{n}: {write}set(e{n});\n"), String::new(), format!("wait(e{n}); ")]
        }
        Meeting::Semaphore => {
            [format!("sem s{n};"), format!("W{n}: {write}V(s{n});\n"), String::new(), format!("P(s{n}); ")]
        }
        Meeting::Barrier => [
            format!("barrier b{n}(2);"),
            format!("W{n}: {write}barrier(b{n});\n"),
            String::new(),
            format!("barrier(b{n}); "),
        ],
        Meeting::Join => [
            format!("thread t{n}; void g{n}() {{ {write}skip; }}"),
            String::new(),
            format!("t{n} = spawn g{n}(); "),
            format!("join(t{n}); "),
        ],
        Meeting::Chain => [
            format!("event e{n}, f{n};"),
            format!("W{n}: {write}set(e{n});\nC{n}: wait(e{n}); set(f{n});\n"),
            String::new(),
            format!("wait(f{n}); "),
        ],
        Meeting::TwoSetters => [
            format!("event e{n}, f{n};"),
            format!("W{n}: {write}set(e{n});\nX{n}: wait(e{n}); set(f{n});\nY{n}: wait(e{n}); set(f{n});\n"),
            String::new(),
            format!("wait(f{n}); "),
        ],
        Meeting::TwoPlaces => [
            format!("sem s{n};"),
            format!("W{n}: {write}if (choose(0, 1) == 0) V(s{n}); else V(s{n});\n"),
            String::new(),
            format!("P(s{n}); "),
        ],
    }
}

/// The program in which the thread of one meeting writes.
fn program(meetings: &[Meeting], writer: usize) -> String {
    let parts: Vec<[String; 4]> =
        meetings.iter().enumerate().map(|(number, &meeting)| parts(meeting, number, number == writer)).collect();
    let all = |part: usize| parts.iter().map(|parts| parts[part].as_str()).collect::<String>();
    format!("int a; {}\ncobegin\n{}R: {}{}print(a);\ncoend\n", all(0), all(1), all(2), all(3))
}

/// Holds one program to what executions see; `Err` says what is wrong.
fn check(text: &str) -> Result<(), String> {
    let model = model(text);
    let (program, form) = (model.program(), model.form());
    let read = program.reads.ids().find(|read| form.concurrency.sharing.read(*read));
    // A thread of its own that has ended shares nothing with it.
    let Some(read) = read else { return not_blamed(&model, text) };
    let names = |definitions: &mut dyn Iterator<Item = cssame::ir::DefinitionId>| -> BTreeSet<String> {
        definitions.map(|definition| definition_name(model.sources(), program, definition)).collect()
    };
    let told = names(&mut form.terms(read).into_iter());
    let answer = Subject::from(&model).futures(&Query::default(), &Budget::unlimited());
    let seen = names(&mut answer.terms.iter().filter(|term| term.read == read).map(|term| term.definition));
    if told != seen || seen.len() != 1 {
        return Err(format!("terms {told:?}, seen {seen:?}\n{text}"));
    }
    not_blamed(&model, text)
}

fn not_blamed(model: &Model, text: &str) -> Result<(), String> {
    let found = form::check::check(model.sources(), model.program(), Some(model.form()));
    let blamed = found.iter().find(|one| one.code == Code::UnprotectedAccess);
    blamed.map_or(Ok(()), |one| Err(format!("{}\n{text}", one.message)))
}

#[test]
fn a_value_that_came_by_one_meeting_stays_known() {
    let two = MEETINGS.iter().flat_map(|&first| MEETINGS.map(|second| vec![first, second]));
    let three = two.clone().flat_map(|two| MEETINGS.map(|third| [two.clone(), vec![third]].concat()));
    let (mut tried, mut wrong) = (0, Vec::new());
    for meetings in two.clone().chain(three) {
        for writer in 0..meetings.len() {
            tried += 1;
            wrong.extend(check(&program(&meetings, writer)).err());
        }
    }
    assert_eq!(tried, 2 * 49 + 3 * 343);
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
}

/// A statement that meets others, or reads or writes.
fn statement(random: &mut Rng, depth: u32) -> String {
    let (n, value) = (random.below(2), random.below(3));
    match random.below(if depth < 2 { 14 } else { 12 }) {
        0 => format!("set(e{n});"),
        1 | 2 => format!("wait(e{n});"),
        3 => format!("V(s{n});"),
        4 => format!("P(s{n});"),
        5 => "barrier(b);".to_owned(),
        6 => format!("clear(e{n});"),
        7 => format!("x{n} = {value};"),
        8 => format!("x{n} = x{} + 1;", 1 - n),
        9 | 10 => format!("print(x{n});"),
        11 => format!("lock(l); x{n} = {value}; unlock(l);"),
        12 => format!("if (x{n} == {value}) {{ {} }}", statement(random, depth + 1)),
        _ => format!(
            "cobegin A{depth}{n}: {} B{depth}{n}: {} coend",
            statement(random, depth + 1),
            statement(random, depth + 1)
        ),
    }
}

fn random_program(seed: u64) -> String {
    let random = &mut Rng::new(seed);
    let mut text = "int x0, x1; event e0, e1; sem s0, s1; barrier b(2); lock l; thread t;\nvoid g() { ".to_owned();
    (0..random.below(3)).for_each(|_| text += &(statement(random, 2) + " "));
    text += "}\ncobegin\n";
    for thread in 0..2 + random.below(2) {
        text += &format!("T{thread}: ");
        let spawns = thread == 0 && random.below(2) == 0;
        text += if spawns { "t = spawn g(); " } else { "" };
        (0..1 + random.below(4)).for_each(|_| text += &(statement(random, 0) + " "));
        text += if spawns { "join(t); " } else { "skip; " };
        text += &(statement(random, 2) + "\n");
    }
    text + "coend\nprint(x0 + x1);\n"
}

#[test]
fn no_execution_shows_what_meetings_are_said_to_prevent() {
    let (mut compared, mut ordered, mut wrong) = (0, 0, Vec::new());
    for seed in first_seed(0)..first_seed(0) + programs(800) {
        let text = random_program(seed);
        let Some(model) = possible_model(&text) else { continue };
        let limits = Limits { max_states: Some(20_000), ..Limits::default() };
        let seen = by_states(model.machine(), &Query::default(), &limits.into());
        let racing = races(model.machine(), model.program(), &[], &limits.into());
        let (program, form) = (model.program(), model.form());
        compared += u64::from(seen.is_complete());
        ordered += u64::from(form.concurrency.signals().next().is_some());
        let shared = |read| form.concurrency.sharing.read(read);
        let untold = seen.terms.iter().find(|one| shared(one.read) && !form.terms(one.read).contains(&one.definition));
        let potential = potential_races(program, form);
        let missed = racing.races.iter().find(|race| !potential.contains(race.accesses[0], race.accesses[1]));
        if untold.is_some() || missed.is_some() {
            wrong.push(format!("seed {seed}: {untold:?}, {:?}\n{text}", missed.map(|race| race.accesses)));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert!(support::has_new_seed() || compared > 300 && ordered > 200, "{compared}, {ordered}");
}
