//! Random programs in C, valid by construction, and a shrinker for those that show a mistake.
//!
//! **Input**: a seed. **Output**: a program that threads of POSIX run in parallel, small enough to be explored. It has no undefined
//! behaviour but races, it ends, and `main` alone prints, when all threads have ended. Compiled with `-DRUN`, it is interrupted at
//! places that the environment variable `CSSAME_RUN_SEED` decides, and fences keep the processor from doing writes late: what it
//! prints must be an outcome under sequential consistency.

mod atomic;
mod expression;
mod heap;
mod objects;
mod section;
mod shrink;
mod statement;
mod threads;
mod types;
mod walk;

pub use shrink::shrink;

use super::generate::Rng;
use expression::{Returns, Scope};
use objects::Objects;
use std::fmt::Write;
use types::Ty;

/// What stands before each program.
const HEAD: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef RUN
#include <sched.h>
#include <unistd.h>
static __thread unsigned y_state;
static void y_point(void) {
    if (y_state == 0) {
        const char *seed = getenv(\"CSSAME_RUN_SEED\");
        unsigned number = seed ? (unsigned)atoi(seed) : 0;
        y_state = (number * 2654435761u + (unsigned)((unsigned long)&y_state >> 12) * 40503u) | 1u;
    }
    y_state = y_state * 1664525u + 1013904223u;
    unsigned high = y_state >> 24;
    if (high < 64) sched_yield(); else if (high < 100) usleep(high & 31);
    __sync_synchronize();
}
#define Y() y_point()
#else
#define Y() ((void)0)
#endif
";

/// A function that threads call.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    parameters: Vec<Parameter>,
    result: Option<Ty>,
    /// So many steps, about.
    cost: i64,
    locks: bool,
}

#[derive(Clone, Debug)]
enum Parameter {
    Value(Ty),
    Pointer(Ty, bool),
    Struct,
    Mutex,
}

/// What a thread is given.
#[derive(Clone, Debug)]
enum Argument {
    Nothing,
    Number(i64),
    /// The address of a number.
    Target(String, Ty, bool),
    Struct(String),
    /// The address of a `struct job`: with a number, a pointer to a number, and a pointer to a mutex.
    Job(usize),
    /// The loop that makes the threads says which it is.
    Index,
}

struct Generator {
    rng: Rng,
    objects: Objects,
    functions: Vec<Function>,
    lines: Vec<String>,
    indent: usize,
    names: usize,
    /// Steps that are left for the function, about.
    budget: i64,
    /// How often what is written now is run.
    times: i64,
    /// Whether what was written takes a lock.
    locks: bool,
    /// Whether locks may be taken in any order.
    may_block: bool,
    /// Whether memory may be given back that others use.
    may_free: bool,
    /// What the pointer of a `struct job` points to.
    job: Option<(Ty, bool)>,
    /// The address that is given to threads of threads, if there are any.
    below: Option<String>,
}

/// A random program; if it `may_block`, threads may take locks in any order.
pub fn program(seed: u64, may_block: bool) -> String {
    program_of(seed, may_block, false)
}

/// A random program in which memory may be given back that others use, or that was given back before.
pub fn freeing_program(seed: u64) -> String {
    program_of(seed, false, true)
}

fn program_of(seed: u64, may_block: bool, may_free: bool) -> String {
    let mut rng = Rng::new(seed ^ 0x0043_0043);
    let mut objects = Objects::new(&mut rng);
    while may_free && !objects.has_struct_pointer {
        objects = Objects::new(&mut rng);
    }
    let mut it = Generator {
        rng,
        objects,
        functions: Vec::new(),
        lines: Vec::new(),
        indent: 0,
        names: 0,
        budget: 0,
        times: 1,
        locks: false,
        may_block,
        may_free,
        job: None,
        below: None,
    };
    it.whole()
}

