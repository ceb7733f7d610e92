//! The names that users of C++, Java or Go expect for built-in functions.
//!
//! **Input**: the type of an object and the name of a method, or the name of a function. **Output**: its spelling in this
//! language.

use super::item::Checker;
use super::scope::Meaning;
use super::{Scalar, Type};
use crate::csm::syntax::ast::{self, ExprKind};
use cssame_source::texts::TextId;

/// What an operation works on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lock,
    RwLock,
    Event,
    Condition,
    Barrier,
    Semaphore,
    Thread,
    Data,
    Array,
    /// Nothing that is declared.
    None,
}

/// What it works on, the words of other languages for it, and what is written here. `NAME` stands for the object.
const HABITS: &[(Kind, &str, &str)] = &[
    (Kind::Lock, "lock acquire enter Lock P wait pthread_mutex_lock mtx_lock", "lock(NAME);"),
    (Kind::Lock, "unlock release exit leave Unlock V pthread_mutex_unlock mtx_unlock", "unlock(NAME);"),
    (Kind::Lock, "try_lock tryLock TryLock tryAcquire pthread_mutex_trylock", "trylock(NAME)"),
    (Kind::RwLock, "lock_shared readLock rdlock RLock read pthread_rwlock_rdlock", "rdlock(NAME);"),
    (Kind::RwLock, "lock writeLock wrlock Lock write acquire pthread_rwlock_wrlock", "wrlock(NAME);"),
    (Kind::RwLock, "unlock unlock_shared RUnlock Unlock release pthread_rwlock_unlock", "unlock(NAME);"),
    (Kind::Condition, "wait await Wait pthread_cond_wait cnd_wait", "wait(NAME, L);"),
    (Kind::Condition, "notify signal notify_one notifyOne Signal set pthread_cond_signal cnd_signal", "notify(NAME);"),
    (
        Kind::Condition,
        "notifyAll notify_all signalAll signal_all broadcast Broadcast pthread_cond_broadcast cnd_broadcast",
        "notifyAll(NAME);",
    ),
    (Kind::Event, "set signal fire notify notify_all notifyAll countDown post", "set(NAME);"),
    (Kind::Event, "wait await Wait", "wait(NAME);"),
    (Kind::Event, "clear reset", "clear(NAME);"),
    (Kind::Barrier, "wait await arrive_and_wait barrier pthread_barrier_wait", "barrier(NAME);"),
    (Kind::Semaphore, "acquire wait P down take lock sem_wait", "P(NAME);"),
    (Kind::Semaphore, "release post signal V up give unlock set notify sem_post", "V(NAME);"),
    (Kind::Thread, "join wait pthread_join thrd_join", "join(NAME);"),
    (Kind::Thread, "start run pthread_create thrd_create create_thread", "thread NAME = spawn f();"),
    (Kind::Array, "length size len count", "length(NAME)"),
    (Kind::Data, "load get", "NAME"),
    (Kind::Data, "store set put", "NAME = 1;"),
    (Kind::Data, "fetch_add getAndAdd addAndGet atomic_fetch_add add", "fetch_add(NAME, 1)"),
    (Kind::Data, "incrementAndGet getAndIncrement increment", "fetch_add(NAME, 1)"),
    (Kind::Data, "exchange getAndSet swap atomic_exchange", "swap(NAME, 1)"),
    (
        Kind::Data,
        "compare_exchange_strong compare_exchange_weak compareAndSet compareAndSwap compare_and_swap cas CAS",
        "cas(NAME, 0, 1)",
    ),
    (Kind::Data, "lock", "lock NAME;"),
    (Kind::Data, "wait", "event NAME;"),
    (Kind::Data, "join", "thread NAME = spawn f();"),
    (Kind::None, "printf puts println log echo", "print(NAME);"),
    (Kind::None, "usleep nanosleep delay", "sleep(NAME);"),
    (Kind::None, "rand random nondet", "choose(0, 9)"),
    (Kind::None, "abort panic fail", "error(\"what is wrong\");"),
];

/// Classes of other languages that hold values.
const CONTAINER_WORDS: &str = "queue Queue BlockingQueue ArrayBlockingQueue deque stack Stack list List vector Vector \
                               ArrayList LinkedList map Map HashMap unordered_map set Set HashSet channel Channel chan";

/// What is written instead of them.
pub(super) const CONTAINERS: &str = "no queue, list or map is built in: write a class with an array, as \
                                     `cssame new jobs --template queue` does";

/// Whether a name is that of a class of another language that holds values.
pub(super) fn is_container(name: &str) -> bool {
    CONTAINER_WORDS.split(' ').any(|word| word == name)
}

/// `a bool`, `an int`.
pub(super) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

fn kind_of(ty: Type) -> Kind {
    match ty {
        Type::Lock | Type::ReentrantLock => Kind::Lock,
        Type::RwLock => Kind::RwLock,
        Type::Event => Kind::Event,
        Type::Condition => Kind::Condition,
        Type::Barrier => Kind::Barrier,
        Type::Semaphore => Kind::Semaphore,
        Type::Scalar(Scalar::Thread) => Kind::Thread,
        Type::Scalar(Scalar::Error) | Type::Class(_) | Type::Error => Kind::None,
        Type::Scalar(_) => Kind::Data,
        Type::Array(_) => Kind::Array,
    }
}

/// How an operation on an object of that type is written, which another language calls by that word.
pub(super) fn operation_meant(ty: Type, word: &str, name: &str) -> Option<String> {
    let kind = kind_of(ty);
    let (_, _, written) =
        HABITS.iter().find(|(of, words, _)| *of == kind && words.split(' ').any(|each| each == word))?;
    let written = written.replace("NAME", name);
    Some(match (kind, word) {
        (Kind::Data, "lock" | "wait" | "join") => format!("declare it as `{written}`"),
        (Kind::Condition, _) if written.starts_with("wait") => {
            format!("write `{written}`: the thread releases the lock `L` while it waits")
        }
        _ => format!("write `{written}`"),
    })
}

impl Checker<'_> {
    /// How the call of a function is written that does not exist, but in another language: by what it is called with.
    pub(super) fn function_meant(&mut self, word: &str, arguments: &[ast::Expr]) -> Option<String> {
        let first = arguments.first().and_then(|argument| match &argument.kind {
            ExprKind::Name(name) => Some(name.as_str()),
            _ => None,
        });
        let ty = first.and_then(|name| {
            let id = self.intern(name);
            self.type_of_name(id)
        });
        let name = first.unwrap_or("x");
        let meant = ty.and_then(|ty| operation_meant(ty, word, name));
        // A word that the type does not know may still be known of another one.
        let known = |(_, words, _): &&(Kind, &str, &str)| words.split(' ').any(|each| each == word);
        meant.or_else(|| {
            let (_, _, written) = HABITS.iter().find(known)?;
            Some(format!("write `{}`", written.replace("NAME", name)))
        })
    }

    /// The type of what a name means, if it is declared; nothing is reported.
    pub(super) fn type_of_name(&self, id: TextId) -> Option<Type> {
        let of_variable = |variable| self.program.variables[variable].ty;
        let local = self.body.find(id).map(|(variable, _)| of_variable(variable));
        let field = || {
            let class = self.body.class?;
            self.program.classes[class].fields.iter().find(|field| field.name == id).map(|field| field.ty)
        };
        let global = || match self.globals.get(&id) {
            Some(&(Meaning::Variable(variable), _)) => Some(of_variable(variable)),
            _ => None,
        };
        local.or_else(field).or_else(global)
    }
}
