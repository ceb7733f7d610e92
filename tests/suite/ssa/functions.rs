//! The SSA form of functions, held against the verifier, against executions, and against what people should see.

use cssame::ir::verify::verify;
use cssame::ir::{BlockId, DefinitionId, DefinitionKind, FunctionId, Instruction, Program, ReadId};
use cssame::model::Unit;
use cssame::source::SourceMap;
use cssame::ssa::print::{dot_ssa, print_ssa, ssa_data};
use cssame::ssa::{FunctionSsa, NO_VERSION, Origin, ProgramSsa, build_program, verify_ssa};
use cssame::vm::{Choice, CodeIndex, Event, Machine, Progress, Tables, ThreadName, Visibility};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};
use support::{generate, possible_model, unit};

fn compiled(text: &str) -> (SourceMap, Program) {
    let Unit { sources, program, .. } = unit(text);
    assert_eq!(verify(&program), Ok(()), "{text}");
    (sources, program)
}

fn verified(text: &str) -> (SourceMap, Program, ProgramSsa) {
    let (sources, program) = compiled(text);
    let forms = build_program(&program);
    for form in forms.functions.iter() {
        let result = verify_ssa(&form.graph, form.variables.len(), &form.accesses, &form.ssa);
        assert_eq!(result, Ok(()), "{text}");
    }
    (sources, program, forms)
}

/// The text of one function of the SSA form, from its heading to its closing brace.
fn text_of(text: &str, heading: &str) -> String {
    let (sources, program, forms) = verified(text);
    let all = print_ssa(&program, &sources, &forms);
    let from = all.find(heading).unwrap_or_else(|| panic!("no {heading} in {all}"));
    all[from..].split_inclusive("\n}\n").next().unwrap().to_owned()
}

#[test]
fn every_sample_has_a_form() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "csm") {
            let text = std::fs::read_to_string(&path).unwrap();
            let (sources, program, forms) = verified(&text);
            let again = build_program(&program);
            assert_eq!(print_ssa(&program, &sources, &forms), print_ssa(&program, &sources, &again));
            assert_eq!(dot_ssa(&program, &sources, &forms), dot_ssa(&program, &sources, &again));
            let data = |forms| serde_json::to_string(&ssa_data(&program, &sources, forms)).unwrap();
            assert_eq!(data(&forms), data(&again));
        }
    }
}

