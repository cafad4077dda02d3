// Who gives what to whom: steps from top to bottom, an arc for each causal link, threats on the other side.
const NODE_ROW = 30;
const NODE_WIDTH = 390;
const ARC = 13;
const MOST_NODES = 400;

class Graph {
  constructor(view, graph) {
    this.view = view;
    this.graph = graph;
    this.every = graph.edges.length <= 30;
    this.chosen = null;
    this.cause = new Set((view.detail.causes || []).flatMap((one) => one.steps || []));
    this.drawing = scrolling("causal graph");
    this.said = h("div", { "aria-live": "polite" });
    this.toggle = press("", () => { this.every = !this.every; this.draw(); }, { class: "screen" });
    this.node = h("div", null,
      h("div", { class: "row" }, this.toggle,
        h("span", { class: "soft" }, "An arc leads from the step that gives a fact to the step that needs it. Choose a step for its facts.")),
      this.drawing, this.said);
    this.draw();
  }

  // What a violation, a missing fact or the goal rests on; without any of the first two, everything.
  relevant() {
    const { nodes, edges } = this.graph;
    if (this.every) return new Set(nodes.map((one) => one.name));
    const ends = nodes.filter((one) => one.kind === "rule" || one.kind === "missing" || one.edit).map((one) => one.name);
    const keep = new Set(ends);
    for (const edge of edges) {
      if (edge.kind === "threat" || edge.kind === "open" || edge.kind === "rule" || edge.kind === "before") { keep.add(edge.source); keep.add(edge.target); }
    }
    for (const step of this.cause) keep.add(`step ${step}`);
    if (!keep.size) return new Set(nodes.map((one) => one.name));
    for (const edge of edges) if (edge.kind === "link" && keep.has(edge.target) && edge.needed) keep.add(edge.source);
    return keep;
  }

