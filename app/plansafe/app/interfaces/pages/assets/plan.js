// One plan: verdict, findings, steps, and why.
const BARE = "A run keeps the steps and the findings. What each step changed, the causes and the repair are on the page of the one plan: safecheck PLAN --format html.";

const RULE_COLUMNS = [["rule", "name"], ["kind", "kind"], ["instances", "instances", "number"], ["came into play", "triggered", "number"], ["violations", "violations", "number"], ["status", "status"]];
const SHORT_LIST = 6;
const LONGEST_ITEM = 400;

// The steps of a plan as a run keeps them: no changes are known, and no lanes.
function bareLine({ report, script }) {
  const missing = { source: "", time: null, duration: null, at: null, lasts: null };
  const moment = (letter) => ({ letter, steps: letter ? [[letter, "start"]] : [], changes: [], time: null, at: null });
  const stops = report.findings.filter((one) => one.rule === null && one.class === "inexecutable" && !one.at_end && one.step && one.step <= script.length);
  return {
    name: "", bare: true, initial: null, tracks: [], whole: true,
    steps: script.map((text) => ({ text, ...missing })), moments: [...Array(script.length + 1).keys()].map(moment),
    mishaps: stops.map((one) => ({ step: one.step, code: one.code, other: 0, detail: "", time: null, at: null })),
  };
}

class PlanView {
  constructor(detail, place) {
    if (detail.script && detail.script.length) detail = { ...detail, timelines: [bareLine(detail)] };
    this.detail = detail;
    this.place = place;
    this.report = detail.report;
    this.rules = Object.fromEntries(pairs(detail.rules).map(([name, number]) => [name, index.rules[number]]));
    this.world = detail.timelines.length ? 0 : -1;
    this.chosenRow = -1;
    this.chosenFinding = -1;
    this.marked = new Set();
    this.node = h("div", { class: "plan" });
    this.build();
  }

  build() {
    const { report, detail } = this;
    const parts = [];
    const section = (id, title, ...children) => {
      parts.push([id, title]);
      return h("section", { class: "part", id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), children);
    };
    this.findings = new Findings(this);
    this.mapPlace = h("div");
    const body = [];
    const total = report.findings.length + report.suppressed;
    body.push(section("findings", total ? `Findings (${total.toLocaleString("en")})` : "Findings",
      total ? this.findings.node : h("p", { class: "soft" }, (report.headline || "NOT CHECKED") === "NOT CHECKED" ? "The plan was not checked." : "Nothing was found."),
      report.suppressed ? h("p", { class: "soft" }, `${count(report.suppressed, "more finding")} ${report.suppressed === 1 ? "is" : "are"} not listed: --max-findings ${total}`) : null));
    if (detail.worlds && detail.worlds.scenes) body.push(section("worlds", "Worlds", worldsPart(this)));
    if (detail.timelines.length) {
      this.stepsPlace = h("div");
      body.push(section("steps", "Steps", this.stepsPlace));
      if (detail.timelines.some((line) => line.steps.some((step) => step.time !== null))) {
        this.ganttPlace = h("div");
        body.push(section("gantt", "Gantt chart", this.ganttPlace));
      }
      if (detail.timelines[0].courses?.length) body.push(section("numbers", "Numbers over time", this.numbersPlace = h("div")));
    } else if (detail.steps_note) body.push(section("steps", "Steps", h("p", { class: "soft" }, prose(detail.steps_note))));
    if (detail.graph || detail.graph_note) {
      body.push(section("graph", "Who gives what to whom", this.why(),
        detail.graph_note ? h("p", { class: "soft" }, detail.graph_note) : null, detail.graph ? new Graph(this, detail.graph).node : null));
    }
    if (detail.repair) body.push(section("repair", "Repair", repairPart(detail)));
    body.push(section("about", "What was checked", this.about()));
    const steps = detail.timelines.length ? detail.timelines[0].steps.length : report.steps;
    refill(this.node,
      h("h1", null, badge(report.headline), " ", report.plan),
      h("dl", { class: "values" },
        this.value("executable", report.executable), this.value("goal", report.goal),
        this.value("safe", report.safe || ((report.rules || []).length ? "not checked, no applicable rules" : "not checked, no rules")), this.value("steps", steps),
        this.value("rules", report.rules_checked),
        pairs(detail.columns).map(([name, value]) => this.value(name, value))),
      report.diagnostics.map((one) => h("div", { class: "warnbox" }, h("b", null, `${one.severity} ${one.code} `), prose(one.message), one.notes.map((note) => h("p", { class: "soft" }, prose(note))), one.help ? h("p", { class: "soft" }, "help: ", prose(one.help)) : null)),
      this.mapPlace,
      h("nav", { class: "parts", "aria-label": "parts of this page" }, parts.map(([id, title]) => press(title, () => document.getElementById(id).scrollIntoView(), { class: "link" }))),
      body);
    if (this.world >= 0) this.switchTo(this.world);
  }