impl Generator {
    fn line(&mut self, text: String) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.indent)));
    }

    fn spend(&mut self, steps: i64) {
        self.budget -= steps * self.times;
    }

    fn fresh(&mut self, name: &str) -> String {
        self.names += 1;
        format!("{name}{}", self.names)
    }

    fn whole(&mut self) -> String {
        self.wrappers();
        for _ in 0..self.rng.below(3) {
            self.function();
        }
        let threads = 2 + usize::from(self.rng.chance(30));
        if self.rng.chance(15) {
            self.thread_of_threads();
        }
        let signals = self.signals(threads);
        // Threads of one function, told apart by what they are given.
        let alike = signals.is_empty() && self.rng.chance(45);
        let mut arguments = Vec::new();
        if alike {
            let looped = self.rng.chance(40);
            let jobs = !looped && self.rng.chance(60);
            let job = self.rng.pick(&self.objects.parts).clone();
            self.job = (jobs && !objects::addresses(&job).is_empty()).then_some((job.ty, job.atomic));
            for _ in 0..threads {
                arguments.push(match self.job {
                    _ if looped => Argument::Index,
                    Some(_) => Argument::Job(arguments.len()),
                    None => self.alike_argument(),
                });
            }
            self.thread(0, threads, &arguments[0].clone(), &[]);
        } else {
            for number in 0..threads {
                let argument = self.argument();
                let mine: Vec<String> =
                    signals.iter().filter(|(thread, _)| *thread == number).map(|(_, text)| text.clone()).collect();
                self.thread(number, threads, &argument, &mine);
                arguments.push(argument);
            }
        }
        let of_main: Vec<String> =
            signals.iter().filter(|(thread, _)| *thread == threads).map(|(_, text)| text.clone()).collect();
        self.main(&arguments, alike, &of_main);
        let mut text = HEAD.to_owned();
        text.push_str(&self.objects.declarations);
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn locals(&mut self, scope: &mut Scope, count: usize) {
        for number in 0..count {
            let (ty, value) = (*self.rng.pick(&Ty::ALL), self.rng.below(3));
            self.line(format!("{} r{number} = {value};", ty.word()));
            scope.locals.push((format!("r{number}"), ty));
        }
        if !self.objects.pointers.is_empty() && self.rng.chance(30) {
            let index = self.rng.below(self.objects.pointers.len());
            let pointer = self.objects.pointers[index].clone();
            let qualifier = if pointer.atomic { "_Atomic " } else { "" };
            let value =
                if self.rng.chance(60) { self.rng.pick(&pointer.targets).clone() } else { pointer.name.clone() };
            self.spend(1);
            self.line(format!("{qualifier}{} *l = {value};", pointer.ty.word()));
            scope.pointers.push(("l".to_owned(), pointer.ty, pointer.atomic));
        }
    }

    fn function(&mut self) {
        let name = format!("f{}", self.functions.len());
        let result = self.rng.chance(70).then(|| *self.rng.pick(&Ty::ALL));
        let mut parameters = Vec::new();
        let mut scope = Scope { callable: self.functions.len(), ..Scope::default() };
        let mut written = Vec::new();
        for _ in 0..self.rng.below(3) {
            let number = parameters.len();
            let parameter = match self.rng.below(6) {
                0 | 1 => {
                    let ty = *self.rng.pick(&Ty::ALL);
                    scope.locals.push((format!("v{number}"), ty));
                    written.push(format!("{} v{number}", ty.word()));
                    Parameter::Value(ty)
                }
                2 | 3 => {
                    let part = self.rng.pick(&self.objects.parts).clone();
                    if !self.has_address(part.ty, part.atomic) {
                        continue;
                    }
                    scope.pointers.push((format!("v{number}"), part.ty, part.atomic));
                    let qualifier = if part.atomic { "_Atomic " } else { "" };
                    written.push(format!("{qualifier}{} *v{number}", part.ty.word()));
                    Parameter::Pointer(part.ty, part.atomic)
                }
                4 if !self.objects.structs.is_empty() => {
                    scope.structs.push(format!("v{number}"));
                    written.push(format!("struct s *v{number}"));
                    Parameter::Struct
                }
                _ => {
                    scope.mutexes.push(format!("v{number}"));
                    written.push(format!("pthread_mutex_t *v{number}"));
                    Parameter::Mutex
                }
            };
            parameters.push(parameter);
        }
        scope.returns = Some(result.map_or(Returns::Nothing, Returns::Value));
        let word = result.map_or("void", Ty::word);
        let written = if written.is_empty() { "void".to_owned() } else { written.join(", ") };
        self.line(format!("static {word} {name}({written}) {{"));
        self.indent += 1;
        (self.budget, self.locks) = (4, false);
        if scope.locals.is_empty() {
            self.locals(&mut scope, 1);
        }
        let count = 1 + self.rng.below(2);
        self.statements(&mut scope, 1, count);
        if let Some(ty) = result {
            let returned = self.returned(&scope, Returns::Value(ty));
            self.simple_return(&returned);
        }
        self.indent -= 1;
        self.line("}".to_owned());
        let (cost, locks) = ((4 - self.budget).max(1), self.locks);
        self.functions.push(Function { name, parameters, result, cost, locks });
    }

    fn simple_return(&mut self, returned: &str) {
        self.line(format!("Y(); {returned}"));
    }

    /// Addresses of parts of that type.
    fn addresses(&self, ty: Ty, atomic: bool) -> Vec<String> {
        self.objects.targets(ty, atomic)
    }

    fn has_address(&self, ty: Ty, atomic: bool) -> bool {
        !self.addresses(ty, atomic).is_empty()
    }

    /// A call with arguments, of which at most one reads something shared.
    ///
    /// One that `is_statement` may be given a local, which nothing else there uses.
    fn call_text(&mut self, scope: &Scope, index: usize, is_statement: bool) -> String {
        let Function { name, parameters, cost, locks, .. } = self.functions[index].clone();
        self.spend(cost);
        self.locks |= locks;
        let mut may_read = true;
        let mut arguments = Vec::new();
        for parameter in parameters {
            arguments.push(match parameter {
                Parameter::Value(ty) => {
                    let value = self.simple(scope, may_read);
                    may_read &= !value.shared;
                    value.fit(ty).text
                }
                Parameter::Pointer(ty, atomic) => {
                    let local = scope.pointers.iter().find(|of| (of.1, of.2) == (ty, atomic)).cloned();
                    let global = self.objects.pointers.iter().find(|of| (of.ty, of.atomic) == (ty, atomic)).cloned();
                    let own = scope.locals.iter().find(|of| !atomic && is_statement && of.1 == ty).cloned();
                    match (local, global) {
                        _ if own.is_some() && self.rng.chance(60) => {
                            format!("&{}", own.map_or_else(String::new, |(name, _)| name))
                        }
                        (Some((local, ..)), _) if self.rng.chance(40) => local,
                        (_, Some(global)) if may_read && self.rng.chance(30) => {
                            may_read = false;
                            global.name
                        }
                        _ => {
                            let addresses = self.addresses(ty, atomic);
                            self.rng.pick(&addresses).clone()
                        }
                    }
                }
                Parameter::Struct => {
                    if !scope.structs.is_empty() && self.rng.chance(60) {
                        self.rng.pick(&scope.structs).clone()
                    } else if self.objects.has_struct_pointer && may_read && self.rng.chance(30) {
                        may_read = false;
                        "ps".to_owned()
                    } else {
                        self.rng.pick(&self.objects.structs).clone()
                    }
                }
                Parameter::Mutex => {
                    let all = if scope.mutexes.is_empty() { &self.objects.mutexes } else { &scope.mutexes };
                    self.rng.pick(all).clone()
                }
            });
        }
        format!("{name}({})", arguments.join(", "))
    }
}