  draw() {
    const keep = this.relevant();
    const { graph } = this;
    const touched = new Set(graph.edges.flatMap((edge) => [edge.source, edge.target]));
    let nodes = graph.nodes.filter((one) => keep.has(one.name) && (touched.has(one.name) || one.kind === "step"));
    const place = (one) => (one.kind === "start" ? 0 : one.kind === "missing" ? 0.2 : one.at);
    nodes = nodes.map((one, order) => ({ ...one, order })).sort((a, b) => place(a) - place(b) || a.order - b.order);
    const left = nodes.length - MOST_NODES;
    nodes = nodes.slice(0, MOST_NODES);
    const rows = new Map(nodes.map((one, row) => [one.name, row]));
    const edges = graph.edges.filter((edge) => rows.has(edge.source) && rows.has(edge.target));
    refill(this.toggle, this.every ? "only what matters to the findings" : `all ${graph.nodes.length} steps and ends`);
    const sides = { right: [], left: [] };
    for (const edge of edges) {
      const a = rows.get(edge.source);
      const b = rows.get(edge.target);
      (edge.kind === "threat" ? sides.left : sides.right).push({ edge, from: Math.min(a, b), to: Math.max(a, b), a, b });
    }
    const merged = (arcs) => {
      const by = new Map();
      for (const arc of arcs) {
        const key = `${arc.a} ${arc.b} ${arc.edge.kind}`;
        if (by.has(key)) by.get(key).labels.push(arc.edge.label);
        else by.set(key, { ...arc, labels: [arc.edge.label], needed: false });
        by.get(key).needed ||= arc.edge.needed;
      }
      const out = [...by.values()].sort((p, q) => p.to - p.from - (q.to - q.from));
      const lanes = [];
      for (const arc of out) {
        arc.lane = lanes.findIndex((taken) => taken.every(([from, to]) => arc.to <= from || arc.from >= to));
        if (arc.lane < 0) arc.lane = lanes.push([]) - 1;
        lanes[arc.lane].push([arc.from, arc.to]);
      }
      return [out, lanes.length];
    };
    // In the whole graph nearly every step needs something of the initial state: those arcs wait for their step.
    const plenty = this.every && nodes.length > 12;
    const calm = (arc) => !plenty || nodes[arc.a].kind !== "start" || arc.edge.kind !== "link" || near(arc);
    const near = (arc) => this.chosen !== null && (nodes[arc.a].name === this.chosen || nodes[arc.b].name === this.chosen);
    const [right, depth] = merged(sides.right.filter(calm));
    const needed = merged(sides.right)[0];
    const [threats, room] = merged(sides.left);
    const start = room * ARC + 26;
    const end = start + NODE_WIDTH;
    const said = 560;
    const width = end + depth * ARC + 30 + said;
    const height = nodes.length * NODE_ROW + 12;
    const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "causal graph" });
    const y = (row) => 6 + row * NODE_ROW + NODE_ROW / 2;
    const kindOf = (arc) => (near(arc) ? " lit" : this.chosen !== null ? " faded" : "");
    const bracket = (arc, side) => {
      const edge = side > 0 ? end : start;
      const out = edge + side * (14 + arc.lane * ARC);
      const r = side * 6;
      const [from, to] = [y(arc.a) + 4, y(arc.b) - 4];
      const down = from < to ? 6 : -6;
      svg.append(s("path", {
        class: `edge ${arc.edge.kind}${arc.needed || arc.edge.kind !== "link" ? "" : " loose"}${kindOf(arc)}`,
        d: `M${edge} ${from} H${out - r} Q${out} ${from} ${out} ${from + down} V${to - down} Q${out} ${to} ${out - r} ${to} H${edge + side * 7}`,
      }, s("title", null, `${nodes[arc.a].label} \u2192 ${nodes[arc.b].label}: ${arc.labels.join(", ")}`)));
      const bad = arc.edge.kind === "link" || arc.edge.kind === "before" ? "" : " bad";
      svg.append(s("path", { class: `head${near(arc) ? " lit" : bad}`, d: `M${edge + side * 1} ${to} l${side * 8} -4 v8 z` }));
    };
    threats.forEach((arc) => bracket(arc, -1));
    right.forEach((arc) => bracket(arc, 1));
    nodes.forEach((one, row) => {
      const cause = one.kind === "step" && this.cause.has(one.step);
      const kind = `${one.kind}${cause ? " cause" : ""}${one.redundant ? " redundant" : ""}${one.name === this.chosen ? " chosen" : ""}`;
      svg.append(s("rect", { class: `node ${kind}`, x: start, y: y(row) - 12, width: NODE_WIDTH, height: 24, rx: one.kind === "step" ? 4 : 12 }));
      svg.append(s("text", { class: one.kind === "step" ? "code" : null, x: start + 9, y: y(row) + 4 }, cut(one.label, 52)));
      const needs = needed.filter((arc) => arc.b === row).flatMap((arc) => arc.labels.map((label) => `${label} \u2190 ${shortName(nodes[arc.a])}`));
      const lost = threats.filter((arc) => arc.b === row).flatMap((arc) => arc.labels.map((label) => `${shortName(nodes[arc.a])} ${label}`));
      const words = cut([...lost, ...needs].join(",  "), 80);
      svg.append(s("text", { class: "code soft", x: end + depth * ARC + 26, y: y(row) + 4 }, words, s("title", null, [...lost, ...needs].join("\n"))));
      svg.append(s("rect", { class: "hit", x: start, y: y(row) - 13, width: NODE_WIDTH, height: 26, tabindex: 0, role: "button", "aria-label": one.label,
        on: { click: () => this.choose(one), keydown: (event) => event.key === "Enter" && this.choose(one) } }, s("title", null, one.label)));
    });
    refill(this.drawing, svg);
    if (left > 0) this.drawing.append(h("p", { class: "soft" }, `${left} more are not drawn.`));
  }

  choose(one) {
    this.chosen = this.chosen === one.name ? null : one.name;
    this.draw();
    const label = (name) => this.graph.nodes.find((node) => node.name === name).label;
    const needs = this.graph.edges.filter((edge) => edge.target === one.name);
    const gives = this.graph.edges.filter((edge) => edge.source === one.name);
    refill(this.said, this.chosen === null ? null : [h("h3", null, one.label),
      h("ul", { class: "plain" },
        needs.map((edge) => h("li", null, { open: "lacks ", threat: "is undone: " }[edge.kind] || "needs ", h("code", null, edge.label), edge.kind === "open" ? "" : ` from ${label(edge.source)}`)),
        gives.map((edge) => h("li", null, { threat: "", before: "stands before: ", rule: "its " }[edge.kind] ?? "gives ", h("code", null, edge.label), ` \u2192 ${label(edge.target)}`)))]);
    if (one.step && this.chosen !== null) this.view.chooseStep(one.step, true);
  }
}

function shortName(node) {
  return node.kind === "step" ? String(node.step) : node.kind === "start" ? "initial state" : node.label;
}
