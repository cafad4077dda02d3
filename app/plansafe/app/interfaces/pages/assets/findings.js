// The findings of a plan by rule: a head with their number and first step, and the findings in a fold. The groups are
// those of the terminal (render/finding_groups.py).
const MOST_OPEN = 3;
const MOST_LISTED = 300;
const AT_A_GLANCE = 6;

class Findings {
  constructor(view) {
    this.view = view;
    this.report = view.report;
    this.nodes = new Map();
    this.groups = this.report.groups.map((places) => ({ places, listed: 1 }));
    this.order = this.groups.flatMap((group) => group.places);
    const decided = this.order.find((at) => this.report.findings[at].class !== "undecided");
    this.first = decided ?? this.order[0];
    for (const group of this.groups) this.build(group);
    this.groups.forEach((group, at) => { group.node.open = this.groups.length <= MOST_OPEN || at === 0 || group.places.includes(this.first); });
    this.node = h("div", null, this.groups.map((group) => group.node));
  }

  build(group) {
    const [first] = group.places;
    const finding = this.report.findings[first];
    const kind = finding.class === "undecided" ? " undecided" : finding.follows.length ? " follows" : "";
    const all = this.total(group, finding);
    const where = all > 1 ? `first: ${this.where(finding)}` : this.where(finding);
    group.more = h("div", { class: "more" });
    group.next = h("p");
    group.body = h("div");
    group.node = h("details", { class: `rule${kind}`, on: { toggle: () => group.node.open && this.fill(group) } },
      h("summary", null, h("b", null, finding.rule ? h("code", null, finding.rule) : prose(all > 1 ? finding.code : finding.message)),
        h("span", null, count(all, finding.class === "undecided" ? "undecided finding" : "finding")), h("span", null, where),
        finding.severity ? h("span", null, finding.severity) : null, finding.hazard ? h("span", null, finding.hazard) : null,
        finding.blame && finding.blame !== "introduced" ? h("span", null, finding.blame) : null,
        finding.follows.length ? h("span", null, "follows from a failed step") : null),
      group.body);
  }

  // The number of findings of a rule: the engine counted those that are not listed.
  total(group, finding) {
    const rule = this.report.suppressed ? (this.report.rules || []).find((one) => one.name === finding.rule) : null;
    return Math.max(group.places.length, this.groups.filter((one) => this.report.findings[one.places[0]].rule === finding.rule).length === 1 && rule ? rule.violations : 0);
  }

  fill(group) {
    if (group.filled) return;
    group.filled = true;
    refill(group.body, this.article(group.places[0]), group.places.length > 1 ? [group.more, group.next] : null);
    if (group.places.length > 1) this.list(group, MOST_LISTED);
  }

  list(group, number) {
    const until = Math.min(group.places.length, group.listed + number);
    for (; group.listed < until; group.listed += 1) group.more.append(this.later(group.places[group.listed]));
    const left = group.places.length - until;
    refill(group.next, left ? press(`${Math.min(left, MOST_LISTED)} more of ${left.toLocaleString("en")}`, () => this.list(group, MOST_LISTED), { class: "screen" }) : null);
  }

  // The node of a finding; its group is opened.
  shown(at) {
    const group = this.groups.find(({ places }) => places.includes(at));
    this.fill(group);
    group.node.open = true;
    const place = group.places.indexOf(at);
    if (place >= group.listed) this.list(group, place + 1 - group.listed);
    const node = this.nodes.get(at);
    if (node.tagName === "DETAILS") node.open = true;
    return node;
  }

  where(finding) {
    return finding.at_end ? "at the end" : finding.step ? `step ${finding.step.toLocaleString("en")}` : "initial state";
  }

  article(at) {
    const finding = this.report.findings[at];
    const node = h("article", { class: "finding", id: `finding-${at}`, tabindex: -1 },
      h("div", null, h("div", { class: "title" }, prose(finding.message)), this.body(finding, at, true)),
      at === this.first ? nearestRepair(this.view) : null);
    this.nodes.set(at, node);
    return node;
  }