  value(name, value) {
    return value === null || value === undefined ? null : h("div", null, h("dt", null, name), h("dd", null, String(value)));
  }

  why() {
    const { where, classes } = this.detail;
    const out = [];
    if (where && where.point_of_no_return) {
      const [low, high] = where.point_of_no_return;
      out.push(h("p", null, low === high ? `After step ${low} a safe plan could still be reached${where.fatal ? `, after step ${where.fatal} no more` : ""}.` : `The point of no return lies between step ${low} and step ${high}.`));
    }
    const item = (one) => h("li", null, h("b", null, one.class), ": ", prose(cut(one.text, LONGEST_ITEM)));
    const short = (classes || []).slice(0, SHORT_LIST);
    const more = (classes || []).slice(SHORT_LIST);
    if (short.length) out.push(h("ul", { class: "plain" }, short.map(item)));
    if (more.length) out.push(h("details", null, h("summary", null, `${more.length + this.detail.more_classes} more`), h("ul", { class: "plain" }, more.map(item), this.detail.more_classes ? h("li", { class: "soft" }, `${this.detail.more_classes} more are not listed`) : null)));
    return out;
  }

  about() {
    const { report } = this;
    const rules = (report.rules || []).filter((rule) => rule.instances);
    return [
      h("table", { class: "inputs" }, h("tbody", null, (report.inputs || []).map((one) => h("tr", null, h("td", null, one.role), h("td", { class: "code" }, one.path), h("td", { class: "soft" }, one.how))))),
      h("p", { class: "soft" }, `judge ${report.decided.judge}, least severity ${report.decided.min_severity}; engine ${report.engine.name}, safecheck ${report.engine.version}`),
      this.coverage(report.coverage),
      report.readings.length > 1 ? h("table", null, h("thead", null, h("tr", null, ["reading", "steps taken", "goal", "safe"].map((one) => h("th", null, one)))),
        h("tbody", null, report.readings.map((one) => h("tr", null, h("td", null, one.name), h("td", { class: "number" }, one.executed), h("td", null, one.goal), h("td", null, one.safe || ""))))) : null,
      rules.length ? h("details", null, h("summary", null, `${count(rules.length, "rule")} had something to check`),
        scrolling("rules", h("table", { class: "stacked" }, h("thead", null, h("tr", null, RULE_COLUMNS.map((one) => h("th", null, one[0])))),
          h("tbody", null, rules.map((one) => h("tr", null, RULE_COLUMNS.map(([name, field, kind]) => h("td", { class: kind, "data-name": name }, one[field])))))))) : null];
  }

