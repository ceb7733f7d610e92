//! How coverage of memory-access patterns grows with the executions of generated tests, for each strategy: the plot of
//! docs/coverage.md.
//!
//! In: one class of `samples/classes`. Out: after so many executions the mean, over 10 seeds, of the proportion of
//! instances that are covered, of those that the text does not exclude; as CSV. It measures no time: the numbers are the
//! same on every machine. Run with `cargo bench --bench coverage_growth`; with `-- --write` it writes them to
//! `docs/coverage-growth.csv`, and the plot to `docs/coverage-growth.svg`.

mod classes;

use classes::{SEEDS, mean, tests_for, text};
use cssame::budget::Budget;
use cssame::coverage::generate::{Generated, Request, Strategy};
use cssame::coverage::{self, Instance, find_in_drivers};
use cssame::model::{Options, Unit};
use plotters::prelude::*;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

/// The class: one with many fields and two locks.
const CLASS: &str = "striped_map";

/// The font of all texts, and its size.
const TEXT: (&str, i32) = ("sans-serif", 15);

/// Tests of a run.
const TESTS: u64 = 240;

/// Executions between two points.
const EVERY: usize = 20;

/// Points of a run.
const POINTS: usize = (TESTS * Request::EXECUTIONS as u64) as usize / EVERY;

fn main() -> Result<(), Box<dyn Error>> {
    let text = text(CLASS);
    let possible = possible(&text).ok_or("the class does not compile")?;
    let curves = Strategy::ALL.map(|strategy| curve(&text, strategy, possible));
    let csv = csv(&curves);
    #[allow(clippy::print_stdout, reason = "the numbers are what it is for")]
    {
        println!("{csv}");
    }
    if std::env::args().any(|argument| argument == "--write") {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        fs::write(docs.join("coverage-growth.csv"), csv + "\n")?;
        fs::write(docs.join("coverage-growth.svg"), plot(&curves)?)?;
    }
    Ok(())
}

/// The number of instances that the text does not exclude.
fn possible(text: &str) -> Option<f64> {
    let options = Options::default();
    let unit = Unit::from_text("class.csm", text, &options.inputs).ok()?;
    let request =
        coverage::Request { seeds: 0..0, schedules: Vec::new(), max_steps: 0, explore: None, witnesses: false };
    let findings = find_in_drivers(&unit, &options, &request, &Budget::unlimited());
    Some((findings.totals.all - findings.excluded.len() as u64) as f64)
}

/// The mean proportion at each point.
fn curve(text: &str, strategy: Strategy, possible: f64) -> Vec<f64> {
    let request = |seed| Request {
        seed,
        strategy,
        tests: Some(TESTS),
        explore: None,
        keep_going: true,
        log: true,
        ..Request::default()
    };
    let runs: Vec<Vec<usize>> = (0..SEEDS).filter_map(|seed| Some(growth(&tests_for(text, &request(seed))?))).collect();
    let at = |point: usize| -> Vec<f64> { runs.iter().map(|run| run[point] as f64 / possible).collect() };
    (0..POINTS).map(|point| mean(&at(point))).collect()
}

/// The number of instances that are covered at each point. Tests of no use are not executed: the last number stays.
fn growth(generated: &Generated) -> Vec<usize> {
    let mut covered: BTreeSet<Instance> = BTreeSet::new();
    let mut numbers = Vec::new();
    for (number, execution) in generated.log.iter().enumerate() {
        covered.extend(&execution.instances);
        if (number + 1) % EVERY == 0 {
            numbers.push(covered.len());
        }
    }
    numbers.resize(POINTS, covered.len());
    numbers
}

fn csv(curves: &[Vec<f64>; 4]) -> String {
    let mut lines = vec![format!("executions,{}", Strategy::ALL.map(Strategy::word).join(","))];
    lines.extend((0..POINTS).map(|point| {
        let cells = curves.each_ref().map(|curve| format!("{:.4}", curve[point]));
        format!("{},{}", (point + 1) * EVERY, cells.join(","))
    }));
    lines.join("\n")
}

fn plot(curves: &[Vec<f64>; 4]) -> Result<String, Box<dyn Error>> {
    let colours = [RGBColor(110, 110, 110), RGBColor(0, 114, 178), RGBColor(230, 159, 0), RGBColor(0, 158, 115)];
    let most = curves.iter().flatten().copied().fold(0.0, f64::max);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (720, 440)).into_drawing_area();
        area.fill(&WHITE)?;
        let (last, top) = ((POINTS * EVERY) as f64, (most * 10.0).ceil() * 10.0);
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..last, 0.0..top)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(TEXT)
            .axis_desc_style(TEXT)
            .x_desc("executions")
            .y_desc("covered instances, %")
            .x_label_formatter(&|value| format!("{value:.0}"))
            .y_label_formatter(&|value| format!("{value:.0}"))
            .draw()?;
        for ((curve, colour), strategy) in curves.iter().zip(colours).zip(Strategy::ALL) {
            let points = curve.iter().enumerate().map(|(point, value)| (((point + 1) * EVERY) as f64, value * 100.0));
            let series = LineSeries::new(std::iter::once((0.0, 0.0)).chain(points), colour.stroke_width(2));
            let key = move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], colour.stroke_width(2));
            chart.draw_series(series)?.label(strategy.word()).legend(key);
        }
        let position = SeriesLabelPosition::LowerRight;
        chart
            .configure_series_labels()
            .position(position)
            .label_font(TEXT)
            .background_style(WHITE)
            .border_style(BLACK)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}
