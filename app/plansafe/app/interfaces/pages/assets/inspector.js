// The panel beside the timeline: a step, a rule or a fact, whichever was chosen last.
class Inspector {
  constructor(view) {
    this.view = view;
    this.node = h("aside", { class: "inspector", "aria-live": "polite", "aria-label": "What was chosen" });
  }

  step(row) {
    const { line } = this.view;
    const parts = [h("h3", null, row.title)];
    const step = row.step && line.steps[row.step - 1];
    if (step) {
      parts.push(h("p", { class: "code" }, step.text));
      if (step.source && step.source !== step.text) parts.push(h("p", { class: "soft" }, "as written: ", h("span", { class: "code" }, step.source)));
    }
    for (const mishap of row.mishaps) parts.push(h("p", { class: "gone" }, mishapWords(line, mishap)));
    for (const [place, finding] of this.view.findingsAt(row)) {
      parts.push(h("p", null, press(prose(finding.message), () => this.view.chooseFinding(place), { class: "link" })));
    }
    if (!line.bare) parts.push(h("h3", null, row.moment ? count(row.moment.changes.length, "change") : "Nothing happened"));
    if (row.moment && row.moment.changes.length) parts.push(this.changes(row.moment.changes));
    const said = row.letter === null ? [] : this.view.saidAt(row.letter);
    if (said.length) {
      parts.push(h("h3", null, "Rules here"));
      parts.push(h("ul", { class: "plain" }, said.map(([track, look]) => h("li", null,
        press(track.rule, () => this.rule(track.rule), { class: "link" }), ` ${look.state}`,
        look.instances.length ? h("span", { class: "soft" }, `: ${look.instances.map(bound).filter(Boolean).join("; ")}`) : null,
        look.number > look.instances.length && look.instances.length ? ` and ${look.number - look.instances.length} more` : null))));
    }
    if (row.letter !== null && line.initial) parts.push(this.state(row.letter));
    refill(this.node, parts);
  }

  changes(changes) {
    return h("table", null, h("tbody", null, changes.map(([what, before, after]) => h("tr", null,
      h("td", null, this.fact(what)),
      h("td", { class: "nowrap" }, h("span", { class: "was" }, before), " \u2192 ",
        h("span", { class: after === "T" ? "come" : after === "F" ? "gone" : null }, after))))));
  }

  fact(what) {
    return press(what, () => this.history(what), { class: "fact", title: "all changes of this fact" });
  }

  // All that holds after a letter: the state that was given, with the changes since.
  state(letter) {
    const { line } = this.view;
    const place = h("div");
    const show = () => {
      const now = new Map(line.initial);
      for (const moment of line.moments) {
        if (moment.letter > letter) break;
        for (const [what, , after] of moment.changes) now.set(what, after);
      }
      const facts = [...now].filter(([, value]) => value !== "F").map(([what, value]) => (value === "T" ? what : `${what} = ${value}`)).sort();
      const all = h("pre", { tabindex: 0 }, facts.join("\n"));
      const narrow = h("input", { type: "search", placeholder: "filter facts", "aria-label": "filter facts",
        on: { input: () => refill(all, facts.filter((one) => one.includes(narrow.value.toLowerCase())).join("\n")) } });
      refill(place, h("p", { class: "soft" }, `${facts.length.toLocaleString("en")} facts and numbers hold`), narrow, all);
    };
    refill(place, press("all facts here", show));
    return place;
  }

  history(what) {
    const { line, rows } = this.view;
    const found = line.moments.flatMap((moment) => moment.changes.filter((change) => change[0] === what).map((change) => [moment, change]));
    const initial = line.initial && new Map(line.initial).get(what);
    refill(this.node, h("h3", null, "One fact"), h("p", { class: "code" }, what),
      line.initial ? h("p", { class: "soft" }, `at first: ${initial || "F"}`) : null,
      h("ul", { class: "plain" }, found.map(([moment, [, before, after]]) => {
        const row = rows.findIndex((one) => one.moment === moment);
        return h("li", null, press(rows[row].title, () => this.view.chooseRow(row), { class: "link" }), ` ${before} \u2192 ${after}`);
      })));
    this.view.mark(new Set(found.map(([moment]) => moment.letter)));
  }

  rule(name) {
    const rule = this.view.rules[name] || {};
    const about = [["kind", rule.kind], ["severity", rule.severity], ["hazard", rule.hazard],
      ["targets", (rule.targets || []).join(", ")], ["of", rule.source]].filter(([, value]) => value);
    const found = this.view.report.findings.map((one, place) => [place, one]).filter(([, one]) => one.rule === name);
    refill(this.node, h("h3", null, name), rule.message ? h("p", null, rule.message) : null,
      h("dl", { class: "values" }, about.map(([key, value]) => h("div", null, h("dt", null, key), h("dd", null, value)))),
      rule.rationale ? h("p", null, rule.rationale) : null,
      rule.rationale_source ? h("p", { class: "soft" }, h("b", null, "Source: "), rule.rationale_source) : null,
      rule.text ? h("pre", { tabindex: 0 }, rule.text) : null,
      rule.fix ? h("p", null, h("b", null, "What helps: "), rule.fix) : null,
      found.length ? h("h3", null, count(found.length, "finding")) : null,
      found.map(([place, one]) => h("p", null, press(prose(one.message), () => this.view.chooseFinding(place), { class: "link" }))));
    this.view.markRule(name);
  }
}

function mishapWords(line, mishap) {
  const other = mishap.other ? line.steps[mishap.other - 1] : null;
  if (other) return `interferes with step ${mishap.other}, ${other.text}${mishap.detail ? `, over ${mishap.detail}` : ""}`;
  return `cannot be taken (${mishap.code})`;
}