  coverage(seen) {
    if (!seen) return null;
    const breaks = (one) => one.breaks.map((found) => h("li", null, `if it is ${found.kinds.join(" and ")}${found.others.length ? `, as ${found.others.join(" and ")}` : ""}: rule ${found.rule} (${found.severity})`));
    return [
      h("p", null, `${seen.applicable} of ${count(seen.applicable + seen.not_applicable, "rule")} can apply here.`),
      seen.reasons.length ? h("details", null, h("summary", null, `${count(seen.not_applicable, "rule")} cannot apply`),
        h("ul", null, seen.reasons.map((one) => h("li", null, prose(`${one.reason}: ${one.rules.join(", ")}`))))) : null,
      seen.unclassified.length ? h("details", null, h("summary", null, `${seen.unclassified.length} ${seen.unclassified.length === 1 ? "class" : "classes"} of objects without a known kind`),
        h("ul", null, seen.unclassified.map((one) => h("li", null, h("span", { class: "code" }, one.class), one.used ? ", used by the plan" : "", one.breaks.length ? h("ul", null, breaks(one)) : null)))) : null,
      seen.given.map((one) => h("p", null, one.kinds.length ? `${one.class} is ${one.kinds.join(", ")}` : `${one.class} is assumed to be harmless`, one.reason ? `: ${one.reason}` : "", ` (${one.place})`))];
  }

  // -- the timeline -----------------------------------------------------------------------------------------------

  switchTo(world) {
    this.world = world;
    this.line = this.detail.timelines[world];
    this.rows = timelineRows(this.line);
    this.lanes = new Lanes(this.line.tracks, null);
    this.inspector = new Inspector(this);
    this.flagged = new Map();
    this.report.findings.forEach((finding, at) => {
      const row = this.rowOf(finding);
      if (row >= 0) this.flagged.set(row, [...(this.flagged.get(row) || []), at]);
    });
    this.drawSteps();
    this.drawGantt();
    this.map = new Minimap(this);
    refill(this.mapPlace, this.map.node);
    const first = this.report.findings.findIndex((one) => one.class !== "undecided");
    if (first >= 0 && this.rowOf(this.report.findings[first]) >= 0) this.chooseRow(this.rowOf(this.report.findings[first]), true);
    else refill(this.inspector.node, h("p", { class: "soft" }, "Choose a step, a rule or a finding."));
  }

  drawGantt() {
    if (this.ganttPlace) refill(this.ganttPlace, gantt(this));
    if (this.numbersPlace) refill(this.numbersPlace, fluentPlots(this));
  }

  drawSteps() {
    const { line, lanes } = this;
    const switching = this.detail.timelines.length > 1 ? h("div", { class: "row", role: "group", "aria-label": "worlds" },
      this.detail.timelines.map((one, at) => press(one.name, () => this.switchTo(at), { "aria-pressed": at === this.world }))) : line.name ? h("p", { class: "soft" }, line.name) : null;
    const choose = (rule) => this.inspector.rule(rule);
    const more = lanes.quiet ? press(lanes.every ? "only rules at risk or broken" : `${count(lanes.quiet, "more rule")} that only watched`, () => {
      lanes.every = !lanes.every;
      this.drawSteps();
      this.drawGantt();
    }, { class: "screen" }) : null;
    const timed = line.steps.some((step) => step.time !== null);
    this.list = longList({
      size: ROW, rows: this.rows.length, make: (at) => this.row(at), choose: (at) => this.chooseRow(at, true), label: "steps of the plan", role: "listbox",
      open: (at) => this.chooseRow(at, true),
    });
    const box = h("div", { class: timed ? "timed" : null }, lanes.shown.length ? lanes.head(choose) : null, this.list.node);
    box.style.setProperty("--lanes", `${lanes.width}px`);
    const cutOff = line.whole ? null : h("p", { class: "soft" }, "A limit was reached: what comes later is not shown.");
    refill(this.stepsPlace, switching, h("div", { class: "columns" }, h("div", null, line.bare ? h("p", { class: "soft" }, BARE) : h("div", { class: "row" }, timelineLegend(), more), box, cutOff), this.inspector.node));
    this.list.draw();
  }

