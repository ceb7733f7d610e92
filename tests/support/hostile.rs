//! Programs that try to break their drivers, whatever the language of these: awkward names and texts, failures while others wait,
//! and every kind of thread and synchronisation together.

/// By name: what is awkward about it.
pub const PROGRAMS: &[(&str, &str)] = &[
    (
        "keywords",
        "int fn = 1; int self; int type[3]; int Ok; int Vec; int body; int block; int u8; int format; int static; int crate;
int match(int loop, int mut) { int impl = loop + mut; type[impl % 3] = impl; return impl; }
int Handle(int String) { if (String > 0) { return match(String, fn); } return self; }
int main2(int std) { return std + crate; }
void move() { Ok = 1; Vec = 2; body = Ok; block = body; u8 = block; static = u8; }
void main() {
  int pub = 1;
  cobegin
    async: { fn = 2; self = match(fn, pub); pub = 3; move(); }
    dyn: { int where = Handle(1); print(where, type[2], format, pub); crate = main2(1); }
    main: { int ref = pub + static; while (ref > 0) { int t = ref; ref = t - 1; } print(ref); }
  coend
}
",
    ),
    (
        "texts",
        "string s = \"a\\\"b\\\\c{}{0}\\n\\td\"; int x;
cobegin
  A: { s = \"grün {x} \u{1f980} */ // \\\"\"; x = 1; }
  B: { print(s, \"{\", \"}\", \"%d\", x); assert(x == 0, \"it's \\\"seen\\\" {}\\nsecond line: ü */ `x`\"); }
  C: { if (x == 1) error(\"one\\ttwo \\\\ {:?}\"); }
coend
",
    ),
    (
        "nested_failure",
        "int x; lock L; event e; sem s = 0; cond c; lock M; barrier b(2);
cobegin
  A: { lock(L); cobegin A1: { x = 1; wait(e); } A2: { int y = x; assert(y == 0, \"deep\"); set(e); } coend unlock(L); }
  B: { lock(L); x = 2; unlock(L); V(s); }
  C: { P(s); synchronized (M) { while (x < 3) wait(c, M); } }
  D: { synchronized (M) { x = x + 3; notifyAll(c); } barrier(b); }
  E: { barrier(b); }
coend
",
    ),
    (
        "spawned",
        "int x; int t[3]; thread h;
int work(int k, double d, string s, bool z, long w) {
  t[k] = k; x += k; if (k > 1) { thread inner = spawn work(k - 1, d / 2.0, s, !z, w * 2); join(inner); }
  print(k, d, s, z, w); return x;
}
void main() {
  thread a = spawn work(2, 1.0, \"s\", true, 1);
  thread b = spawn work(1, 0.5, \"\", false, -5);
  h = a;
  join(h); int r = x; join(b); join(b); print(r, t[0], t[1], t[2]);
}
",
    ),
    (
        "atomics",
        "int x; long w; double d = 0.5; bool z; int t[2]; string s = \"x\";
parfor (int i = 0; i < 2; i++) {
  int o = fetch_add(t[i], 2); int p = fetch_add(t[1 - i], -1);
  bool c = cas(x, i, i + 1); long q = swap(w, 5); fetch_add(d, 1.5);
  if (cas(t[0], 1, 7)) z = true;
  atomic { x = x + 1; t[1] = x; if (x > 2) s = \"y\"; }
  print(o, p, c, q, d, z, s);
}
print(t[0], t[1], x);
",
    ),
    (
        "bounds",
        "int t[2]; int i; int k = 1; long m = 1;
cobegin
  A: { i = 2; k = 0; }
  B: { t[i] = 1; }
  C: { int q = 10 / k; int r = t[q % 3]; m = r; }
  D: { if (i > 0) { int u[2]; u[m + k] = 3; print(u[1]); } }
coend
",
    ),
    (
        "classes",
        "class Account {
  private int balance = 10; private lock L; int log[2]; public string owner = \"me\";
  public int get() { return balance; }
  public void put(int n) { synchronized (L) { balance += n; log[n % 2] = balance; } }
  public bool take(int n) { if (balance < n) return false; balance -= n; return true; }
}
Account self; Account b;
void transfer(Account from, Account to, int n) { if (from.take(n)) to.put(n); else assert(false, \"poor\"); }
void main() {
  Account mine;
  cobegin
    A: transfer(self, b, 10);
    B: transfer(mine, self, 1);
    C: { transfer(self, mine, 1); self.owner = \"you\"; }
  coend
  print(self.get(), b.get(), mine.get(), self.owner, b.log[0], self.log[1]);
}
",
    ),
    (
        "externs",
        "extern int now() in 0..2; extern void SysTime(); extern int zero(); input int n = 2; input bool z = true;
int x; int y;
cobegin
  A: { SysTime(); x = now() + zero(); int v = choose(-1, 1); if (v < 0) y = x; else y = v; }
  B: { assume(x != 2); sleep(5); for (int i = 0; i < n; i++) { if (i == 1 && z) continue; y++; } do { skip; } while (x < 0); }
coend
print(x > 0 ? x : -x, y);
",
    ),
    (
        "arithmetic",
        "int x = -2147483647; long w = 1; double d; int y;
cobegin
  A: { x = x - 1; x = -x; int q = -x; y = x / -1 + x % -1; w = w << 65; y = y ^ ~x >> 33; d = w * 1.0 / 0.0; }
  B: { long v = w; w = v * 9223372036854775807 - 2; d = -d; double e = d / d; print(e, d, -7 / 2, -7 % 2, x); y = y | 6 & x; if (!(e == e) || x < 0) y = y << 2; }
coend
print(x, y, w, d);
",
    ),
    (
        "blocked",
        "int x; lock L; event e; sem s = 0; barrier b(3); thread h;
void stuck() { P(s); }
void main() {
  h = spawn stuck();
  cobegin
    A: { lock(L); x = 1; wait(e); unlock(L); }
    B: { if (x == 1) lock(L); else set(e); }
    C: { if (x == 0) barrier(b); else V(s); wait(); }
    D: { notify(); clear(e); x = x + 1; }
  coend
  join(h);
}
",
    ),
    (
        "loops",
        "int x; int done;
void count(int k) { int i = 0; while (true) { i++; if (i == k) break; if (i % 2 == 0) continue; int j; cobegin A: j = i; B: x += j; coend } }
cobegin
  P: { parfor (int i = 0; i < 2; i++) { cobegin in1: x = i; in2: count(2); coend } done = 1; }
  Q: { while (done == 0) { x = 0; if (x > 3) break; assume(x >= 0); done = 2; } }
coend
",
    ),
    (
        "collisions",
        "int x;
int get(int put) { int get = put + x; return get; }
int put(int get) { return get; }
void main() {
  int a = 1; int b = a + 1; int main = 3; int f = 0;
  while (f < 2) { a = b; f++; }
  print(a, f, main);
  cobegin
    A: { x = get(a); int c = put(a); print(c); }
    B: { int a = x; a = get(a); print(a); cobegin C: x = a; coend }
    f: { x = f; }
  coend
}
",
    ),
    (
        "long_work",
        "int x;
cobegin
  A: { int i = 0; int s = 0; while (i < 300000) { s = s + i * 2; s = s ^ 5; i = i + 1; } x = s; }
  B: { x = 1; print(x); int k = 0; while (k < 90000) k++; print(x); }
coend
",
    ),
    (
        "deep_calls",
        "int x;
int down(int n) { if (n == 0) return x; int k = down(n - 1); return k + 1; }
cobegin
  A: { x = down(990); }
  B: { x = 2; print(x); print(down(1500)); }
coend
",
    ),
    (
        "strange\n\u{202e}file",
        "int x; // \u{202e} bidi
cobegin
  A: x = 1; /* a \r b */
  B: { int y = x; assert(y == 0, \"a \u{202e}\u{200b}\\0 b\"); }
coend
",
    ),
];

/// Conditions with spurious wake-ups, which only an option gives.
pub const SPURIOUS: &str = "int x; lock L; cond c;
cobegin
  A: { synchronized (L) { wait(c, L); assert(x == 1, \"woken for nothing\"); } }
  B: { synchronized (L) { x = 1; notify(c); } }
  C: { wait(); print(x); }
  D: { notifyAll(); }
coend
";

/// A try to read that fails behind a waiting writer alone, and a nested read; an option of its own.
pub const WRITERS: &str = "int x; rwlock R;
cobegin
  A: { rdlock(R); if (tryrdlock(R)) { print(x); unlock(R); } else { print(x + 10); } unlock(R); }
  B: { wrlock(R); x = 1; unlock(R); }
  C: { rdlock(R); rdlock(R); print(x); unlock(R); unlock(R); }
coend
";
