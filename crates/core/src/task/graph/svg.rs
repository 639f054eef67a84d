//! Draws a graph that was laid out.

use super::Graph;
use super::layout::{BOX_WIDTH, COLUMN, Line, MARGIN, Spot, lay_out};
use crate::task::node::{NodeId, NodeKind};
use crate::task::text::headline;
use std::fmt::Write;

/// How far a line that joins two boxes of one column goes away from them.
const BOW: i32 = 70;

/// How many narrow characters fit into a box.
const FITS: usize = 26;

pub(super) fn draw(graph: &Graph) -> String {
    let layout = lay_out(graph);
    let (width, height) = (layout.width, layout.height);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" \
         fill=\"#667\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (kind, x) in layout.kinds.iter().zip((MARGIN..).step_by(COLUMN.unsigned_abs() as usize)) {
        let _ = writeln!(out, "<text x=\"{x}\" y=\"24\" fill=\"#667\" font-weight=\"bold\">{kind}</text>");
    }
    layout.lines.iter().for_each(|line| draw_line(&mut out, line));
    // Labels come last, so that no line runs over one.
    layout.lines.iter().for_each(|line| draw_label(&mut out, line));
    for (node, spot) in &layout.boxes {
        draw_node(&mut out, node, graph.nodes.get(*node).map_or("", String::as_str), *spot);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_line(out: &mut String, line: &Line<'_>) {
    let mut path = String::new();
    for (at, (x, y)) in line.points.iter().enumerate() {
        let Some((from_x, from_y)) = at.checked_sub(1).and_then(|before| line.points.get(before)) else {
            let _ = write!(path, "M{x} {y}");
            continue;
        };
        // From column to column it bends; along a column it goes straight; within a column it goes around.
        let _ = match x - from_x {
            0 => write!(path, "C{0} {from_y} {0} {y} {x} {y}", x + BOW),
            across if across.abs() == BOX_WIDTH => write!(path, "H{x}"),
            across => write!(path, "C{0} {from_y} {0} {y} {x} {y}", from_x + across / 2),
        };
    }
    let weight = line.edges.iter().map(|edge| edge.weight.value()).fold(0.0, f64::max);
    let width = 0.5 + 1.5 * weight;
    let told = line.edges.iter().map(|edge| {
        let evidence = if edge.evidence.is_empty() { "" } else { ": " };
        let evidence = format!("{evidence}{}", headline(&edge.evidence, 200));
        format!("{} {} {}{evidence}", edge.from, edge.label, edge.to)
    });
    let title = escaped(&told.collect::<Vec<_>>().join("; "));
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#99a\" stroke-width=\"{width:.2}\" \
         marker-end=\"url(#end)\"><title>{title}</title></path>"
    );
}

/// Writes what a line says where it arrives: lines leave together more often than they arrive together.
fn draw_label(out: &mut String, line: &Line<'_>) {
    let [.., (before, _), (x, y)] = line.points[..] else { return };
    let (x, anchor) = if before < x { (x - 12, "end") } else { (x + 12, "start") };
    let names: Vec<_> = line.edges.iter().map(|edge| edge.label.name().replace('_', " ")).collect();
    let (y, names) = (y - 3, names.join(", "));
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"10\" stroke=\"#fff\" \
         stroke-width=\"3\">{names}</text><text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"10\" \
         fill=\"#556\">{names}</text>"
    );
}

fn draw_node(out: &mut String, node: &NodeId, text: &str, spot: Spot) {
    let Spot { left: x, top: y, height } = spot;
    let text_x = x + 10;
    let id = node.to_string();
    // The column says what kind it is.
    let name = id.split_once(':').map_or(id.as_str(), |(_, name)| name);
    let title = if text.is_empty() { id.clone() } else { format!("{id}: {text}") };
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{height}\" rx=\"8\" \
         fill=\"{}\" stroke=\"#445\"/>",
        escaped(&title),
        fill(node.kind()),
    );
    let lines = match text {
        "" => vec![clipped(name)],
        text => vec![clipped(name), clipped(text)],
    };
    let first = y + height / 2 + if lines.len() == 1 { 4 } else { -4 };
    for (line, y) in lines.iter().zip((first..).step_by(16)) {
        let fill = if y == first { "" } else { " fill=\"#445\"" };
        let _ = write!(out, "<text x=\"{text_x}\" y=\"{y}\"{fill}>{}</text>", escaped(line));
    }
    out.push_str("</g>\n");
}

/// Clips a text to what fits into a box; of a path the end says more than the beginning.
fn clipped(text: &str) -> String {
    let wide = |c: char| if c < '\u{1100}' { 1 } else { 2 };
    let width: usize = text.chars().map(wide).sum();
    if width <= FITS {
        return text.to_owned();
    }
    let (mut room, from_the_end) = (FITS - 1, text.contains('/') && !text.contains(' '));
    let mut fits = |c: &char| {
        let left = room.checked_sub(wide(*c));
        room = left.unwrap_or(0);
        left.is_some()
    };
    match from_the_end {
        true => {
            let end: Vec<char> = text.chars().rev().take_while(&mut fits).collect();
            format!("…{}", end.into_iter().rev().collect::<String>())
        }
        false => format!("{}…", text.chars().take_while(fits).collect::<String>()),
    }
}

fn fill(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Session => "#e8eaf6",
        NodeKind::Task => "#d7ecff",
        NodeKind::Message => "#f3f3f3",
        NodeKind::Note => "#fff8d6",
        NodeKind::Decision => "#dff3df",
        NodeKind::Command => "#efe3fb",
        NodeKind::Diagnostic => "#ffdede",
        NodeKind::File => "#e6f4f1",
    }
}

/// Escapes a text for XML, which cannot hold control characters and non-characters at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_clipped_where_they_say_least() {
        assert_eq!(clipped("short"), "short");
        assert_eq!(clipped(&"word ".repeat(9)), "word word word word word …");
        assert_eq!(clipped("crates/core/src/task/graph/layout.rs"), "…/src/task/graph/layout.rs");
        assert_eq!(clipped("重试五次以后放弃，并写日志然后告诉我"), "重试五次以后放弃，并写日…");
    }
}
