//! The reliability plot: said against was, one line for each report.

use std::fmt::Write;

use super::Report;

const SIZE: f64 = 360.0;
const MARGIN: f64 = 48.0;
const LEGEND: f64 = 220.0;
const COLOURS: [&str; 6] = ["#0b6e99", "#c2410c", "#4d7c0f", "#7e22ce", "#b91c1c", "#52525b"];

/// Draws reports as one SVG picture; a point's area grows with the number of decisions behind it.
#[must_use]
pub fn reliability_svg(reports: &[Report]) -> String {
    let (width, height) = (SIZE + 2.0 * MARGIN + LEGEND, SIZE + 2.0 * MARGIN);
    let x = |value: f64| MARGIN + value * SIZE;
    let y = |value: f64| MARGIN + (1.0 - value) * SIZE;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Reliability: how often a boundary was there, by the probability that was said</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for step in 0..=5 {
        let value = f64::from(step) / 5.0;
        let _ = write!(
            out,
            "<path d=\"M{} {}H{}M{} {}V{}\" stroke=\"#e4e4e7\" fill=\"none\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{value:.1}</text>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{value:.1}</text>\n",
            x(0.0),
            y(value),
            x(1.0),
            x(value),
            y(0.0),
            y(1.0),
            x(value),
            y(0.0) + 16.0,
            x(0.0) - 6.0,
            y(value) + 4.0,
        );
    }
    let _ = write!(
        out,
        "<path d=\"M{} {}L{} {}\" stroke=\"#a1a1aa\" stroke-dasharray=\"4 4\" fill=\"none\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">probability said</text>\n\
         <text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">share of boundaries</text>\n",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0),
        x(0.5),
        y(0.0) + 34.0,
        y(0.5),
    );
    for (at, report) in reports.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let bins = || report.bins.iter().filter(|bin| bin.count > 0);
        let points: Vec<String> = bins().map(|bin| format!("{:.1},{:.1}", x(bin.said), y(bin.was))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" stroke=\"{colour}\" fill=\"none\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
        for bin in bins() {
            let radius = 2.0 + (bin.count as f64).ln();
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" fill-opacity=\"0.5\"><title>{} decisions, said {:.2}, was {:.2}</title></circle>",
                x(bin.said),
                y(bin.was),
                bin.count,
                bin.said,
                bin.was,
            );
        }
        let line = MARGIN + 18.0 * at as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{} {} (error {:.3})</text>",
            x(1.0) + 16.0,
            line,
            x(1.0) + 32.0,
            line + 9.0,
            escape(&report.set),
            report.output,
            report.calibration_error,
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
