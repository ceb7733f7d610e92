//! From the numbers of the search to names.

use super::code::NONE;
use super::local::Machine;
use super::search::{EVENT_WORDS, Found};
use super::{Explored, Future, Outcome, ReadFrom, ways};
use cssame::source::SourceFile;

pub fn report(machine: &Machine<'_>, found: &Found, file: &SourceFile) -> Explored {
    let mut explored = Explored {
        complete: found.complete,
        executions: found.executions,
        discarded: found.discarded,
        ..Explored::default()
    };
    let name = |id: u32| machine.code.names.text(id).to_owned();
    for &(read, def, shared) in &found.pairs {
        explored.pairs.insert((name(read), name(def)));
        if shared {
            explored.shared_reads.insert(name(read));
        }
    }
    ways::report(machine, found, file, &mut explored);
    for (variable, visible) in machine.code.variables.iter().zip(&machine.visible) {
        if *visible {
            explored.shared_variables.insert(variable.name.clone());
        }
    }
    for ((status, outputs), count) in &found.outcomes {
        let mut threads = outputs.clone();
        threads.sort_by_key(|(path, _)| (machine.path_keys.get(path), *path));
        let output = threads.into_iter().map(|(path, output)| (path_text(machine, path), lines(machine, output)));
        let outcome = Outcome { output: output.collect(), status: status.word().to_owned() };
        *explored.counts.entry(outcome).or_insert(0) += count;
    }
    explored.outcomes = explored.counts.keys().cloned().collect();
    explored.futures = found.futures.iter().map(|words| future(machine, found, words, file)).collect();
    explored
}

pub fn path_text(machine: &Machine<'_>, path: u32) -> String {
    if path == NONE { String::new() } else { machine.paths.text(path).to_owned() }
}

pub fn lines(machine: &Machine<'_>, mut output: u32) -> Vec<String> {
    let mut lines = Vec::new();
    while output != NONE {
        let (line, before) = machine.outputs[output as usize];
        lines.push(machine.lines.text(line).to_owned());
        output = before;
    }
    lines.reverse();
    lines
}

fn future(machine: &Machine<'_>, found: &Found, words: &[u32], file: &SourceFile) -> Future {
    let status = found.statuses[words[0] as usize].word().to_owned();
    let (blocked, events) = words[2..].split_at(2 * words[1] as usize);
    let mut future = Future { reads: Vec::new(), choices: Vec::new(), status, blocked: Vec::new() };
    for pair in blocked.chunks_exact(2) {
        future.blocked.push((path_text(machine, pair[0]), file.position(pair[1]).to_string()));
    }
    for event in events.chunks_exact(EVENT_WORDS) {
        let thread = path_text(machine, event[0]);
        if event[2] == NONE {
            future.choices.push((thread, event[1], event[5] as i32));
        } else {
            future.reads.push(ReadFrom {
                thread,
                ordinal: event[1],
                read: machine.code.names.text(event[2]).to_owned(),
                writer_thread: path_text(machine, event[4]),
                writer_ordinal: event[5],
                def: machine.code.names.text(event[3]).to_owned(),
            });
        }
    }
    future.blocked.sort();
    future.choices.sort();
    future.reads.sort();
    future
}
