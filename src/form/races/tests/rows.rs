//! Rows of arrays with their own locks: two indices are the same if they are computed in the same way from unchanged data.

use super::subject;

/// Fields of `shards`, their locks beside them, and what two threads do with the first number that each is given.
fn of_shards(body: &str) -> String {
    format!(
        "class Shard {{ lock guard; int data; int items[3]; int head; }}\nShard shards[4]; lock guards[4]; int table[4]; int other;\n\
         {body}\ncobegin\n  A: work(choose(0, 3));\n  B: work(choose(0, 3));\ncoend\n"
    )
}

/// Right programs.
const RIGHT: [&str; 16] = [
    "void work(int k) { int h = (k * 7) % 4; lock(shards[h].guard); shards[h].data++; unlock(shards[h].guard); }",
    "void work(int k) { lock(shards[k % 4].guard); shards[k % 4].data++; unlock(shards[k % 4].guard); }",
    "void work(int k) { int h = k & 3; lock(shards[k & 3].guard); shards[h].data++; unlock(shards[k & 3].guard); }",
    "void work(int k) { int h = k & 3; lock(guards[h]); if (table[k & 3] > 2) { table[k & 3] = 0; } table[h]++; unlock(guards[h]); }",
    "int hash(int k) { return (k * 5) % 4; }\n\
     void work(int k) { int h = hash(k); synchronized (shards[h].guard) { shards[h].data++; } }",
    "void touch(int h) { shards[h].data++; }\n\
     void work(int k) { int h = k % 4; lock(shards[h].guard); touch(h); unlock(shards[h].guard); }",
    "void touch(int j) { int h = j % 4; shards[h].data++; }\n\
     void work(int k) { lock(shards[k % 4].guard); touch(k); unlock(shards[k % 4].guard); }",
    "void touch(Shard s) { s.data++; }\n\
     void work(int k) { int h = k % 4; lock(shards[h].guard); touch(shards[h]); unlock(shards[h].guard); }",
    "void enter(int h) { lock(shards[h].guard); }\nvoid leave(int h) { unlock(shards[h].guard); }\n\
     void work(int k) { int h = k % 4; enter(h); shards[h].data++; leave(h); }",
    "void work(int k) { lock(shards[k].guard); shards[k].items[shards[k].head] = k; shards[k].head = (shards[k].head + 1) % 3; \
     unlock(shards[k].guard); }",
    "void work(int k) { for (int i = 0; i < 8; i++) { int h = i & k; lock(shards[h].guard); for (int j = 0; j < 3; j++) { \
     shards[h].data += j; } unlock(shards[h].guard); } }",
    "void work(int k) { for (int i = 0; i < 8; i++) { lock(guards[i & k]); table[i & k]++; unlock(guards[i & k]); } }",
    "void put(int i) { synchronized (shards[i].guard) { shards[i].items[shards[i].head] = i; shards[i].head = 1 - shards[i].head; } }\n\
     void work(int k) { put(k); put(0); put(1); }",
    "void work(int k) { int h = k % 4; lock(shards[h].guard); int old = shards[h].data; h = h + 0; unlock(shards[k % 4].guard); }",
    "int next(int h) { return h + 1; }\n\
     void work(int k) { int h = k % 3; h = next(h); lock(shards[h].guard); shards[h].data++; unlock(shards[h].guard); }",
    "int pick(int k) { return k / 2; }\n\
     void work(int k) { int h = pick(k); int g = pick(3 - k); lock(guards[h]); table[h]++; unlock(guards[h]); lock(guards[g]); table[g]++; unlock(guards[g]); }",
];

/// Programs that race.
const BROKEN: [&str; 16] = [
    "void work(int k) { int h = k % 4; lock(shards[h].guard); h = (h + 1) % 4; shards[h].data++; unlock(shards[k % 4].guard); }",
    "void work(int k) { int h = k % 4; lock(shards[h].guard); k = k + 1; shards[k % 4].data++; unlock(shards[h].guard); }",
    "void work(int k) { lock(shards[(k + 1) % 4].guard); shards[k % 4].data++; unlock(shards[(k + 1) % 4].guard); }",
    "void work(int k) { int h = k % 4; lock(guards[0]); unlock(guards[0]); lock(shards[h].guard); unlock(shards[h].guard); shards[h].data++; }",
    "void work(int k) { int h = k % 4; lock(guards[k % 2]); table[h]++; unlock(guards[k % 2]); }",
    "void touch(int h) { shards[h].data++; }\n\
     void work(int k) { int h = k % 3; lock(shards[h].guard); touch(h + 1); unlock(shards[h].guard); }",
    "void touch(int h) { h = h ^ 1; shards[h].data++; }\n\
     void work(int k) { int h = k % 4; lock(shards[h].guard); touch(h); unlock(shards[h].guard); }",
    "void touch(Shard s) { s.data++; }\n\
     void work(int k) { int h = k % 4; lock(shards[h].guard); touch(shards[3 - h]); unlock(shards[h].guard); }",
    "void leave(int h) { unlock(shards[h].guard); }\n\
     void work(int k) { int h = k % 4; lock(shards[k % 4].guard); leave(h); shards[k % 4].data++; }",
    "int next(int h) { lock(shards[h].guard); return h ^ 1; }\n\
     void work(int k) { int h = k % 4; h = next(h); shards[h].data++; unlock(shards[h ^ 1].guard); }",
    "void work(int k) { int h = k; for (int i = 0; i < 2; i++) { if (i == 0) { lock(shards[h].guard); } else { shards[h].data++; } h = h ^ 1; } \
     unlock(shards[h].guard); }",
    "void work(int k) { if (k > 1) { lock(shards[k % 4].guard); } shards[k % 4].data++; if (k > 1) { unlock(shards[k % 4].guard); } }",
    "void put(int i) { synchronized (shards[1 - i].guard) { shards[i].items[shards[i].head] = i; } }\n\
     void work(int k) { put(k % 2); put(0); put(1); }",
    "void work(int k) { int h = other % 4; other = 3; lock(shards[h].guard); shards[other % 4].data++; unlock(shards[h].guard); }",
    "void work(int k) { for (int i = 0; i < 4; i++) { int h = i & k; int g = h; h = h ^ 1; lock(guards[g]); table[h]++; unlock(guards[g]); } }",
    "void work(int k) { int h = k % 4; lock(shards[h].guard); lock(shards[(h + 1) % 4].guard); unlock(shards[k % 4].guard); \
     shards[h].data++; unlock(shards[(h + 1) % 4].guard); }",
];

#[test]
fn the_lock_of_the_row_is_recognised_by_its_index() {
    for body in RIGHT {
        let text = of_shards(body);
        assert_eq!(subject(&text).pairs(), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_lock_of_another_row_is_none() {
    for body in BROKEN {
        let text = of_shards(body);
        let pairs = subject(&text).pairs();
        let found = pairs.iter().any(|pair| pair != "r7 w7");
        assert!(found, "{text}");
    }
}
