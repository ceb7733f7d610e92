//! The classes of `samples/classes/`, and what is wrong with the broken ones.
//!
//! Input: the files of that folder: each class stands there twice, as `NAME.csm`, which is correct, and as
//! `NAME_broken.csm`, with one bug.
//! Output: for each class the kind of the bug, the methods in which it is, and a test of two threads that shows it.
//! Soundness and limits: that a correct class has no bug is not told by one test. Each was compared with all serial
//! orders of its calls on hundreds of random tests.

use crate::root;
use std::fs;

/// What kind of mistake a broken class has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Steps that belong together use one variable, and other threads come in between.
    AtomicityOfOne,
    /// Variables that belong together are read or written apart from each other.
    AtomicityOfSeveral,
    /// A method uses without a lock what others guard by one.
    DataRace,
    /// Two threads wait for locks of each other.
    Deadlock,
    /// Something is used before it is there, or after it was closed.
    Order,
    /// A thread begins to wait when its notification has passed, or is not notified.
    LostNotification,
}

impl Kind {
    /// As the comment of a broken class says it.
    pub fn words(self) -> &'static str {
        match self {
            Self::AtomicityOfOne => "atomicity of one variable",
            Self::AtomicityOfSeveral => "atomicity of several variables",
            Self::DataRace => "data race",
            Self::Deadlock => "deadlock",
            Self::Order => "order",
            Self::LostNotification => "lost notification",
        }
    }
}

/// A class, and a test on its objects `o` and `p` that shows the bug of the broken one.
#[derive(Clone, Copy, Debug)]
pub struct ClassSample {
    /// The stem of the file of the correct class.
    pub name: &'static str,
    /// What is wrong with the broken class.
    pub kind: Kind,
    /// The method in which the bug is, and those that show it when they run at the same time.
    pub methods: &'static [&'static str],
    /// What main does before it starts the threads.
    pub prefix: &'static str,
    /// What the threads `a` and `b` do.
    pub threads: [&'static str; 2],
    /// What main does when both have ended.
    pub post: &'static str,
    /// An outcome that the broken class has and the correct one has not: lines of main, `a` and `b`, and the status.
    pub shows: &'static str,
}

impl ClassSample {
    /// The text of the correct class.
    pub fn correct(&self) -> String {
        text(self.name)
    }

    /// The text of the class with the bug.
    pub fn broken(&self) -> String {
        text(&format!("{}_broken", self.name))
    }
}

fn text(stem: &str) -> String {
    fs::read_to_string(root().join(format!("samples/classes/{stem}.csm"))).unwrap()
}

