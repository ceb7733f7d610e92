//! Threads of random programs: what they get, what they run, and what `main` does with them.
//!
//! **Input**: the objects and functions of the program. **Output**: the functions of its threads, and `main`, which makes them, waits
//! for them, and prints.

use super::expression::{Returns, Scope};
use super::objects;
use super::types::{Ex, Ty};
use super::{Argument, Generator};
use std::fmt::Write;

impl Generator {
    /// What a thread makes.
    pub(super) fn thread_of_threads(&mut self) {
        let part = self.rng.pick(&self.objects.parts).clone();
        let addresses = objects::addresses(&part);
        if addresses.is_empty() {
            return;
        }
        self.below = Some(self.rng.pick(&addresses).clone());
        let mut scope = Scope { callable: self.functions.len(), ..Scope::default() };
        self.line("static void *below(void *arg) {".to_owned());
        self.indent += 1;
        let qualifier = if part.atomic { "_Atomic " } else { "" };
        self.line(format!("{qualifier}{} *to = arg;", part.ty.word()));
        scope.pointers.push(("to".to_owned(), part.ty, part.atomic));
        self.budget = 4;
        let count = 1 + self.rng.below(2);
        self.statements(&mut scope, 1, count);
        self.line("return NULL;".to_owned());
        self.indent -= 1;
        self.line("}".to_owned());
    }

    pub(super) fn wrappers(&mut self) {
        for text in [
            "static void take(pthread_mutex_t *lock) { Y(); pthread_mutex_lock(lock); }",
            "static void give(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }",
            "static int attempt(pthread_mutex_t *lock) { Y(); return pthread_mutex_trylock(lock); }",
        ] {
            self.line(text.to_owned());
        }
        if !self.objects.structs.is_empty() {
            self.line("static void enter(struct s *of) { Y(); pthread_mutex_lock(&of->m); }".to_owned());
            self.line("static void leave(struct s *of) { give(&of->m); }".to_owned());
            self.line("static struct in turned(struct in of) {".to_owned());
            self.line("    struct in it = { of.b, of.a };".to_owned());
            self.line("    Y();".to_owned());
            self.line("    return it;".to_owned());
            self.line("}".to_owned());
        }
    }

