// One plan: verdict, findings, steps, and why.
const BARE = "A run keeps the steps and the findings. What each step changed, the causes and the repair are on the page of the one plan: safecheck PLAN --format html.";

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
    this.findings = report.findings.map((finding, at) => this.finding(finding, at));
    const body = [];
    body.push(section("findings", report.findings.length ? `Findings (${report.findings.length})` : "Findings",
      report.findings.length ? this.findings : h("p", { class: "soft" }, (report.headline || "NOT CHECKED") === "NOT CHECKED" ? "The plan was not judged." : "Nothing was found."),
      report.suppressed ? h("p", { class: "soft" }, `${report.suppressed} more are not listed.`) : null));
    if (detail.worlds && detail.worlds.scenes) body.push(section("worlds", "Worlds", worldsPart(this)));
    if (detail.timelines.length) {
      this.stepsPlace = h("div");
      body.push(section("steps", "Steps", this.stepsPlace));
      if (detail.timelines.some((line) => line.steps.some((step) => step.time !== null))) {
        this.ganttPlace = h("div");
        body.push(section("gantt", "Gantt chart", this.ganttPlace));
      }
    } else if (detail.steps_note) body.push(section("steps", "Steps", h("p", { class: "soft" }, prose(detail.steps_note))));
    if (detail.graph || detail.graph_note) {
      body.push(section("graph", "Who gives what to whom", this.why(), detail.graph ? new Graph(this, detail.graph).node : h("p", { class: "soft" }, detail.graph_note)));
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
      h("nav", { class: "parts", "aria-label": "parts of this page" }, parts.map(([id, title]) => press(title, () => document.getElementById(id).scrollIntoView(), { class: "link" }))),
      body);
    if (this.world >= 0) this.switchTo(this.world);
  }

  value(name, value) {
    return value === null || value === undefined ? null : h("div", null, h("dt", null, name), h("dd", null, String(value)));
  }

  finding(finding, at) {
    const because = (this.detail.causes || []).find((one) => one.finding === at);
    const where = finding.at_end ? "at the end" : finding.step ? `step ${finding.step}` : "initial state";
    return h("article", { class: `finding ${finding.class === "undecided" ? "undecided" : ""}${finding.follows.length ? " follows" : ""}`, id: `finding-${at}`, tabindex: -1 },
      h("div", { class: "title" }, prose(finding.message)),
      h("div", { class: "meta" },
        this.world >= 0 ? press(where, () => this.showFinding(at), { class: "link" }) : h("span", null, where),
        finding.rule ? (this.world >= 0 ? press(finding.rule, () => this.inspector.rule(finding.rule), { class: "link" }) : h("span", null, finding.rule)) : null,
        h("span", null, finding.code), finding.severity ? h("span", null, `severity ${finding.severity}`) : null,
        finding.hazard ? h("span", null, finding.hazard) : null, finding.blame ? h("span", null, finding.blame) : null,
        (finding.taxonomy || []).map((one) => h("span", { class: "chip" }, one)),
        this.detail.worlds && this.detail.worlds.about && this.detail.worlds.about[at] ? h("span", null, this.detail.worlds.about[at]) : null,
        finding.replayed === true ? h("span", null, "confirmed by the kernel") : null),
      finding.binding && Object.keys(finding.binding).length ? h("p", { class: "code soft" }, bound(pairs(finding.binding))) : null,
      finding.notes.length ? h("ul", { class: "plain" }, finding.notes.map((note) => h("li", null, prose(note)))) : null,
      finding.table ? this.table(finding.table) : null,
      because ? h("p", null, h("b", null, "Cause: "), prose(because.text), because.minimum ? " (proved to be the least)" : "") : null,
      finding.rationale ? h("p", { class: "soft" }, prose(finding.rationale)) : null,
      finding.rationale_source ? h("p", { class: "soft" }, h("b", null, "Source: "), prose(finding.rationale_source)) : null,
      finding.help ? h("p", { class: "help" }, h("b", null, "What helps: "), prose(finding.help)) : null);
  }

  table(table) {
    return h("div", { class: "scroll" }, h("table", null,
      h("thead", null, h("tr", null, h("th", null, "step"), h("th", null, ""), table.columns.map((one) => h("th", { class: "code" }, one)), h("th", null, ""))),
      h("tbody", null, table.rows.map((row) => h("tr", { class: row.status ? "important" : null },
        h("td", { class: "number" }, row.step || ""),
        h("td", { class: "code" }, row.step && this.world >= 0 ? press(row.action, () => this.chooseStep(row.step), { class: "fact" }) : row.action),
        row.cells.map(([before, after]) => h("td", null, before === after ? h("span", { class: "was" }, after) : [h("span", { class: "was" }, `${before} \u2192 `), h("b", null, after)])),
        h("td", { class: "gone" }, row.status))))));
  }

  why() {
    const { where, classes } = this.detail;
    const out = [];
    if (where && where.point_of_no_return) {
      const [low, high] = where.point_of_no_return;
      out.push(h("p", null, low === high ? `After step ${low} a safe plan could still be reached${where.fatal ? `, after step ${where.fatal} no more` : ""}.` : `The point of no return lies between step ${low} and step ${high}.`));
    }
    if (classes && classes.length) out.push(h("ul", { class: "plain" }, classes.map((one) => h("li", null, h("b", null, one.class), ": ", prose(one.text)))));
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
        h("div", { class: "scroll" }, h("table", null, h("thead", null, h("tr", null, ["rule", "kind", "instances", "came into play", "violations", "status"].map((one) => h("th", null, one)))),
          h("tbody", null, rules.map((one) => h("tr", null, h("td", null, one.name), h("td", null, one.kind), h("td", { class: "number" }, one.instances), h("td", { class: "number" }, one.triggered), h("td", { class: "number" }, one.violations), h("td", null, one.status))))))) : null];
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
    const first = this.report.findings.findIndex((one) => one.class !== "undecided");
    if (first >= 0 && this.rowOf(this.report.findings[first]) >= 0) this.chooseRow(this.rowOf(this.report.findings[first]), true);
    else refill(this.inspector.node, h("p", { class: "soft" }, "Choose a step, a rule or a finding."));
  }

  drawGantt() {
    if (this.ganttPlace) refill(this.ganttPlace, gantt(this));
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
      size: ROW, rows: this.rows.length, make: (at) => this.row(at), choose: (at) => this.chooseRow(at, true), label: "steps of the plan",
      open: (at) => this.chooseRow(at, true),
    });
    const head = h("div", { class: "lanehead step" }, h("span"), h("div", { class: "lanes" }, lanes.shown.length ? lanes.head(choose) : null), h("span"), h("span"));
    const box = h("div", { class: timed ? "timed" : null }, lanes.shown.length ? head : null, this.list.node);
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
    const here = (row) => row.step === finding.step || (row.steps || []).includes(finding.step);
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
    this.findings[at].scrollIntoView({ block: "nearest" });
    this.findings[at].focus({ preventScroll: true });
  }

  markFinding(at) {
    this.findings[this.chosenFinding]?.classList.remove("chosen");
    this.chosenFinding = at;
    this.findings[at].classList.add("chosen");
  }

  nextFinding(by) {
    if (!this.findings.length) return;
    const next = (this.chosenFinding + by + this.findings.length) % this.findings.length;
    this.chooseFinding(this.chosenFinding < 0 && by < 0 ? this.findings.length - 1 : next);
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
