//! Broken programs: bytes and tokens of every sample are changed, and every command is called with the result.
//!
//! A command may find anything, but it ends with a status from 0 to 3, without an internal error, within 2 GiB of address
//! space. `CSSAME_MUTANTS` is the number of mutants (each is given to every command), `CSSAME_MUTANT_SEED` the first seed. How far
//! commands went beyond their `--timeout` is printed, not judged.

use crate::process::{Files, finish, program};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Mutants without a wish of the user.
const MUTANTS: u64 = 15;

/// Address space of a call, in KiB.
const MEMORY: u32 = 2 << 20;

/// The time that a command is given where it takes a bound.
const TIMEOUT: Duration = Duration::from_millis(300);

/// The commands, and whether they take a bound on the time.
const COMMANDS: [(&str, bool); 15] = [
    ("check", false),
    ("check --confirm", true),
    ("ir --emit ast", false),
    ("ir --emit cfg", false),
    ("ir --emit cssame", false),
    ("pi", false),
    ("run --max-steps 20000", false),
    ("run --seeds 0..200 --max-steps 20000", true),
    ("futures", true),
    ("correlate", true),
    ("races", true),
    ("paths", true),
    ("coverage --runs 20", true),
    ("drive --out out", true),
    ("drive --target java --out java", true),
];

/// Tokens that are put into programs: each is at home somewhere.
const TOKENS: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "=",
    "+",
    "/",
    "0",
    "-1",
    "9223372036854775807",
    "x",
    "lock",
    "unlock",
    "while",
    "if",
    "cobegin",
    "coend",
    "int",
    "atomic",
    "wait",
    "\"",
];

/// The SplitMix64 sequence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// The places where tokens begin, and the end of the text.
fn tokens(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut in_word = false;
    for (at, each) in text.char_indices() {
        let is_word = each.is_alphanumeric() || each == '_';
        if !each.is_whitespace() && !(is_word && in_word) {
            places.push(at);
        }
        in_word = is_word;
    }
    places.push(text.len());
    places
}

/// Changes a few bytes: other ones, some left out, some twice.
fn with_other_bytes(text: &str, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(bytes.len());
        let end = (at + 1 + numbers.below(12)).min(bytes.len());
        match numbers.below(3) {
            0 => bytes[at] = numbers.next() as u8,
            1 => drop(bytes.drain(at..end)),
            _ => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

/// Changes a few tokens: other ones, some left out, some twice, two of them exchanged.
fn with_other_tokens(text: &str, numbers: &mut Numbers) -> Vec<u8> {
    let mut text = text.to_owned();
    for _ in 0..=numbers.below(3) {
        let places = tokens(&text);
        if places.len() < 3 {
            break;
        }
        let first = numbers.below(places.len() - 1);
        let range = places[first]..places[first + 1];
        let token = text[range.clone()].to_owned();
        match numbers.below(4) {
            0 => text.replace_range(range, &format!("{} ", TOKENS[numbers.below(TOKENS.len())])),
            1 => text.replace_range(range, ""),
            2 => text.insert_str(range.start, &token),
            _ => {
                let second = numbers.below(places.len() - 1);
                let other = text[places[second]..places[second + 1]].to_owned();
                text.replace_range(range, &other);
            }
        }
    }
    text.into_bytes()
}

fn samples() -> Vec<String> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in ["samples", "samples/classes"] {
        paths.extend(fs::read_dir(crate::process::root().join(folder)).unwrap().flatten().map(|entry| entry.path()));
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "csm"));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// The program behind a limit of its address space.
fn limited(directory: &Files) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(program().get_program());
    command.current_dir(directory.0.path());
    command
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// Gives a mutant to every command; what is wrong, and the longest time beyond a bound.
fn try_mutant(samples: &[String], seed: u64) -> (Vec<String>, (Duration, String)) {
    let mut numbers = Numbers(seed);
    let text = &samples[(seed % samples.len() as u64) as usize];
    let change = if (seed / samples.len() as u64).is_multiple_of(2) { with_other_tokens } else { with_other_bytes };
    let mutant = change(text, &mut numbers);
    let files = Files::new();
    files.write("m.csm", &mutant);
    let (mut wrong, mut late) = (Vec::new(), (Duration::ZERO, String::new()));
    for (line, is_bounded) in COMMANDS {
        let mut command = limited(&files);
        command.args(line.split_whitespace()).arg("m.csm");
        if is_bounded {
            command.args(["--timeout", &TIMEOUT.as_secs_f64().to_string()]);
        }
        let begin = Instant::now();
        let answer = finish(&mut command);
        if is_bounded {
            late = late.max((begin.elapsed().saturating_sub(TIMEOUT), format!("seed {seed}: {line}")));
        }
        if !(0..=3).contains(&answer.status) {
            wrong.push(format!("seed {seed}: {line}: {answer:?}\n{}", String::from_utf8_lossy(&mutant)));
        }
    }
    (wrong, late)
}

#[test]
fn every_command_survives_broken_programs() {
    let (samples, first) = (samples(), number("CSSAME_MUTANT_SEED", 0));
    let end = first + support::programs(number("CSSAME_MUTANTS", MUTANTS));
    let next = AtomicU64::new(first);
    let found: Mutex<(Vec<String>, (Duration, String))> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let (wrong, late) = try_mutant(&samples, seed);
                    let mut found = found.lock().unwrap();
                    found.0.extend(wrong);
                    found.1 = late.max(std::mem::take(&mut found.1));
                }
            });
        }
    });
    let (wrong, late) = found.into_inner().unwrap();
    let (late, of) = late;
    println!("{} mutants; at most {late:?} beyond a bound of {TIMEOUT:?} ({of})", end - first);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
