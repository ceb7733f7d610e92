//! The static threads that the forks and spawns of a context create.
//!
//! **Input**: a fork or a spawn in its context, with the values of its arguments. **Output**: its threads, each with the context
//! that it runs.
//!
//! **Soundness and limits**: a thread is named after its creation: the site, its iteration, and the arm or the iteration of the
//! `parfor`. Below a thread about which nothing is known, all threads are unordered.

use super::context::{Creation, Key, Site, Unfolding};
use super::policy::Policy;
use super::value::{AbstractValue, Evaluator};
use super::{ContextId, MAIN_THREAD, Thread, ThreadId};
use cssame_ir::{FunctionId, NewThread, Program, ThreadLabel, thread_name};

/// How many threads a static thread stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instances {
    One,
    Several,
}

impl Unfolding {
    /// The pseudo-thread that counts as parallel with everything.
    pub fn unordered_thread(&mut self) -> ThreadId {
        if let Some(thread) = self.unordered {
            return thread;
        }
        let thread = self.threads.push(Thread {
            parent: Some(MAIN_THREAD),
            path: "any thread".to_owned(),
            fork: 0,
            multiple: true,
            unordered: true,
            spawned: false,
            root: ContextId(0),
            region: None,
        });
        self.unordered = Some(thread);
        thread
    }

    /// The threads of a fork: one for each new thread, or for each iteration.
    pub fn fork(
        &mut self,
        program: &Program,
        site: Site,
        threads: &[NewThread],
        iterations: Option<Vec<i64>>,
        creation: Creation,
    ) -> Vec<ThreadId> {
        let mut made = Vec::new();
        for (arm, thread) in threads.iter().enumerate() {
            let mut values = self.values(program, (site.context, site.iteration), &thread.arguments);
            match (&iterations, thread.label) {
                (Some(iterations), ThreadLabel::Iteration(label)) => {
                    for (round, &value) in iterations.iter().enumerate() {
                        if let Some(last) = values.last_mut() {
                            *last = AbstractValue::Constant(value);
                        }
                        let name = format!("{}[{round}]", program.texts.get(label));
                        let run = thread.function_of_round(round);
                        made.push(self.thread(site, round as u32, run, &name, &values, (Instances::One, creation)));
                    }
                }
                (None, ThreadLabel::Iteration(label)) => {
                    let name = format!("{}[*]", program.texts.get(label));
                    for (copy, run) in thread.functions().enumerate() {
                        let (arm, kind) = (u32::MAX - copy as u32, (Instances::Several, creation));
                        made.push(self.thread(site, arm, run, &name, &values, kind));
                    }
                }
                (_, ThreadLabel::Name(label) | ThreadLabel::Element(label)) => {
                    let number = thread.ordinal.and_then(|ordinal| {
                        let at = (site.context, site.iteration);
                        self.evaluate(program, at, |evaluator: &Evaluator<'_>| evaluator.constant(ordinal))
                    });
                    let name = thread_name(program.texts.get(label), number);
                    let kind = (Instances::One, creation);
                    made.push(self.thread(site, arm as u32, thread.function, &name, &values, kind));
                }
            }
        }
        made
    }

    fn thread(
        &mut self,
        site: Site,
        arm: u32,
        run: FunctionId,
        name: &str,
        values: &[AbstractValue],
        (instances, creation): (Instances, Creation),
    ) -> ThreadId {
        let key = Key::Site(site, arm);
        if let Some(&thread) = self.thread_keys.get(&key) {
            let root = self.threads[thread].root;
            self.raise(root, values);
            return thread;
        }
        let parent = self.contexts[site.context].thread;
        let path =
            if parent == MAIN_THREAD { name.to_owned() } else { format!("{}/{name}", self.threads[parent].path) };
        // Below the pseudo-thread nothing is ordered, and a function that is merged brings its own pseudo-thread.
        let unordered = self.threads[parent].unordered || self.policies[run.index()] == Policy::Unordered;
        let thread = self.threads.push(Thread {
            parent: Some(parent),
            path,
            fork: 0,
            multiple: instances == Instances::Several || unordered,
            unordered,
            spawned: creation == Creation::Spawn,
            root: ContextId(0),
            region: None,
        });
        self.thread_keys.insert(key, thread);
        let root = if self.policies[run.index()] == Policy::Unordered {
            self.callee(run, site)
        } else {
            self.new_context(run, thread, Some(site.context), values.len())
        };
        self.threads[thread].root = root;
        self.raise(root, values);
        thread
    }
}
