//! Critical sections of random programs.
//!
//! **Input**: what is in scope. **Output**: statements under a lock, taken or tried.

use super::Generator;
use super::expression::Scope;
use super::types::{Ex, Ty};

impl Generator {
    /// The result of a try decides later.
    pub(super) fn tried(&mut self, scope: &Scope, depth: u32) {
        let (got, mutex) = (self.fresh("got"), self.mutex(scope));
        self.locks = true;
        self.spend(2);
        let mut inner = scope.clone();
        (inner.locked, inner.in_loop, inner.returns) = (true, false, None);
        self.simple_statement(&format!("int {got} = pthread_mutex_trylock({mutex});"));
        self.statement(&mut inner, depth - 1);
        self.line(format!("Y(); if ({got} == 0) {{"));
        self.indent += 1;
        self.statement(&mut inner, 0);
        self.simple_statement(&format!("pthread_mutex_unlock({mutex});"));
        self.indent -= 1;
        self.line("}".to_owned());
        if let Some((local, ty)) = scope.locals.first() {
            let value = Ex::own(got, Ty::Int, (0, 100)).fit(*ty).text;
            self.simple_statement(&format!("{local} = {value};"));
        }
    }

    /// An address of a mutex, and whether something shared is read to find it.
    pub(super) fn mutex(&mut self, scope: &Scope) -> String {
        if !scope.mutexes.is_empty() && self.rng.chance(50) {
            return self.rng.pick(&scope.mutexes).clone();
        }
        if !scope.structs.is_empty() && self.rng.chance(50) {
            return format!("&{}->m", self.rng.pick(&scope.structs));
        }
        // The one that is taken must be the one that is given back: a pointer that others change is read once.
        self.rng.pick(&self.objects.mutexes).clone()
    }

    pub(super) fn critical(&mut self, scope: &Scope, depth: u32) {
        let mut inner = scope.clone();
        (inner.locked, inner.in_loop) = (true, false);
        self.locks = true;
        self.spend(2);
        let count = 1 + self.rng.below(2);
        let (begin, end) = match self.rng.below(10) {
            0 if self.objects.has_rwlock => {
                ("pthread_rwlock_rdlock(&rw);".into(), "pthread_rwlock_unlock(&rw);".into())
            }
            1 if self.objects.has_rwlock => {
                ("pthread_rwlock_wrlock(&rw);".into(), "pthread_rwlock_unlock(&rw);".into())
            }
            2 if self.objects.has_spin => ("pthread_spin_lock(&spin);".into(), "pthread_spin_unlock(&spin);".into()),
            2 if self.objects.has_semaphore => ("sem_wait(&sem);".into(), "sem_post(&sem);".into()),
            3 if self.objects.has_mutex_pointer => {
                let name = self.fresh("l");
                self.simple_statement(&format!("pthread_mutex_t *{name} = pm;"));
                self.spend(1);
                (format!("pthread_mutex_lock({name});"), format!("pthread_mutex_unlock({name});"))
            }
            4 => {
                // An element that is not known.
                let index = self.fresh("i");
                if !self.objects.mutexes.iter().any(|each| each.contains("mm[")) {
                    let mutex = self.mutex(scope);
                    (format!("take({mutex});"), format!("give({mutex});"))
                } else {
                    let value = self.simple(scope, true);
                    self.simple_statement(&format!("int {index} = ({}) & 1;", value.text));
                    (format!("pthread_mutex_lock(&mm[{index}]);"), format!("give(mm + {index});"))
                }
            }
            5 | 6 => {
                let mutex = self.mutex(scope);
                (format!("take({mutex});"), format!("give({mutex});"))
            }
            7 | 9 if !scope.structs.is_empty() => {
                let name = self.rng.pick(&scope.structs).clone();
                (format!("enter({name});"), format!("leave({name});"))
            }
            8 => {
                let mutex = self.mutex(scope);
                (format!("if (pthread_mutex_lock({mutex}) != 0) abort();"), format!("give({mutex});"))
            }
            _ => {
                let mutex = self.mutex(scope);
                (format!("pthread_mutex_lock({mutex});"), format!("pthread_mutex_unlock({mutex});"))
            }
        };
        self.simple_statement(&begin);
        self.statements(&mut inner, depth - 1, count);
        self.simple_statement(&end);
    }

    pub(super) fn try_section(&mut self, scope: &Scope) {
        let mut inner = scope.clone();
        (inner.locked, inner.in_loop) = (true, false);
        self.spend(2);
        self.locks = true;
        let (test, end) = match self.rng.below(5) {
            0 if self.objects.has_rwlock => {
                let word = ["tryrd", "trywr"][self.rng.below(2)];
                (format!("pthread_rwlock_{word}lock(&rw) == 0"), "pthread_rwlock_unlock(&rw);".into())
            }
            1 if self.objects.has_flag => {
                ("!atomic_flag_test_and_set(&flag)".into(), "atomic_flag_clear(&flag);".into())
            }
            2 => {
                let mutex = self.mutex(scope);
                (format!("!attempt({mutex})"), format!("pthread_mutex_unlock({mutex});"))
            }
            _ => {
                let mutex = self.mutex(scope);
                (format!("pthread_mutex_trylock({mutex}) == 0"), format!("pthread_mutex_unlock({mutex});"))
            }
        };
        self.line(format!("Y(); if ({test}) {{"));
        self.indent += 1;
        self.statement(&mut inner, 0);
        self.simple_statement(&end);
        self.indent -= 1;
        self.line("}".to_owned());
        if self.rng.chance(40) {
            self.block("else", scope, 0, 1);
        }
    }
}
