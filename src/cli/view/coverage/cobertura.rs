//! Coverage as XML of Cobertura (coverage-04.dtd), for continuous integration.
//!
//! The file is a class in one package. The hits of a line are the executions that access shared memory in it. A line has a
//! condition for each pattern with instances whose first access is in the line: the fraction of them that is covered. Times and
//! complexity, which the format requires, are 0, so that the same answer gives the same bytes.

use cssame_coverage::report::{LineReport, LinesReport};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io::{self, Write};

const DTD: &str = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";

/// What the lines come to.
struct Sums {
    lines: [u64; 2],
    branches: [u64; 2],
}

impl Sums {
    fn new(report: &LinesReport) -> Sums {
        let hit = report.lines.values().filter(|of| of.hits > 0).count();
        let add = |sum: [u64; 2], of: &LineReport| {
            let (covered, total) = of.counts();
            [sum[0] + covered, sum[1].saturating_add(total)]
        };
        Sums { lines: [hit as u64, report.lines.len() as u64], branches: report.lines.values().fold([0, 0], add) }
    }

    fn rates(&self) -> [(&'static str, String); 3] {
        let rate =
            |[covered, all]: [u64; 2]| format!("{:.4}", if all == 0 { 1.0 } else { covered as f64 / all as f64 });
        [("line-rate", rate(self.lines)), ("branch-rate", rate(self.branches)), ("complexity", "0".to_owned())]
    }
}

/// The text of the file.
///
/// # Errors
///
/// It cannot be written, which text in memory always can.
pub fn cobertura(file: &str, report: &LinesReport) -> io::Result<String> {
    let sums = Sums::new(report);
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.write_event(Event::DocType(BytesText::from_escaped(DTD)))?;
    let counts = [
        ("lines-covered", sums.lines[0].to_string()),
        ("lines-valid", sums.lines[1].to_string()),
        ("branches-covered", sums.branches[0].to_string()),
        ("branches-valid", sums.branches[1].to_string()),
        ("version", concat!("cssame ", env!("CARGO_PKG_VERSION")).to_owned()),
        ("timestamp", "0".to_owned()),
    ];
    let attributes: Vec<(&str, String)> = sums.rates().into_iter().chain(counts).collect();
    element(&mut writer, "coverage", &attributes, |writer| {
        element(writer, "sources", &[], |writer| {
            writer.create_element("source").write_text_content(BytesText::new("."))?;
            Ok(())
        })?;
        element(writer, "packages", &[], |writer| package(writer, file, &sums, report))
    })?;
    let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    text.push('\n');
    Ok(text)
}

fn package<W: Write>(writer: &mut Writer<W>, file: &str, sums: &Sums, report: &LinesReport) -> io::Result<()> {
    // Signs that XML has no place for.
    let file: String = file.chars().map(|each| if each.is_control() { '?' } else { each }).collect();
    let named = |more: &[(&'static str, String)]| {
        let mut attributes = more.to_vec();
        attributes.extend(sums.rates());
        attributes
    };
    element(writer, "package", &named(&[("name", String::new())]), |writer| {
        element(writer, "classes", &[], |writer| {
            let class = named(&[("name", file.clone()), ("filename", file.clone())]);
            element(writer, "class", &class, |writer| {
                writer.create_element("methods").write_empty()?;
                element(writer, "lines", &[], |writer| {
                    report.lines.iter().try_for_each(|(&number, of)| line(writer, number, of))
                })
            })
        })
    })
}

fn line<W: Write>(writer: &mut Writer<W>, number: u32, of: &LineReport) -> io::Result<()> {
    let (covered, total) = of.counts();
    let mut attributes = vec![("number", number.to_string()), ("hits", of.hits.to_string())];
    if total == 0 {
        attributes.push(("branch", "false".to_owned()));
        return writer.create_element("line").with_attributes(borrowed(&attributes)).write_empty().map(|_| ());
    }
    attributes.push(("branch", "true".to_owned()));
    attributes.push(("condition-coverage", format!("{} ({covered}/{total})", percent(covered, total))));
    element(writer, "line", &attributes, |writer| {
        element(writer, "conditions", &[], |writer| {
            of.instances.iter().try_for_each(|(pattern, &(covered, total))| {
                let condition = [
                    ("number", pattern.to_string()),
                    ("type", "jump".to_owned()),
                    ("coverage", percent(covered, total)),
                ];
                writer.create_element("condition").with_attributes(borrowed(&condition)).write_empty().map(|_| ())
            })
        })
    })
}

/// Rounded down, so that 100 % means all.
fn percent(covered: u64, total: u64) -> String {
    format!("{}%", u128::from(covered) * 100 / u128::from(total.max(1)))
}

fn borrowed<'a>(attributes: &'a [(&'a str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str()))
}

fn element<W: Write>(
    writer: &mut Writer<W>,
    name: &str,
    attributes: &[(&str, String)],
    inner: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
) -> io::Result<()> {
    writer.create_element(name).with_attributes(borrowed(attributes)).write_inner_content(inner).map(|_| ())
}
