//! The relation graph of a task as a picture: DOT for Graphviz, or a plain SVG.

use crate::task::node::{Edge, NodeId, NodeKind};
use crate::task::text::headline;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The longest label of a node in a picture, in characters.
pub const LABEL_CHARS_MAX: usize = 28;

/// Nodes and edges. The same relations make the same picture, in whatever order they came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    nodes: BTreeMap<NodeId, String>,
    edges: BTreeMap<(NodeId, NodeId, &'static str), Edge>,
}

impl Graph {
    /// Makes a graph of relations.
    pub fn of(edges: &[Edge]) -> Self {
        let mut graph = Self::default();
        edges.iter().for_each(|edge| graph.add(edge));
        graph
    }

    /// Adds a relation and its nodes. One that is there already stays, with the greater weight.
    pub fn add(&mut self, edge: &Edge) {
        for node in [&edge.from, &edge.to] {
            self.nodes.entry(node.clone()).or_default();
        }
        let key = (edge.from.clone(), edge.to.clone(), edge.label.name());
        let known = self.edges.entry(key).or_insert_with(|| edge.clone());
        if edge.weight > known.weight {
            *known = edge.clone();
        }
    }

    /// Gives a node a text; without one its id is shown alone.
    pub fn label(&mut self, node: NodeId, text: &str) {
        self.nodes.insert(node, headline(text, 4 * LABEL_CHARS_MAX));
    }

    /// Lists the nodes with their texts, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &str)> {
        self.nodes.iter().map(|(node, text)| (node, text.as_str()))
    }

    /// Lists the edges, in order.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.values()
    }

    /// Writes the graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph task {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
        for (node, text) in &self.nodes {
            let id = quoted(&node.to_string());
            let label = if text.is_empty() { id.clone() } else { format!("{id}\\n{}", quoted(text)) };
            let _ = writeln!(out, "  \"{id}\" [label=\"{label}\"];");
        }
        for Edge { from, to, label, weight, evidence } in self.edges.values() {
            let (from, to) = (quoted(&from.to_string()), quoted(&to.to_string()));
            let width = 0.5 + 1.5 * weight.value();
            let _ = write!(out, "  \"{from}\" -> \"{to}\" [label=\"{label}\", penwidth={width:.2}");
            if !evidence.is_empty() {
                let _ = write!(out, ", tooltip=\"{}\"", quoted(&headline(evidence, 200)));
            }
            out.push_str("];\n");
        }
        out.push_str("}\n");
        out
    }

    /// Draws the graph: a column for each kind of node, plain SVG without scripts or styles from elsewhere.
    pub fn to_svg(&self) -> String {
        let places = self.places();
        let columns = places.values().map(|place| place.column + 1).max().unwrap_or(0);
        let rows = places.values().map(|place| place.row + 1).max().unwrap_or(0);
        let (width, height) = (MARGIN + columns * COLUMN, TOP + rows * ROW + MARGIN);
        let mut out = String::new();
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#667\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        let kinds: BTreeMap<u32, NodeKind> =
            places.iter().map(|(node, place)| (place.column, node.kind())).collect();
        for (column, kind) in kinds {
            let x = MARGIN + column * COLUMN;
            let _ =
                writeln!(out, "<text x=\"{x}\" y=\"24\" fill=\"#667\" font-weight=\"bold\">{kind}</text>");
        }
        for edge in self.edges.values() {
            if let (Some(from), Some(to)) = (places.get(&edge.from), places.get(&edge.to)) {
                draw_edge(&mut out, edge, *from, *to);
            }
        }
        for (node, text) in &self.nodes {
            if let Some(place) = places.get(node) {
                draw_node(&mut out, node, text, *place);
            }
        }
        out.push_str("</svg>\n");
        out
    }

    /// Puts each node in the column of its kind, one below the other.
    fn places(&self) -> BTreeMap<&NodeId, Place> {
        let used: Vec<NodeKind> = NodeKind::ALL
            .iter()
            .copied()
            .filter(|kind| self.nodes.keys().any(|node| node.kind() == *kind))
            .collect();
        let mut places = BTreeMap::new();
        for (column, kind) in (0..).zip(used) {
            let nodes = self.nodes.keys().filter(|node| node.kind() == kind);
            places.extend((0..).zip(nodes).map(|(row, node)| (node, Place { column, row })));
        }
        places
    }
}

const MARGIN: u32 = 20;
const TOP: u32 = 40;
const COLUMN: u32 = 300;
const ROW: u32 = 64;
const BOX_WIDTH: u32 = 200;
const BOX_HEIGHT: u32 = 42;

#[derive(Debug, Clone, Copy)]
struct Place {
    column: u32,
    row: u32,
}

impl Place {
    fn left(self) -> u32 {
        MARGIN + self.column * COLUMN
    }

    fn right(self) -> u32 {
        self.left() + BOX_WIDTH
    }

    fn middle(self) -> u32 {
        TOP + self.row * ROW + BOX_HEIGHT / 2
    }
}