  row(at) {
    const row = this.rows[at];
    const kinds = ["step", row.mishaps.length ? "failed" : "", row.behind ? "behind" : "", this.flagged.has(at) ? "flagged" : "",
      !row.step ? "edge" : "", row.letter !== null && this.marked.has(row.letter) ? "about" : ""].filter(Boolean).join(" ");
    return h("div", { class: kinds, title: row.what },
      h("span", { class: "no" }, row.no), h("span", { class: "lanes" }, this.lanes.row(row.letter, at === this.rows.length - 1)),
      h("span", { class: "what" }, row.what),
      h("span", { class: "changes" }, row.mishaps.length ? h("span", { class: "gone" }, row.missing ? "is not taken" : "cannot be taken") : null, changeWords(row)));
  }

  rowOf(finding) {
    if (this.world < 0) return -1;
    if (finding.worlds && this.line.worlds && !this.line.worlds.includes(finding.world)) return -1;
    if (finding.at_end && !finding.readings.includes("force") && this.line.mishaps.length) return this.rows.findIndex((row) => row.mishaps.length);
    if (finding.at_end) return this.rows.findIndex((row) => row.ending);
    if (!finding.step) return 0;
    const letters = this.line.tracks.filter((track) => track.rule === finding.rule)
      .flatMap((track) => track.looks).filter((look) => look.state === "breaks").map((look) => look.first);
    const here = (row) => row.step === finding.step || row.before === finding.step || (row.steps || []).includes(finding.step);
    const exact = this.rows.findIndex((row) => here(row) && letters.includes(row.letter));
    return exact >= 0 ? exact : this.rows.findIndex(here);
  }

  findingsAt(row) {
    return (this.flagged.get(this.rows.indexOf(row)) || []).map((at) => [at, this.report.findings[at]]);
  }

  saidAt(letter) {
    return this.lanes.all.flatMap((track) => track.looks.filter((look) => look.first <= letter && letter <= look.last).map((look) => [track, look]));
  }

  chooseRow(at, quiet) {
    if (at < 0) return;
    this.chosenRow = at;
    if (this.list.chosen !== at) this.list.pick(at, true);
    this.inspector.step(this.rows[at]);
    this.map?.mark(at);
    if (!quiet) this.list.node.scrollIntoView({ block: "nearest" });
  }

  chooseStep(step, still) {
    const at = this.rows.findIndex((row) => row.step === step || (row.steps || []).includes(step));
    this.chooseRow(at, still);
  }

  showFinding(at) {
    const { world } = this.report.findings[at];
    const line = this.detail.timelines.findIndex((one) => (one.worlds || []).includes(world));
    if (line >= 0 && line !== this.world) this.switchTo(line);
    this.markFinding(at);
    this.chooseRow(this.rowOf(this.report.findings[at]));
  }

  chooseFinding(at) {
    this.markFinding(at);
    const node = this.findings.shown(at);
    node.scrollIntoView({ block: "nearest" });
    node.focus({ preventScroll: true });
  }

  markFinding(at) {
    if (this.chosenFinding >= 0) this.findings.shown(this.chosenFinding).classList.remove("chosen");
    this.chosenFinding = at;
    this.findings.shown(at).classList.add("chosen");
  }

  nextFinding(by) {
    const { order } = this.findings;
    if (!order.length) return;
    const now = order.indexOf(this.chosenFinding);
    this.chooseFinding(order[now < 0 && by < 0 ? order.length - 1 : (now + by + order.length) % order.length]);
    if (this.world >= 0) this.showFinding(this.chosenFinding);
  }

  mark(letters) {
    this.marked = letters;
    this.list.again();
  }

  markRule(name) {
    this.lanes.chosen = name;
    if (!this.lanes.shown.some((track) => track.rule === name) && this.lanes.all.some((track) => track.rule === name)) {
      this.lanes.every = true;
      this.drawSteps();
    } else this.list.again();
  }

  key(event) {
    const moves = { j: 1, k: -1 };
    if (event.key in moves && this.list) {
      this.list.pick(this.list.chosen + moves[event.key]);
      this.list.node.scrollIntoView({ block: "nearest" });
    } else if (event.key === "n") this.nextFinding(1);
    else if (event.key === "p") this.nextFinding(-1);
    else return false;
    return true;
  }
}