/// All of them, by name.
pub const CLASSES: [ClassSample; 20] = [
    ClassSample {
        name: "appender_list",
        kind: Kind::Order,
        methods: &["append", "removeAppender"],
        prefix: "o.addAppender(0);",
        threads: ["print(o.append(5));", "o.removeAppender(0);"],
        post: "",
        shows: ": error",
    },
    ClassSample {
        name: "bank_account",
        kind: Kind::Deadlock,
        methods: &["toSavings", "toChecking"],
        prefix: "",
        threads: ["print(o.toSavings(1));", "print(o.toChecking(1));"],
        post: "",
        shows: ": deadlock",
    },
    ClassSample {
        name: "bounded_queue",
        kind: Kind::LostNotification,
        methods: &["put", "take"],
        prefix: "o.put(5);",
        threads: ["print(o.take(), o.take());", "o.put(6);"],
        post: "",
        shows: ": deadlock",
    },
    ClassSample {
        name: "buffered_stream",
        kind: Kind::AtomicityOfOne,
        methods: &["read"],
        prefix: "print(o.read());",
        threads: ["print(o.read());", "print(o.read());"],
        post: "",
        shows: "0, 1: index-out-of-range",
    },
    ClassSample {
        name: "event_bus",
        kind: Kind::Deadlock,
        methods: &["dispatch", "unsubscribe"],
        prefix: "o.subscribe();",
        threads: ["print(o.dispatch());", "o.unsubscribe();"],
        post: "",
        shows: ": deadlock",
    },
    ClassSample {
        name: "hash_table",
        kind: Kind::DataRace,
        methods: &["put", "get"],
        prefix: "",
        threads: ["print(o.put(1, 7));", "print(o.get(1));"],
        post: "",
        shows: "true, 0: ok",
    },
    ClassSample {
        name: "id_generator",
        kind: Kind::AtomicityOfOne,
        methods: &["next"],
        prefix: "",
        threads: ["print(o.next());", "print(o.next());"],
        post: "",
        shows: "1, 1: ok",
    },
    ClassSample {
        name: "logger",
        kind: Kind::AtomicityOfOne,
        methods: &["log", "setFilter"],
        prefix: "o.setFilter(1);",
        threads: ["print(o.log(2));", "o.setFilter(0);"],
        post: "",
        shows: ": division-by-zero",
    },
    ClassSample {
        name: "object_pool",
        kind: Kind::LostNotification,
        methods: &["borrow", "giveBack"],
        prefix: "print(o.borrow(), o.borrow());",
        threads: ["print(o.borrow());", "print(o.giveBack(0));"],
        post: "",
        shows: "0 1, true: deadlock",
    },
    ClassSample {
        name: "once",
        kind: Kind::Order,
        methods: &["get"],
        prefix: "",
        threads: ["print(o.get(3));", "print(o.get(3));"],
        post: "",
        shows: "7, 0: ok",
    },
    ClassSample {
        name: "per_user_pool_source",
        kind: Kind::DataRace,
        methods: &["setPerUserMaxActive"],
        prefix: "",
        threads: ["o.setPerUserMaxActive(0, 5);", "o.setPerUserMaxActive(1, 7);"],
        post: "print(o.perUserMaxActive(0));",
        shows: "8: ok",
    },
    ClassSample {
        name: "read_write_cache",
        kind: Kind::AtomicityOfSeveral,
        methods: &["put", "get"],
        prefix: "o.put(1, 5);",
        threads: ["o.put(2, 6);", "print(o.get(2));"],
        post: "",
        shows: "5: ok",
    },
    ClassSample {
        name: "ring_buffer",
        kind: Kind::AtomicityOfSeveral,
        methods: &["offer", "poll"],
        prefix: "",
        threads: ["print(o.offer(5));", "print(o.poll());"],
        post: "",
        shows: "true, 0: ok",
    },
    ClassSample {
        name: "shared_pool_source",
        kind: Kind::AtomicityOfOne,
        methods: &["getConnection"],
        prefix: "print(o.getConnection());",
        threads: ["print(o.getConnection());", "print(o.getConnection());"],
        post: "print(o.numActive());",
        shows: "true, 3, true, true: ok",
    },
    ClassSample {
        name: "statistics",
        kind: Kind::AtomicityOfSeveral,
        methods: &["record", "mean"],
        prefix: "o.record(4);",
        threads: ["o.record(4);", "print(o.mean());"],
        post: "",
        shows: "2: ok",
    },
    ClassSample {
        name: "string_buffer",
        kind: Kind::AtomicityOfOne,
        methods: &["appendAll", "truncate"],
        prefix: "",
        threads: ["o.appendAll(p);", "p.truncate(1);"],
        post: "",
        shows: ": error",
    },
    ClassSample {
        name: "striped_map",
        kind: Kind::AtomicityOfSeveral,
        methods: &["removeAll", "size"],
        prefix: "print(o.put(0, 5), o.put(1, 5));",
        threads: ["o.removeAll();", "print(o.size());"],
        post: "",
        shows: "true true, 1: ok",
    },
    ClassSample {
        name: "synchronized_map",
        kind: Kind::Deadlock,
        methods: &["putAll"],
        prefix: "",
        threads: ["o.putAll(p);", "p.putAll(o);"],
        post: "",
        shows: ": deadlock",
    },
    ClassSample {
        name: "time_series",
        kind: Kind::DataRace,
        methods: &["addOrUpdate"],
        prefix: "",
        threads: ["print(o.addOrUpdate(1, 5));", "print(o.addOrUpdate(2, 6));"],
        post: "print(o.itemCount());",
        shows: "1, true, true: ok",
    },
    ClassSample {
        name: "vector",
        kind: Kind::DataRace,
        methods: &["lastIndexOf", "removeLast", "removeAll"],
        prefix: "print(o.add(5));",
        threads: ["print(o.lastIndexOf(5));", "print(o.removeLast());"],
        post: "",
        shows: "true: error",
    },
];