#[test]
fn phi_functions_stand_where_values_meet() {
    let text = "int a; void main() { int x; if (a > 0) { a = 1; x = 2; } else { a = 3; } print(a, x); }";
    insta::assert_snapshot!(text_of(text, "main main"), @r"
    main main() {  // 1:13
    b0:
      x_1 = 0
      %1 = load a_0@1:33
      %2 = 0 < %1
      if %2 goto b1 else b2
    b1:
      store a_1@1:42 = 1
      x_2 = 2
      goto b3
    b2:
      store a_2@1:65 = 3
      goto b3
    b3:
      x_3 = phi(x_2, x_1)
      a_3 = phi(a_1, a_2)
      %3 = load a_3@1:80
      print %3, x_3
      return
    }
    ");
}

#[test]
fn calls_and_joins_may_write() {
    let text = "int a; int b; void f(int n) { if (n > 0) { f(n - 1); } a = n; }
        void main() { int x; a = 1; f(2); b = a; cobegin T1: { x = a; } T2: { b = 2; } coend print(a, b, x); }";
    insta::assert_snapshot!(text_of(text, "main main"), @r"
    main main() {  // 2:14
    b0:
      &x = allocate x
      store a_2@2:30 = 1
      call f(2)
      a_3 = chi(a_2)
      %1 = load a_3@2:47
      store b_1@2:43 = %1
      fork T1(&x), T2
      join
      b_3 = chi(b_1)
      x_2 = chi(x_0)
      %2 = load a_3@2:100
      %3 = load b_3@2:103
      %4 = load x_2@2:106
      print %2, %3, %4
      return
    }
    ");
    insta::assert_snapshot!(text_of(text, "function f"), @r"
    function f(int n) {  // 1:20
    b0:
      %1 = 0 < n_0
      if %1 goto b1 else b2
    b1:
      %2 = n_0 - 1
      call f(%2)
      goto b2
    b2:
      store a_1@1:56 = n_0
      return
    }
    ");
    insta::assert_snapshot!(text_of(text, "arm T1"), @r"
    arm T1(&x) {  // 2:58
    b0:
      %1 = load a_0@2:68
      store x_1@2:64 = %1
      return
    }
    ");
}

#[test]
fn what_nothing_needs_is_not_shown() {
    let text = "int a; void f() { a = 1; } void main() { f(); f(); if (a > 0) { f(); } }";
    insta::assert_snapshot!(text_of(text, "main main"), @r"
    main main() {  // 1:33
    b0:
      call f()
      a_2 = chi(a_0)
      call f()
      a_3 = chi(a_2)
      %0 = load a_3@1:56
      %1 = 0 < %0
      if %1 goto b1 else b2
    b1:
      call f()
      goto b2
    b2:
      return
    }
    ");
}

#[test]
fn references_that_may_be_equal_are_one_variable() {
    let text = "class C { int n; } C c; C d;
        void both(C x, C y) { x.n = 1; y.n = 2; print(x.n); }
        void one(C x) { x.n = 1; x.n = 2; print(x.n); }
        void main() { c.n = 1; d.n = 2; print(c.n); both(c, d); print(d.n); }";
    insta::assert_snapshot!(text_of(text, "function both"), @r"
    function both(&x, &y) {  // 2:14
    b0:
      store x.n_1(x.n_0)@2:31 in &x = 1
      store y.n_2(y.n_1)@2:40 in &y = 2
      %2 = load x.n_2@2:55 in &x
      print %2
      return
    }
    ");
    insta::assert_snapshot!(text_of(text, "function one"), @r"
    function one(&x) {  // 3:14
    b0:
      store x.n_3@3:25 in &x = 1
      store x.n_4@3:34 in &x = 2
      %1 = load x.n_4@3:49 in &x
      print %1
      return
    }
    ");
    insta::assert_snapshot!(text_of(text, "main main"), @r"
    main main() {  // 4:14
    b0:
      store c.n_5@4:23 = 1
      store d.n_6@4:32 = 2
      %0 = load c.n_5@4:47
      print %0
      &%1 = &c
      &%2 = &d
      call both(&%1, &%2)
      d.n_7 = chi(d.n_6)
      %3 = load d.n_7@4:71
      print %3
      return
    }
    ");
}

#[test]
fn elements_are_defined_weakly_and_anew_where_they_are_declared() {
    let text =
        "int t[3]; void main() { int i = 0; while (i < 3) { int u[2]; u[i % 2] = i; t[i] = u[0]; i++; } print(t[1]); }";
    insta::assert_snapshot!(text_of(text, "main main"), @r"
    main main() {  // 1:16
    b0:
      i_1 = 0
      goto b1
    b1:
      i_3 = phi(i_1, i_2)
      t_2 = phi(t_0, t_1)
      %1 = i_3 < 3
      if %1 goto b2 else b3
    b2:
      &u = allocate u
      %3 = i_3 % 2
      store u_1(u_0)[%3]@1:62 = i_3
      %4 = load u_1[0]@1:83
      store t_1(t_2)[i_3]@1:76 = %4
      %5 = i_3 + 1
      i_2 = %5
      goto b1
    b3:
      %6 = load t_2[1]@1:102
      print %6
      return
    }
    ");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::size(20, 150) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_have_a_form(seed in any::<u64>()) {
        let text = generate::program(seed, &generate::Size::default());
        prop_assume!(possible_model(&text).is_some());
        verified(&text);
    }

    #[test]
    fn reads_see_only_what_their_version_stands_for(seed in any::<u64>()) {
        let text = Sequential { state: seed | 1, depth: 0, names: 0 }.program();
        let (_, program, forms) = verified(&text);
        let sites = read_sites(&program);
        for (read, writer) in run(&program) {
            let (function, block, position) = sites[&read];
            let seen = sources_of(&program, &forms.functions[function], block, position);
            prop_assert!(seen.admits(&program, function, writer), "{text}\nread {read:?} sees {writer:?}: {seen:?}");
        }
    }
}

/// Where each read stands.
fn read_sites(program: &Program) -> HashMap<ReadId, (FunctionId, BlockId, usize)> {
    let mut sites = HashMap::new();
    for (id, function) in program.functions.entries() {
        for (block, content) in function.blocks.entries() {
            for (position, instruction) in content.instructions.iter().enumerate() {
                if let Instruction::Load { read, .. } | Instruction::Atomic { read, .. } = instruction {
                    sites.insert(*read, (id, block, position));
                }
            }
        }
    }
    sites
}

/// Runs a program of which only one thread can move at a time; gives its reads with those who wrote what they see.
fn run(program: &Program) -> BTreeSet<(ReadId, DefinitionId)> {
    let machine = Machine::new(program, &Visibility::all(program));
    let mut tables = Tables::new();
    let mut events: Vec<(ThreadName, CodeIndex, Event)> = Vec::new();
    let mut state = machine.start(&mut tables, &mut events);
    let mut moves = Vec::new();
    for _ in 0..4_000 {
        machine.moves(&state, &mut moves);
        let Some(first) = moves.first() else { break };
        let choice = Choice { thread: first.thread, alternative: 0 };
        if machine.step(&mut state, &mut tables, choice, &mut events) != Progress::Running {
            break;
        }
    }
    let reads = events.into_iter().filter_map(|(_, _, event)| match event {
        Event::Read { read, writer: Some(writer), .. } => Some((read, writer)),
        _ => None,
    });
    reads.collect()
}

/// What a version may hold: the values of these definitions, and perhaps what other functions have left.
#[derive(Debug, Default)]
struct Sources {
    definitions: BTreeSet<DefinitionId>,
    others: bool,
}

impl Sources {
    fn admits(&self, program: &Program, function: FunctionId, writer: DefinitionId) -> bool {
        let foreign = match program.definitions[writer].kind {
            DefinitionKind::Initial(_) => true,
            // A function that runs twice may see at entry what it wrote before; main does not.
            DefinitionKind::Write(owner) | DefinitionKind::Free(owner) => {
                owner != function || program.main != Some(function)
            }
        };
        self.definitions.contains(&writer) || self.others && foreign
    }
}

/// Follows the version that an instruction reads from memory back to where it may come from.
fn sources_of(program: &Program, form: &FunctionSsa, block: BlockId, position: usize) -> Sources {
    let makers = makers(program, form);
    let mut sources = Sources::default();
    let mut seen = BTreeSet::new();
    let read = form.memory_accesses(block, position).next().unwrap();
    let variable = form.accesses.all()[read].variable;
    let mut open = vec![form.ssa.used(read)];
    while let Some(version) = open.pop() {
        if version == NO_VERSION || !seen.insert(version) {
            continue;
        }
        match form.ssa.origin(variable, version) {
            Origin::Entry => sources.others = true,
            Origin::Phi(phi) => open.extend(form.ssa.arguments(phi as usize)),
            Origin::Access(access) => {
                match makers[&(access as usize)] {
                    Some(definition) => {
                        sources.definitions.insert(definition);
                    }
                    None => sources.others = true,
                }
                open.push(form.ssa.used(access as usize));
            }
        }
    }
    sources
}

/// For each access that writes memory the definition, or none for the effect of a call, a join or an allocation.
fn makers(program: &Program, form: &FunctionSsa) -> HashMap<usize, Option<DefinitionId>> {
    let mut makers = HashMap::new();
    for (block, content) in program.functions[form.id].blocks.entries() {
        for (position, instruction) in content.instructions.iter().enumerate() {
            let definition = match instruction {
                Instruction::Store { definition, .. } | Instruction::Atomic { definition, .. } => Some(*definition),
                _ => None,
            };
            makers.extend(form.memory_accesses(block, position).map(|access| (access, definition)));
        }
    }
    makers
}

/// Random programs in which one thread runs at a time: each `cobegin` has one arm.
struct Sequential {
    state: u64,
    depth: u32,
    names: u32,
}

impl Sequential {
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % end as u64) as usize
    }

    fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.below(items.len())]
    }

    fn program(mut self) -> String {
        let globals = ["a", "b", "t[0]", "t[1]", "o.f", "p.f", "o.g"];
        let method = self.block(&["f", "g", "a", "n"], &[]);
        let first = self.block(&["c.f", "c.g", "a", "t[n % 2]", "n"], &["o.bump(n);", "c.bump(a);"]);
        let second = self.block(&["c.f", "d.f", "b", "n"], &["set(c, n);", "set(d, 1);"]);
        let third = self.block(&["a", "b"], &["if (n > 0) { again(n - 1); }"]);
        let mut places = globals.to_vec();
        places.extend(["x", "y"]);
        let calls =
            ["o.bump(x);", "p.bump(a);", "set(o, y);", "set(p, a);", "two(o, p, b);", "two(o, o, x);", "again(2);"];
        let main = self.block(&places, &calls);
        format!(
            "class C {{ int f; int g; int bump(int n) {method} }} C o; C p; int a; int b = 2; int t[2];
             void set(C c, int n) {first}
             void two(C c, C d, int n) {second}
             void again(int n) {third}
             void main() {{ int x = 1; int y; {main} print(a); }}"
        )
        .replace("int bump(int n) {", "int bump(int n) { if (n > 1000) { return g; }")
        .replacen("} } C o;", "return f; } } C o;", 1)
    }

    fn value(&mut self, places: &[&str]) -> String {
        match self.below(4) {
            0 => self.below(5).to_string(),
            1 => format!("{} + {}", self.pick(places), self.pick(places)),
            _ => self.pick(places).to_owned(),
        }
    }

    fn block(&mut self, places: &[&str], calls: &[&str]) -> String {
        self.depth += 1;
        let mut text = String::from("{ ");
        for _ in 0..2 + self.below(4) {
            text.push_str(&self.statement(places, calls));
            text.push(' ');
        }
        self.depth -= 1;
        text + "}"
    }

    fn statement(&mut self, places: &[&str], calls: &[&str]) -> String {
        let kind = if self.depth > 3 { self.below(6) } else { self.below(13) };
        let place = self.pick(places);
        let value = self.value(places);
        match kind {
            0..=3 => format!("{place} = {value};"),
            4 if !calls.is_empty() => self.pick(calls).to_owned(),
            5 => match self.below(3) {
                0 => format!("swap({place}, {value});"),
                1 => format!("fetch_add({place}, {value});"),
                _ => format!("cas({place}, {}, {value});", self.below(3)),
            },
            6 | 7 => {
                let (one, other) = (self.block(places, calls), self.block(places, calls));
                format!("if ({place} % 2 == 0) {one} else {other}")
            }
            8 => format!("if ({place} > 1) {}", self.block(places, calls)),
            9 => {
                self.names += 1;
                let (name, leave) = (format!("i{}", self.names), self.pick(&["", "break;", "continue;"]));
                let body = self.block(places, calls);
                format!("for (int {name} = 0; {name} < 2; {name}++) {{ if ({place} == 1) {{ {leave} }} {body} }}")
            }
            10 => format!("cobegin A: {} coend", self.block(places, calls)),
            11 => {
                self.names += 1;
                let name = format!("l{}", self.names);
                let mut more = places.to_vec();
                more.push(&name);
                let (before, after) = (self.statement(&more, calls), self.statement(&more, calls));
                let arm = self.block(&more, calls);
                format!("{{ int {name} = {value}; {before} cobegin B: {arm} coend {after} {place} = {name}; }}")
            }
            _ => format!("print({value});"),
        }
    }
}
