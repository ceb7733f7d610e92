//! `ir --emit source`: CSSAME form as the paper prints it.
//!
//! Figures 1(b), 2(b), 5(b) and 6(b) are held to the paper by the samples that have their programs. Other than there, each line ends as in
//! the language, versions begin at 0, and figure 2 has an initial definition.

use cssame::answer::ir_source;
use cssame::model::Unit;
use std::fs;
use std::path::Path;

fn source(text: &str) -> String {
    let unit = Unit::from_text("a.csm", text, &[]).unwrap();
    ir_source(unit, &[]).unwrap().text()
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("samples/{name}.csm"));
    source(&fs::read_to_string(path).unwrap())
}

#[test]
fn figure_1_has_a_phi_function_where_branches_meet() {
    insta::assert_snapshot!(sample("cssame_fig1"), @r"
    extern int condition() in 0..1;
    int a_0 = 0;
    if (condition() == 1)
        a_1 = 1;
    a_2 = phi(a_0, a_1)
    print(a_2);
    ");
}

#[test]
fn figure_2_has_a_pi_function_before_the_read() {
    insta::assert_snapshot!(sample("cssame_fig2"), @r"
    int a_0 = 0;
    lock L;
    cobegin
        T1:
            lock(L);
            a_1 = 1;
            a_2 = 2;
            unlock(L);
        T2:
            lock(L);
            a_3 = 3;
            unlock(L);
        T3:
            lock(L);
            a_4 = pi(a_0, a_2, a_3)
            print(a_4);
            unlock(L);
    coend
    ");
}

#[test]
fn figure_5_leaves_what_one_thread_sees_alone() {
    insta::assert_snapshot!(sample("cssame_fig5"), @r"
    int n_0 = 1;
    lock L;
    cobegin
        T1:
            lock(L);
            n_1 = 0;
            unlock(L);
        T2:
            lock(L);
            n_2 = 3;
            unlock(L);
            barrier(2);
        T3:
            barrier(2);
            lock(L);
            n_3 = pi(n_1, n_2)
            int result = 21 / n_3;
            print(result);
            unlock(L);
    coend
    ");
}

#[test]
fn figure_6_shows_the_version_that_an_increment_makes() {
    let text = sample("cssame_fig6");
    assert!(text.contains("        n0_1 += 1;\n") && text.contains("        n0_2 = pi(n0_0, n0_1)\n"), "{text}");
}

/// Classes, arrays, loops, and functions that two threads call.
const MIXED: &str = "\
class Point {
  int x = 0;
  lock m;
  public void put(int v) { lock(m); x = x + v; unlock(m); }
}
Point p;
int t[3];
int n = 0;
int own = 0;
void bump(int by) { n += by; }
void main() {
  int sum = 0;
  for (own = 0; own < 2; own++) { if (own == 1) sum = 5; else if (own == 0) { t[1] = own; } }
  cobegin
    A: {
      for (int i = 0; i < 2; i++) t[i] = n;
      bump(1);
      p.put(1);
    }
    B: {
      bump(2);
      p.x = 3;
      if (cas(n, 0, 1)) n++; else if (n == 2) n = p.x;
      do { t[0]--; } while (t[0] > 0);
    }
  coend
  switch (own) { case 1: own = 7; break; case 2: own = 8; break; default: skip; }
  print(own, p.x);
}
";

#[test]
fn objects_arrays_loops_and_calls_have_their_lines() {
    insta::assert_snapshot!(source(MIXED), @r"
    class Point {
        int x = 0;
        lock m;
        void put(int v) {
            lock(m);
            x_4 = pi(p.x_0, p.x_2)
            x_1 = x_4 + v;
            unlock(m);
        }
    }

    Point p;
    int t_0[3];
    int n_0 = 0;
    int own_0 = 0;

    void bump(int by) {
        n_6 = pi(n_0, n_1, n_2, n_3, n_4)
        n_1(n_6) += by;
    }

    void main() {
        int sum = 0;
        own_5 = phi(own_1, own_2)
        for (own_1 = 0; own_5 < 2; own_2(own_5)++) {
            if (own_5 == 1)
                sum = 5;
            else
                if (own_5 == 0) {
                    t_1[1] = own_5;
                }
        }
        cobegin
            A: {
                for (int i = 0; i < 2; i++)
                    n_8 = pi(n_0, n_1, n_2, n_3, n_4)
                    t_2[i] = n_8;
                bump(1);
                p.put(1);
            }
            B: {
                bump(2);
                p.x_2 = 3;
                if (cas(n_2, 0, 1))
                    n_7 = pi(n_1, n_2)
                    n_3(n_7)++;
                else
                    if (n_1 == 2)
                        p.x_6 = pi(p.x_1, p.x_2)
                        n_4 = p.x_6;
                do {
                    t_9 = pi(t_0, t_2, t_3)
                    t_3(t_9)[0]--;
                    t_10 = pi(t_2, t_3)
                } while (t_10[0] > 0);
            }
        coend
        switch (own_5) {
            case 1:
                own_3 = 7;
                break;
            case 2:
                own_4 = 8;
                break;
            default:
                skip;
        }
        own_6 = phi(own_3, own_4, own_5)
        p.x_5 = pi(p.x_1, p.x_2)
        print(own_6, p.x_5);
    }
    ");
}

#[test]
fn a_loop_begins_with_the_versions_that_meet_there() {
    let text = "int a = 0;\nvoid main() { while (a < 9) { if (a == 3) a = 5; a = a + 1; } print(a); }\n";
    insta::assert_snapshot!(source(text), @r"
    int a_0 = 0;

    void main() {
        a_3 = phi(a_0, a_2)
        while (a_3 < 9) {
            if (a_3 == 3)
                a_1 = 5;
            a_4 = phi(a_3, a_1)
            a_2 = a_4 + 1;
        }
        print(a_3);
    }
    ");
}

/// Its lines stay as they are written.
#[test]
fn a_program_in_c_keeps_its_text() {
    let text = "\
#include <pthread.h>
struct counter { int hits; pthread_mutex_t lock; } c;
static void *work(void *arg) {
  struct counter *to = arg;
  for (int i = 0; i < 2; i++) { pthread_mutex_lock(&to->lock); to->hits++; pthread_mutex_unlock(&to->lock); }
  return NULL;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, work, &c);
  pthread_create(&b, NULL, work, &c);
  pthread_join(a, NULL); /* both */
  pthread_join(b, NULL);
  if (c.hits != 4)
    return 1;
}
";
    let unit = Unit::from_text("a.c", text, &[]).unwrap();
    insta::assert_snapshot!(ir_source(unit, &[]).unwrap().text(), @r#"
    #include <pthread.h>
    struct counter { int hits; pthread_mutex_t lock; } c;
    static void *work(void *arg) {
      struct counter *to = arg;
      to->hits_5 = pi(c.hits_0, c.hits_1)
      for (int i = 0; i < 2; i++) { pthread_mutex_lock(&to->lock); to->hits_1(to->hits_5)++; pthread_mutex_unlock(&to->lock); }
      return NULL;
    }
    int main(void) {
      pthread_t a, b;
      pthread_create(&a, NULL, work, &c);
      pthread_create(&b, NULL, work, &c);
      pthread_join(a, NULL); /* both */
      pthread_join(b, NULL);
      c.hits_6 = pi(c.hits_0, c.hits_1)
      if (c.hits_6 != 4)
        return 1;
    }
    "#);
}
