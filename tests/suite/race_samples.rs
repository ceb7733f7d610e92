//! The samples `races_*`: the races that their comments tell of, and no others.

use cssame::answer::{Compiled, RacesRequest, races_of};
use cssame::budget::Budget;
use cssame::model::{Options, Unit};
use std::collections::BTreeMap;
use support::{root, samples};

/// Pairs of each sample: the places, and `benign`, `differs`, `harmful` with the places that go first in a failure,
/// `impossible` or `unconfirmed`. What is not listed has no pair.
pub const RACES: &[(&str, &[&str])] = &[
    (
        "races_array_list_broken",
        &[
            "data@22:9 other.data@40:38 unconfirmed",
            "count@23:9 other.count@37:18 differs",
            "count@23:9 other.count@38:18 differs",
            "count@30:22 other.count@37:18 harmful b",
            "count@30:22 other.count@38:18 harmful a",
        ],
    ),
    ("races_buffer_broken", &["count@15:7 count@17:5 harmful a"]),
    ("races_cache_broken", &["sleeping@14:5 sleeping@17:9 harmful a"]),
    ("races_cancel_broken", &["worker@12:5 worker@14:9 harmful b", "worker@12:5 worker@15:25 harmful a"]),
    ("races_double_checked_broken", &["made@14:8 made@17:9 harmful b", "value@18:9 value@22:10 harmful b"]),
    (
        "races_hash_set_broken",
        &[
            "bucket@22:7 other.bucket@44:17 differs",
            "size@23:7 other.size@41:18 differs",
            "size@33:7 other.size@41:18 harmful b",
            "bucket@34:7 other.bucket@44:17 harmful a b",
            "bucket@35:7 other.bucket@44:17 harmful a",
        ],
    ),
    (
        "races_linked_list_broken",
        &[
            "value@24:9 other.value@53:18 unconfirmed",
            "next@25:9 other.next@54:16 unconfirmed",
            "head@26:9 other.head@49:18 harmful a b",
            "changes@27:9 other.changes@48:22 harmful b",
            "changes@27:9 other.changes@51:13 harmful a b",
            "head@34:7 other.head@49:18 harmful b",
            "changes@36:7 other.changes@48:22 benign",
            "changes@36:7 other.changes@51:13 harmful a b",
        ],
    ),
    ("races_moldyn_broken", &["epot@17:3 epot@17:3 benign"]),
    ("races_montecarlo_broken", &["debug@11:3 debug@11:3 benign", "debug@11:3 debug@13:7 benign"]),
    ("races_pool_broken", &["taken@13:7 taken@15:3 harmful a"]),
    ("races_publication_broken", &["data@13:5 data@17:14 impossible", "ready@14:5 ready@16:9 differs"]),
    (
        "races_raytracer_broken",
        &[
            "checksum@12:27 checksum@14:29 harmful a b",
            "checksum@12:27 checksum@14:40 harmful b",
            "checksum@12:38 checksum@14:29 harmful a",
        ],
    ),
    ("races_read_copy", &["low@13:5 low@19:17 impossible", "high@14:5 high@20:20 impossible"]),
    ("races_read_copy_broken", &["low@10:5 low@13:17 harmful a b", "high@11:5 high@14:20 harmful a b"]),
    ("races_server_broken", &["served@13:16 served@14:3 differs", "served@14:3 served@14:3 benign"]),
    ("races_sor_broken", &["outer0@14:5 outer0@18:23 differs", "outer1@15:23 outer1@17:5 differs"]),
    (
        "races_statistics_broken",
        &["hits@11:7 hits@12:7 benign", "hits@11:7 hits@12:14 benign", "hits@11:14 hits@12:7 benign"],
    ),
    ("races_stop_flag_broken", &["running@13:12 running@17:5 harmful a"]),
    ("races_task_queue", &["address@15:5 address@20:23 impossible"]),
    ("races_task_queue_broken", &["address@14:5 address@18:23 harmful b"]),
    (
        "races_tree_set_broken",
        &[
            "value@23:9 other.value@47:28 unconfirmed",
            "left@24:9 other.left@45:11 unconfirmed",
            "left@24:9 other.left@45:41 unconfirmed",
            "root@26:24 other.root@42:24 unconfirmed",
            "root@26:24 other.root@42:56 differs",
            "root@26:24 other.root@43:18 unconfirmed",
            "left@27:35 other.left@45:11 differs",
            "left@27:35 other.left@45:41 unconfirmed",
            "root@35:7 other.root@42:24 harmful b",
            "root@35:7 other.root@42:56 benign",
            "root@35:7 other.root@43:18 harmful a",
        ],
    ),
    (
        "races_vector_broken",
        &[
            "count@20:9 count@31:30 differs",
            "count@20:9 count@33:34 differs",
            "count@27:22 count@31:30 differs",
            "count@27:22 count@33:34 differs",
        ],
    ),
];

fn races(name: &str, text: &str) -> Vec<String> {
    let options = Options::default();
    let subject = Compiled::new(Unit::from_text(name, text, &[]).unwrap(), options.clone());
    let request = RacesRequest { trials: 20, ..RacesRequest::default() };
    let answer = races_of(&subject, &options, &request, &Budget::unlimited()).unwrap();
    let told = answer.report.potential.iter().map(|pair| {
        let verdict = match pair.status {
            "real" if pair.harmful => format!("harmful {}", pair.fails_when_first.join(" ")),
            "real" if pair.benign => "benign".to_owned(),
            "real" if pair.outcomes_differ == Some(true) => "differs".to_owned(),
            status => status.to_owned(),
        };
        format!("{} {} {verdict}", pair.a, pair.b)
    });
    told.collect()
}

#[test]
fn samples_race_as_their_comments_say() {
    let expected: BTreeMap<&str, &[&str]> = RACES.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    let named: Vec<_> = samples().into_iter().filter(|(name, _)| name.starts_with("races_")).collect();
    assert_eq!(named.len(), 40);
    for (name, text) in support::part(named, 14) {
        seen += 1;
        let found = races(&name, &text);
        if found != expected.get(name.as_str()).copied().unwrap_or_default() {
            wrong.push(format!("{name}: {found:#?}"));
        }
    }
    assert!(seen >= 13, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_sample_of_a_race_has_a_twin_and_says_what_is_expected() {
    let named: Vec<_> = samples().into_iter().filter(|(name, _)| name.starts_with("races_")).collect();
    assert_eq!(named.len(), 40);
    for (name, text) in support::part(named, 14) {
        let twin = name.strip_suffix("_broken").map_or_else(|| format!("{name}_broken"), str::to_owned);
        assert!(root().join(format!("samples/{twin}.csm")).exists(), "{name}");
        assert!(text.starts_with("// ") && text.contains("\n// Expected: ") && text.contains(&twin), "{name}");
    }
}

#[test]
fn the_page_of_the_command_shows_what_it_prints() {
    let page = std::fs::read_to_string(root().join("docs/commands/races.md")).unwrap();
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_cssame"))
        .args(["races", "samples/sen_fig1.csm", "-q"])
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(command.stdout).unwrap();
    let shown = page.split("For `samples/sen_fig1.csm`:\n\n```text\n").nth(1).and_then(|rest| rest.split("```").next());
    // The execution that shows the race is one of several.
    let verdicts = |text: &str| text.split("\nline ").next().unwrap_or_default().to_owned();
    let shown = shown.map(verdicts).unwrap_or_default();
    assert!(shown == verdicts(&text), "docs/commands/races.md does not show:\n{text}");
}
