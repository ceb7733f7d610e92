//! The text, DOT and JSON forms of small programs.

use cssame::ir::dot::dot_program;
use cssame::ir::json::program_data;
use cssame::ir::print::{Plain, print_function, print_program};
use cssame::ir::{FunctionId, Program};
use cssame::model::Unit;
use cssame::source::SourceMap;
use support::unit;

fn compiled(text: &str) -> (SourceMap, Program) {
    let Unit { sources, program, .. } = unit(text);
    (sources, program)
}

fn text_of(text: &str) -> String {
    let (sources, program) = compiled(text);
    print_program(&program, &sources, &Plain)
}

#[test]
fn threads_locks_and_accesses() {
    let text = "int a = 0; lock L;\nvoid main() {\n  int x;\n  cobegin T1: { lock(L); a += 2; unlock(L); } T2: x = a; coend\n  print(a, x);\n}";
    insta::assert_snapshot!(text_of(text), @r"
    global a: int = 0
    global L: lock
    local x: int = 0  // of main

    main main() {  // 2:6
    b0:
      &x = allocate x
      fork T1, T2(&x)
      join
      %1 = load a@5:9
      %2 = load x@5:12
      print %1, %2
      return
    }

    arm T1() {  // 4:11
    b0:
      lock L
      %0 = load a@4:26
      %1 = %0 + 2
      store a@4:26 = %1
      unlock L
      return
    }

    arm T2(&x) {  // 4:47
    b0:
      %1 = load a@4:55
      store x@4:51 = %1
      return
    }
    ");
}

#[test]
fn objects_arrays_and_arithmetic() {
    let text = r#"class C { lock L; long n = 5; bool b[2]; int get(int i) { lock(L); b[i] = n << 2 > 3; unlock(L); return -i; } }
        C c; sem s = 2; barrier q(2);
        void main() { double d = 0.5 * c.get(1); P(s); barrier(q); atomic { swap(c.n, 3); } assert(!c.b[0], "no \"b\""); print("x", d); }"#;
    insta::assert_snapshot!(text_of(text), @r#"
    global c.L: lock
    global c.n: long = 5L
    global c.b: bool[2]
    global s: sem = 2
    global q: barrier(2)

    public method int C.get(&this, int i) {  // 1:46
    b0:
      lock this+0
      %2 = load n@1:75 in &this
      %3 = %2 <<.long 2L
      %4 = 3L <.long %3
      store b[i]@1:68 in &this = %4
      unlock this+0
      %5 = -i
      return %5
    }

    main main() {  // 3:14
    b0:
      &%1 = &c
      %0 = call C.get(&%1, 1)
      %2 = double(%0)
      %3 = 0.5 *.double %2
      d = %3
      P s
      barrier q
      begin atomic
      %5 = swap c.n@3:82, 3L
      end atomic
      %6 = load c.b[0]@3:101
      %7 = !%6
      assert %7, "no \"b\""
      print "x", d
      return
    }
    "#);
}

#[test]
fn loops_spawns_and_names_that_come_twice() {
    let text = "int f(int n) { return n; }
        void main() { thread t = spawn f(1); for (int i = 0; i < 2; i++) { skip; } for (int i = 0; i < 2; i++) { break; } join(t);
          parfor (int k = 0; k < 3; k++) { print(k); } }";
    insta::assert_snapshot!(text_of(text), @r"
    function int f(int n) {  // 1:5
    b0:
      return n
    }

    main main() {  // 2:14
    b0:
      t = no thread
      %1 = spawn f(1) as t
      t = %1
      i = 0
      goto b1
    b1:
      %3 = i < 2
      if %3 goto b2 else b3
    b2:
      goto b4
    b4:
      %4 = i + 1
      i = %4
      goto b1
    b3:
      i.2 = 0
      goto b5
    b5:
      %6 = i.2 < 2
      if %6 goto b6 else b7
    b6:
      goto b7
    b7:
      join t
      k = 0
      %9 = 0
      goto b10
    b10:
      %10 = k < 3
      if %10 goto b11 else b12
    b11:
      fork parfor@3[%9](k) for 0..3 step 1
      %9 = %9 + 1
      %11 = k + 1
      k = %11
      goto b10
    b12:
      join
      return
    b8:  // not reached
      %7 = i.2 + 1
      i.2 = %7
      goto b5
    }

    arm parfor@3(int k) {  // 3:11
    b0:
      print k
      return
    }
    ");
}

#[test]
fn code_that_is_not_reached_comes_last() {
    let (sources, program) = compiled("int f() { return 1; print(2); } void main() { f(); }");
    insta::assert_snapshot!(print_function(&program, &sources, FunctionId(0), &Plain), @r"
    function int f() {  // 1:5
    b0:
      return 1
    b1:  // not reached
      print 2
      return 0
    }
    ");
}

#[test]
fn arms_stand_between_fork_and_join() {
    let (sources, program) = compiled(
        "int a; void main() { print(\"\\\"\"); cobegin T1: a = 1; T2: if (a > 0) { a = 2; } coend print(a); }",
    );
    insta::assert_snapshot!(dot_program(&program, &sources, &Plain), @r#"
    digraph pfg {
      node [shape=box, fontname=monospace];
      edge [fontname=monospace];
      subgraph cluster_0 {
        label="main main()";
        f0_b0_0 [label="b0:\lprint \"\\\"\"\lfork T1, T2\l"];
        f0_b0_1 [label="join\l%0 = load a@1:92\lprint %0\lreturn\l"];
      }
      f0_b0_0 -> f0_b0_1;
      subgraph cluster_1 {
        label="arm T1()";
        f1_b0_0 [label="b0:\lstore a@1:47 = 1\lreturn\l"];
      }
      subgraph cluster_2 {
        label="arm T2()";
        f2_b0_0 [label="b0:\l%0 = load a@1:62\l%1 = 0 < %0\lif %1 goto b1 else b2\l"];
        f2_b1_0 [label="b1:\lstore a@1:71 = 2\lgoto b2\l"];
        f2_b2_0 [label="b2:\lreturn\l"];
      }
      f2_b0_0 -> f2_b1_0 [label=T];
      f2_b0_0 -> f2_b2_0 [label=F];
      f2_b1_0 -> f2_b2_0;
      f0_b0_0 -> f1_b0_0 [style=dashed];
      f0_b0_0 -> f2_b0_0 [style=dashed];
      f1_b0_0 -> f0_b0_1 [style=dashed];
      f2_b2_0 -> f0_b0_1 [style=dashed];
    }
    "#);
}

#[test]
fn data_names_accesses_and_threads() {
    let (sources, program) = compiled("int a; void main() { cobegin T1: fetch_add(a, 1); coend }");
    let data = program_data(&program, &sources, &Plain);
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "variables": [
        {
          "name": "a",
          "line": 1,
          "column": 5,
          "leaves": [
            {
              "name": "a",
              "kind": "int"
            }
          ]
        }
      ],
      "functions": [
        {
          "id": 0,
          "name": "main",
          "kind": "main",
          "line": 1,
          "column": 13,
          "parameters": [],
          "blocks": [
            {
              "id": 0,
              "reachable": true,
              "instructions": [
                {
                  "text": "fork T1",
                  "line": 1,
                  "column": 22,
                  "functions": [
                    1
                  ]
                },
                {
                  "text": "join",
                  "line": 1,
                  "column": 51
                },
                {
                  "text": "return",
                  "line": 1,
                  "column": 57
                }
              ],
              "successors": []
            }
          ]
        },
        {
          "id": 1,
          "name": "T1",
          "kind": "arm",
          "line": 1,
          "column": 30,
          "parameters": [],
          "blocks": [
            {
              "id": 0,
              "reachable": true,
              "instructions": [
                {
                  "text": "%0 = fetch_add a@1:44, 1",
                  "line": 1,
                  "column": 44,
                  "writes": "%0",
                  "read": {
                    "at": "a@1:44"
                  },
                  "write": {
                    "at": "a@1:44"
                  }
                },
                {
                  "text": "return",
                  "line": 1,
                  "column": 49
                }
              ],
              "successors": []
            }
          ]
        }
      ]
    }
    "#);
}