    /// What one thread signals and others wait for: whom, and a statement.
    pub(super) fn signals(&mut self, threads: usize) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        if self.rng.chance(20) {
            self.objects.declarations.push_str(
                "pthread_mutex_t cm = PTHREAD_MUTEX_INITIALIZER;\npthread_cond_t cv = PTHREAD_COND_INITIALIZER;\nint ready;\n",
            );
            let mut waiting = 0;
            for thread in 1..=threads {
                if waiting == 0 || self.rng.chance(30) {
                    waiting += 1;
                    let extra = if self.rng.chance(50) { " ready++;" } else { "" };
                    all.push((
                        thread,
                        format!(
                            "pthread_mutex_lock(&cm); while (ready == 0) pthread_cond_wait(&cv, &cm);{extra} pthread_mutex_unlock(&cm);"
                        ),
                    ));
                }
            }
            let wakes = if waiting > 1 || self.rng.chance(50) { "broadcast" } else { "signal" };
            let (inside, outside) = if self.rng.chance(70) {
                (format!("pthread_cond_{wakes}(&cv); "), String::new())
            } else {
                (String::new(), format!(" pthread_cond_{wakes}(&cv);"))
            };
            all.push((0, format!("pthread_mutex_lock(&cm); ready = 1; {inside}pthread_mutex_unlock(&cm);{outside}")));
        } else if self.rng.chance(20) {
            self.objects.declarations.push_str("sem_t go;\n");
            let waiting = 1 + self.rng.below(threads);
            for thread in 1..=waiting {
                all.push((thread, "sem_wait(&go);".to_owned()));
            }
            all.push((0, "sem_post(&go); ".repeat(waiting)));
        } else if self.rng.chance(10) {
            self.objects.declarations.push_str("pthread_barrier_t bar;\n");
            for thread in 0..threads {
                all.push((thread, "pthread_barrier_wait(&bar);".to_owned()));
            }
        }
        all
    }

    pub(super) fn argument(&mut self) -> Argument {
        match self.rng.below(8) {
            0 | 1 => Argument::Number(self.rng.range(-1, 3)),
            2 | 3 => {
                let part = self.rng.pick(&self.objects.parts).clone();
                let addresses = objects::addresses(&part);
                if addresses.is_empty() {
                    return Argument::Nothing;
                }
                Argument::Target(self.rng.pick(&addresses).clone(), part.ty, part.atomic)
            }
            4 => Argument::Target("&of_main".to_owned(), Ty::Short, false),
            5 | 6 if !self.objects.structs.is_empty() => {
                if self.rng.chance(30) {
                    Argument::Struct("&own".to_owned())
                } else {
                    Argument::Struct(self.rng.pick(&self.objects.structs).clone())
                }
            }
            _ => Argument::Nothing,
        }
    }

    /// The first one decides what kind it is; `main` gives the others what it was given where they are not alike.
    pub(super) fn alike_argument(&mut self) -> Argument {
        match self.rng.below(2) {
            0 if !self.objects.structs.is_empty() => Argument::Struct(self.rng.pick(&self.objects.structs).clone()),
            _ => Argument::Number(self.rng.range(0, 2)),
        }
    }

    pub(super) fn thread(&mut self, number: usize, threads: usize, argument: &Argument, signals: &[String]) {
        self.line(format!("static void *w{number}(void *arg) {{"));
        self.indent += 1;
        (self.budget, self.locks) = (if threads == 2 { 18 } else { 10 }, false);
        let mut scope = Scope { callable: self.functions.len(), ..Scope::default() };
        match argument {
            Argument::Nothing => {}
            Argument::Number(_) | Argument::Index => {
                let ty = *self.rng.pick(&[Ty::Int, Ty::Long, Ty::Long, Ty::UChar]);
                self.line(format!("{} id = ({})(long)arg;", ty.word(), ty.word()));
                scope.locals.push(("id".to_owned(), ty));
            }
            Argument::Target(_, ty, atomic) => {
                let qualifier = if *atomic { "_Atomic " } else { "" };
                if self.rng.chance(50) {
                    self.line(format!("Y(); {} id = *({qualifier}{} *)arg;", ty.word(), ty.word()));
                    scope.locals.push(("id".to_owned(), *ty));
                    self.spend(1);
                } else {
                    self.line(format!("{qualifier}{} *to = arg;", ty.word()));
                    scope.pointers.push(("to".to_owned(), *ty, *atomic));
                }
            }
            Argument::Struct(_) => {
                let cast = ["", "(struct s *)"][self.rng.below(2)];
                self.line(format!("struct s *q = {cast}arg;"));
                scope.structs.push("q".to_owned());
                if let Some((ty, atomic)) = self.objects.link {
                    scope.pointers.push(("q->to".to_owned(), ty, atomic));
                }
            }
            Argument::Job(_) => {
                let Some((ty, atomic)) = self.job else { return };
                let qualifier = if atomic { "_Atomic " } else { "" };
                self.line("struct job *j = arg;".to_owned());
                let at = self.lines.iter().position(|line| line.contains("static void *w")).unwrap_or(0);
                let members = format!("long id; {qualifier}{} *to; pthread_mutex_t *lock;", ty.word());
                self.lines.insert(at, format!("struct job {{ {members} }};"));
                if self.rng.chance(50) {
                    self.line("Y(); long id = j->id;".to_owned());
                    scope.locals.push(("id".to_owned(), Ty::Long));
                }
                if self.rng.chance(50) {
                    self.line(format!("Y(); {qualifier}{} *to = j->to;", ty.word()));
                    scope.pointers.push(("to".to_owned(), ty, atomic));
                } else {
                    scope.pointers.push(("j->to".to_owned(), ty, atomic));
                }
                scope.mutexes.push("j->lock".to_owned());
            }
        }
        let count = 1 + self.rng.below(2);
        self.locals(&mut scope, count);
        let count = 2 + self.rng.below(if threads == 2 { 4 } else { 3 });
        let at = self.rng.below(count);
        self.statements(&mut scope, 2, at);
        for signal in signals {
            self.line(format!("Y(); {signal}"));
            self.spend(3);
        }
        let below = self.below.clone().filter(|_| self.rng.chance(60));
        if let Some(address) = &below {
            self.line("pthread_t sub;".to_owned());
            self.line(format!("Y(); pthread_create(&sub, NULL, below, {address});"));
        }
        scope.returns = below.is_none().then_some(Returns::Null);
        self.statements(&mut scope, 2, count - at);
        if below.is_some() {
            self.line("pthread_join(sub, NULL);".to_owned());
        }
        let result = match self.rng.below(4) {
            0 if !scope.locals.is_empty() => {
                let (name, ty) = self.rng.pick(&scope.locals).clone();
                let value = Ex::own(name, ty, ty.held()).cast(Ty::Short).text;
                format!("return (void *)(long){value};")
            }
            1 => "pthread_exit(NULL);".to_owned(),
            _ => "return NULL;".to_owned(),
        };
        for (name, ty) in scope.locals.clone() {
            if self.rng.chance(90) && name.starts_with('r') {
                let out = format!("out_{number}_{name}");
                let _ = writeln!(self.objects.declarations, "{} {out};", ty.word());
                self.line(format!("Y(); {out} = {name};"));
            }
        }
        self.line(format!("Y(); {result}"));
        self.indent -= 1;
        self.line("}".to_owned());
    }

    pub(super) fn main(&mut self, arguments: &[Argument], alike: bool, signals: &[String]) {
        let threads = arguments.len();
        self.line("int main(void) {".to_owned());
        self.indent += 1;
        self.line(format!("pthread_t th[{threads}];"));
        self.line("void *result = NULL;".to_owned());
        self.line("short of_main = 3;".to_owned());
        let has_own = arguments.iter().any(|of| matches!(of, Argument::Struct(name) if name == "&own"));
        if has_own {
            self.line("struct s own = {1, {2, 3}, {4}, PTHREAD_MUTEX_INITIALIZER};".to_owned());
            if self.rng.chance(50) {
                self.line("pthread_mutex_init(&own.m, NULL);".to_owned());
            }
        }
        if self.objects.has_semaphore {
            self.line("sem_init(&sem, 0, 1);".to_owned());
        }
        if self.objects.declarations.contains("sem_t go;") {
            self.line("sem_init(&go, 0, 0);".to_owned());
        }
        if self.objects.declarations.contains("pthread_barrier_t bar;") {
            self.line(format!("pthread_barrier_init(&bar, NULL, {threads});"));
        }
        if self.rng.chance(30) {
            self.line("pthread_mutex_init(&m, NULL);".to_owned());
        }
        for text in self.objects.begin.clone() {
            self.line(text);
        }
        if self.objects.link.is_some() && has_own {
            let link = self.objects.begin.iter().find_map(|text| text.split_once("->"));
            let text = link.map_or(String::new(), |(_, text)| format!("own.{text}"));
            self.line(text);
        }
        if let Some((ty, atomic)) = self.job {
            self.line(format!("struct job jobs[{threads}];"));
            if self.rng.chance(40) {
                // Not a local of `main`.
                self.lines.pop();
                let at = self.lines.iter().position(|line| line.starts_with("struct job {")).unwrap_or(0);
                self.lines.insert(at + 1, format!("struct job jobs[{threads}];"));
            }
            let targets = self.objects.targets(ty, atomic);
            for number in 0..threads {
                let lock = self.rng.pick(&self.objects.mutexes).clone();
                let to = self.rng.pick(&targets).clone();
                self.line(format!("jobs[{number}].id = {number};"));
                self.line(format!("jobs[{number}].to = {to};"));
                self.line(format!("jobs[{number}].lock = {lock};"));
            }
        }
        if matches!(arguments[0], Argument::Index) {
            self.line(format!("for (long i = 0; i < {threads}; i++) pthread_create(&th[i], NULL, w0, (void *)i);"));
        } else {
            let mut order: Vec<usize> = (0..threads).collect();
            if self.rng.chance(30) {
                order.reverse();
            }
            for number in order {
                let argument = match if alike && !same(&arguments[0], &arguments[number]) {
                    &arguments[0]
                } else {
                    &arguments[number]
                } {
                    Argument::Nothing | Argument::Index => "NULL".to_owned(),
                    Argument::Number(value) => format!("(void *){value}L"),
                    Argument::Target(address, ..) => {
                        if address.contains("of_main") || self.rng.chance(50) {
                            format!("(void *){address}")
                        } else {
                            format!("(void *)({address})")
                        }
                    }
                    Argument::Struct(address) => address.clone(),
                    Argument::Job(job) => [format!("&jobs[{job}]"), format!("jobs + {job}")][self.rng.below(2)].clone(),
                };
                let function = if alike { 0 } else { number };
                self.line(format!("Y(); pthread_create(&th[{number}], NULL, w{function}, {argument});"));
            }
        }
        let mut scope = Scope { callable: self.functions.len(), ..Scope::default() };
        if !self.objects.structs.is_empty() && has_own {
            scope.structs.push("(&own)".to_owned());
        }
        (self.budget, self.locks) = (3, false);
        for signal in signals {
            self.line(format!("Y(); {signal}"));
        }
        if self.rng.chance(40) {
            self.locals(&mut scope, 1);
            self.statement(&mut scope, 1);
            if let Some((name, ty)) = scope.locals.first() {
                let _ = writeln!(self.objects.declarations, "{} out_main;", ty.word());
                let text = format!("out_main = {name};");
                self.line(text);
            }
        }
        for number in 0..threads {
            let into = if self.rng.chance(50) { "&result" } else { "NULL" };
            self.line(format!("pthread_join(th[{number}], {into});"));
            if into == "&result" {
                self.line("printf(\"%ld\\n\", (long)result);".to_owned());
            }
        }
        self.prints(has_own);
        self.line("return 0;".to_owned());
        self.indent -= 1;
        self.line("}".to_owned());
    }

    fn prints(&mut self, has_own: bool) {
        let mut all = self.objects.printed();
        for declaration in self.objects.declarations.clone().lines() {
            for ty in Ty::ALL {
                if let Some(name) = declaration.strip_prefix(&format!("{} out_", ty.word())) {
                    all.push((format!("out_{}", name.trim_end_matches(';')), ty));
                }
            }
        }
        all.push(("of_main".to_owned(), Ty::Short));
        if has_own {
            let fields = self.objects.fields.clone();
            for field in &fields {
                all.extend(objects::written(field).into_iter().map(|text| (format!("own.{text}"), field.ty)));
            }
        }
        let mut at = 0;
        while at < all.len() {
            let end = all.len().min(at + 1 + self.rng.below(4));
            let formats: Vec<&str> = all[at..end].iter().map(|(_, ty)| ty.format()).collect();
            let values: Vec<&str> = all[at..end].iter().map(|(text, _)| text.as_str()).collect();
            self.line(format!("printf(\"{}\\n\", {});", formats.join(" "), values.join(", ")));
            at = end;
        }
    }
}

fn same(a: &Argument, b: &Argument) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}