  later(at) {
    const finding = this.report.findings[at];
    const text = finding.message.replace(/^rule `[^`]*` is violated[^:]*: /, "");
    const body = h("div");
    const node = h("details", { class: "finding", id: `finding-${at}`, tabindex: -1, on: { toggle: () => { if (!body.firstChild) refill(body, this.body(finding, at, false)); } } },
      h("summary", null, h("span", { class: "soft" }, this.where(finding)), " ", prose(text)), body);
    this.nodes.set(at, node);
    return node;
  }

  // What is known of a finding; the texts of the rule are at its first finding alone.
  body(finding, at, withRule) {
    const { view } = this;
    const because = (view.detail.causes || []).find((one) => one.finding === at);
    const where = this.where(finding);
    const worlds = view.detail.worlds && view.detail.worlds.about && view.detail.worlds.about[at];
    return [
      h("div", { class: "meta" },
        view.world >= 0 ? press(where, () => view.showFinding(at), { class: "link" }) : h("span", null, where),
        finding.rule ? (view.world >= 0 ? press(finding.rule, () => view.inspector.rule(finding.rule), { class: "link" }) : h("span", null, finding.rule)) : null,
        h("span", null, finding.code), finding.severity ? h("span", null, `severity ${finding.severity}`) : null,
        finding.hazard ? h("span", null, finding.hazard) : null, finding.blame ? h("span", null, finding.blame) : null,
        (finding.taxonomy || []).map((one) => h("span", { class: "chip" }, one)), worlds ? h("span", null, worlds) : null,
        finding.replayed === true ? h("span", null, "confirmed by the kernel") : null),
      finding.binding && Object.keys(finding.binding).length ? h("p", { class: "code soft" }, bound(pairs(finding.binding))) : null,
      finding.notes.length ? h("ul", { class: "plain" }, finding.notes.map((note) => h("li", null, prose(note)))) : null,
      finding.table ? this.table(finding.table) : null,
      because ? h("p", null, h("b", null, "Cause: "), prose(because.text), because.minimum ? " (proved to be the least)" : "") : null,
      withRule && finding.rationale ? h("p", { class: "soft" }, prose(finding.rationale)) : null,
      withRule && finding.rationale_source ? h("p", { class: "soft" }, h("b", null, "Source: "), prose(finding.rationale_source)) : null,
      finding.help ? h("p", { class: "help" }, h("b", null, "What helps: "), prose(finding.help)) : null];
  }

  table(table) {
    const { view } = this;
    const row = (one) => h("tr", { class: one.status ? "important" : null },
      h("td", { class: "number", "data-name": "step" }, one.step || ""),
      h("td", { class: "code", "data-name": "action" }, one.step && view.world >= 0 ? press(one.action, () => view.chooseStep(one.step), { class: "fact" }) : one.action),
      one.cells.map(([before, after], at) => h("td", { "data-name": table.columns[at] }, before === after ? h("span", { class: "was" }, after) : h("span", null, h("span", { class: "was" }, `${before} \u2192 `), h("b", null, after)))),
      h("td", { class: "gone", "data-name": "result" }, one.status));
    const rows = table.rows.map(row);
    if (table.omitted) rows.splice(1, 0, h("tr", null, h("td"), h("td", { class: "soft", colspan: table.columns.length + 2 }, `${count(table.omitted, "earlier change")} not listed`)));
    return scrolling("changes of the facts of this finding", h("table", { class: "stacked" },
      h("thead", null, h("tr", null, h("th", null, "step"), h("th", null, "action"), table.columns.map((one) => h("th", { class: "code" }, one)), h("th", null, "result"))),
      h("tbody", null, rows)));
  }
}

// The nearest safe plan next to the first finding, or the command that finds it.
function nearestRepair(view) {
  const { detail, report } = view;
  const box = (...children) => h("aside", { class: "nearest", "aria-label": "Nearest safe plan" }, h("h3", null, "Nearest safe plan"), children);
  const steps = view.detail.timelines.length ? view.detail.timelines[0] : null;
  if (!detail.repair) {
    const findable = steps && steps.bare && ["UNSAFE", "INVALID"].includes(report.headline);
    return findable ? box(h("p", null, "Find it with ", h("code", null, `safecheck repair ${report.plan}`))) : null;
  }
  const { repairs, outcome, original } = detail.repair;
  if (!repairs.length) return outcome ? box(h("p", null, prose(outcome.message)), outcome.help ? h("p", { class: "soft" }, prose(outcome.help)) : null) : null;
  const changes = repairs[0].rows.filter(([mark]) => mark !== " ");
  const row = ([mark, old, fresh, text]) => h("li", { class: { "+": "plus", "-": "minus", "~": "plus" }[mark] || "moved" },
    h("b", null, { "+": "insert", "-": "delete", "~": "change", "<": "move away", ">": "move here" }[mark]), ` ${fresh || old} `, h("code", null, mark === "~" ? `${original[old - 1]} \u2192 ${text}` : text));
  const shown = changes.slice(0, AT_A_GLANCE);
  return box(h("p", null, badge(repairs[0].headline), " ", changes.length <= AT_A_GLANCE ? prose(repairs[0].words) : `${count(changes.length, "changed step")}`, " ", h("span", { class: "soft" }, `(cost ${repairs[0].cost})`)),
    h("ul", { class: "plain" }, shown.map(row), changes.length > shown.length ? h("li", { class: "soft" }, `${changes.length - shown.length} more`) : null),
    h("p", null, press("compare both plans", () => document.getElementById("repair").scrollIntoView(), { class: "link screen" })));
}
