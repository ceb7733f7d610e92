//! The program with copies does the steps of the program: both run side by side.

use super::hold;
use super::places::{Contexts, Pair};
use cssame::form::{definition_name, read_name};
use cssame::vm::{Choice, CodeIndex, Event, Observer, Progress, Tables, ThreadName};
use support::generate::Rng;
use support::programs;

/// Names of what an execution reads.
#[derive(Default)]
struct Reads(Vec<Pair>);

impl Observer for Reads {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.push((read, definition));
        }
    }
}

/// Runs a model and its copies side by side, by random steps: the same steps are possible, and do the same.
fn side_by_side(contexts: &Contexts, rng: &mut Rng) -> Result<(), String> {
    let Some(copies) = &contexts.copies else { return Ok(()) };
    let models = [&contexts.plain, copies];
    let mut tables = [Tables::new(), Tables::new()];
    let mut reads = [Reads::default(), Reads::default()];
    let mut states = [0, 1].map(|side: usize| models[side].machine().start(&mut tables[side], &mut reads[side]));
    for _ in 0..400 {
        let mut moves = [Vec::new(), Vec::new()];
        let mut names = [Vec::new(), Vec::new()];
        for side in 0..2 {
            let (machine, state) = (models[side].machine(), &states[side]);
            machine.enabled(state, &mut moves[side]);
            let naming = models[side].naming();
            let named = |&choice: &Choice| {
                naming.step(state, &tables[side], choice, machine.alternatives(state, choice.thread))
            };
            names[side] = moves[side].iter().map(named).collect();
        }
        if names[0] != names[1] || moves[0] != moves[1] {
            return Err(format!("steps: {:?} against {:?}", names[0], names[1]));
        }
        if moves[0].is_empty() {
            break;
        }
        let chosen = *rng.pick(&moves[0]);
        let progress = [0, 1].map(|side: usize| {
            models[side].machine().step(&mut states[side], &mut tables[side], chosen, &mut reads[side])
        });
        let told = [0, 1].map(|side: usize| match progress[side] {
            Progress::Failed(failure) => {
                format!(
                    "{:?} {}",
                    failure.kind,
                    models[side].sources().position(models[side].machine().span(failure.at))
                )
            }
            other => format!("{other:?}"),
        });
        if told[0] != told[1] {
            return Err(format!("progress: {} against {}", told[0], told[1]));
        }
        if progress[0] != Progress::Running {
            break;
        }
    }
    let seen = [0, 1].map(|side: usize| {
        let (sources, program) = (models[side].sources(), models[side].program());
        let name = |&(read, of): &Pair| (read_name(sources, program, read), definition_name(sources, program, of));
        reads[side].0.iter().map(name).collect::<Vec<_>>()
    });
    let printed = [0, 1].map(|side: usize| {
        let (machine, tables) = (models[side].machine(), &tables[side]);
        let lines = |&(path, output): &_| (machine.path_name(tables, path), format!("{:?}", tables.lines(output)));
        machine.outputs(&states[side], tables).iter().map(lines).collect::<Vec<_>>()
    });
    if seen[0] != seen[1] {
        return Err(format!("reads: {:?} against {:?}", seen[0], seen[1]));
    }
    if printed[0] != printed[1] { Err(format!("output: {:?} against {:?}", printed[0], printed[1])) } else { Ok(()) }
}

#[test]
fn the_copies_do_the_steps_of_the_program() {
    let programs = programs(75);
    let mut runs = 0;
    hold(programs, 1 << 40, &mut |source, seed| {
        let Some(contexts) = Contexts::new(source) else { return Ok(()) };
        let mut rng = Rng::new(seed);
        runs += 10 * u64::from(contexts.copies.is_some());
        (0..10).try_for_each(|_| side_by_side(&contexts, &mut rng))
    });
    println!("{runs} executions side by side");
}