fn draw_edge(out: &mut String, edge: &Edge, from: Place, to: Place) {
    let (y1, y2) = (from.middle(), to.middle());
    // Edges to the right leave and arrive at the sides that face each other; those within a column bend around it.
    let (x1, x2, bend1, bend2) = match from.column.cmp(&to.column) {
        std::cmp::Ordering::Less => (from.right(), to.left(), from.right() + 50, to.left() - 50),
        std::cmp::Ordering::Equal => (from.right(), to.right(), from.right() + 60, to.right() + 60),
        std::cmp::Ordering::Greater => {
            (from.left(), to.right(), from.left().saturating_sub(50), to.right() + 50)
        }
    };
    let (x, y) = ((x1 + x2 + 3 * (bend1 + bend2)) / 8, (y1 + y2) / 2 - 4);
    let (width, label) = (0.5 + 1.5 * edge.weight.value(), edge.label);
    let told =
        if edge.evidence.is_empty() { String::new() } else { format!(": {}", headline(&edge.evidence, 200)) };
    let title = escaped(&format!("{} {label} {}{told}", edge.from, edge.to));
    let _ = writeln!(
        out,
        "<path d=\"M{x1} {y1}C{bend1} {y1} {bend2} {y2} {x2} {y2}\" fill=\"none\" stroke=\"#99a\" \
         stroke-width=\"{width:.2}\" marker-end=\"url(#end)\"><title>{title}</title></path>\n\
         <text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#667\">{label}</text>"
    );
}

fn draw_node(out: &mut String, node: &NodeId, text: &str, place: Place) {
    let (x, y) = (place.left(), place.middle() - BOX_HEIGHT / 2);
    let (text_x, first, second) = (x + 10, y + 17, y + 33);
    let id = node.to_string();
    let title = if text.is_empty() { id.clone() } else { format!("{id}: {text}") };
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"8\" \
         fill=\"{}\" stroke=\"#445\"/><text x=\"{text_x}\" y=\"{first}\">{}</text>\
         <text x=\"{text_x}\" y=\"{second}\" fill=\"#445\">{}</text></g>",
        escaped(&title),
        fill(node.kind()),
        escaped(&headline(&id, LABEL_CHARS_MAX)),
        escaped(&headline(text, LABEL_CHARS_MAX)),
    );
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

/// Escapes a text for a quoted string of DOT. Control characters have no place in a label.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
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
    use crate::entry::Seq;
    use crate::task::identity::TaskId;
    use crate::task::node::{EdgeLabel, Weight};
    use crate::task::path::WorkPath;

    fn graph() -> Graph {
        let file = NodeId::File(WorkPath::new("src/\"odd\" <b>&.rs").unwrap());
        let (task, note) = (NodeId::Task(TaskId(Seq(1))), NodeId::Note(Seq(4)));
        let mut weak = Edge::new(note.clone(), task.clone(), EdgeLabel::Mentions, "said \"so\"\nat 10:00");
        weak.weight = Weight::new(0.5).unwrap();
        let mut graph = Graph::of(&[
            weak,
            Edge::new(task.clone(), file.clone(), EdgeLabel::Writes, ""),
            Edge::new(note, NodeId::Note(Seq(10)), EdgeLabel::Relates, ""),
            Edge::new(task.clone(), file, EdgeLabel::Writes, ""),
        ]);
        graph.label(task, "Add <retry>\n\"logic\" \\ \u{1b}[31m");
        graph
    }

    #[test]
    fn dot_is_escaped_and_in_order() {
        let dot = "digraph task {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n\
  \x20 \"task:1\" [label=\"task:1\\nAdd <retry> \\\"logic\\\" \\\\ [31m\"];\n\
  \x20 \"note:4\" [label=\"note:4\"];\n\
  \x20 \"note:10\" [label=\"note:10\"];\n\
  \x20 \"file:src/\\\"odd\\\" <b>&.rs\" [label=\"file:src/\\\"odd\\\" <b>&.rs\"];\n\
  \x20 \"task:1\" -> \"file:src/\\\"odd\\\" <b>&.rs\" [label=\"writes\", penwidth=2.00];\n\
  \x20 \"note:4\" -> \"task:1\" [label=\"mentions\", penwidth=1.25, tooltip=\"said \\\"so\\\" at 10:00\"];\n\
  \x20 \"note:4\" -> \"note:10\" [label=\"relates\", penwidth=2.00];\n}\n";
        assert_eq!(graph().to_dot(), dot);
    }

    #[test]
    fn svg_is_well_formed_and_the_same_each_time() {
        let svg = graph().to_svg();
        assert_eq!(svg, graph().to_svg());
        assert!(svg.contains("src/&quot;odd&quot; &lt;b&gt;&amp;.rs"));
        assert!(!svg.contains("<b>") && !svg.contains('\u{1b}'));
        for tag in ["g", "text", "title", "svg", "path"] {
            let opened = svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
            let closed = svg.matches(&format!("</{tag}>")).count();
            assert_eq!(opened, closed + if tag == "path" { 1 } else { 0 }, "{tag}");
        }
        assert_eq!(svg.matches("<g>").count(), 4);
        assert_eq!(svg.matches("marker-end").count(), 3);
        assert!(Graph::default().to_svg().ends_with("</svg>\n"));
    }
}
