// The map of a plan: a cell for each step, or for several steps of a long plan, coloured by the worst state in it.
const MOST_CELLS = 240;
const STATES = [["fine", "", "fine"], ["unknown", "?", "unknown"], ["bad", "!", "violation or unmet goal"], ["stopped", "\u00d7", "not executable"]];
const DECIDED = new Set(["SAFE", "VALID", "UNSAFE", "INVALID"]);

class Minimap {
  constructor(view) {
    this.view = view;
    const { rows } = view;
    const breaks = this.breaks();
    const states = rows.map((row, at) => this.state(row, at, breaks));
    const size = Math.max(1, Math.ceil(rows.length / MOST_CELLS));
    this.cells = [];
    for (let from = 0; from < rows.length; from += size) {
      const to = Math.min(rows.length, from + size) - 1;
      const worst = Math.max(...states.slice(from, to + 1));
      this.cells.push({ from, to, worst, target: states.indexOf(worst, from) });
    }
    this.size = size;
    this.buttons = this.cells.map((cell, at) => press(STATES[cell.worst][1], () => this.go(at), { class: `cell ${STATES[cell.worst][0]}`, tabindex: at ? -1 : 0, title: this.words(cell), "aria-label": this.words(cell) }));
    const counts = STATES.map((_, number) => states.filter((state) => state === number).length);
    const described = STATES.map(([kind, mark, name], number) => (counts[number] ? h("span", null, h("span", { class: `cell ${kind}`, "aria-hidden": "true" }, mark), `${name} (${counts[number].toLocaleString("en")})`) : null));
    this.node = h("section", { class: "minimap", "aria-label": "Map of the plan" },
      h("div", { class: "cells", role: "toolbar", "aria-label": "steps by state", on: { keydown: (event) => this.key(event) } }, this.buttons),
      h("div", { class: "legend" }, described.reverse(), size > 1 ? h("span", null, `a cell has the worst state of ${size} steps`) : null));
    this.chosen = 0;
  }

  // The letters at which a rule breaks: of the listed findings, or of all rules where findings are not listed.
  breaks() {
    const { report, line } = this.view;
    const listed = new Set(report.findings.filter((one) => one.class !== "undecided").map((one) => one.rule));
    const tracks = line.tracks.filter((track) => report.suppressed || listed.has(track.rule));
    const letters = new Set();
    for (const look of tracks.flatMap((track) => track.looks)) {
      for (let letter = look.first; look.state === "breaks" && letter <= look.last; letter += 1) letters.add(letter);
    }
    return letters;
  }

  state(row, at, breaks) {
    const { report, line } = this.view;
    const classes = (this.view.flagged.get(at) || []).map((number) => report.findings[number].class);
    const has = (...names) => classes.some((name) => names.includes(name));
    if (row.mishaps.length || has("inexecutable", "ill-formed")) return 3;
    if (row.behind || row.missing || (row.ending && line.mishaps.length)) return 1;
    if (classes.some((name) => name !== "undecided") || breaks.has(row.letter)) return 2;
    return has("undecided") || !DECIDED.has(report.headline) || (line.bare && report.suppressed) ? 1 : 0;
  }

  words({ from, to, worst }) {
    const { rows } = this.view;
    if (from === to) return `${rows[from].title}: ${STATES[worst][2]}${rows[from].step ? `, ${cut(rows[from].what, 80)}` : ""}`;
    return `${rows[from].title} to ${rows[to].title}: ${STATES[worst][2]}`;
  }

  go(at) {
    this.focus(at);
    this.view.chooseRow(this.cells[at].target);
  }

  focus(at) {
    this.buttons[this.chosen].tabIndex = -1;
    this.chosen = at;
    this.buttons[at].tabIndex = 0;
  }

  mark(row) {
    this.marked?.removeAttribute("aria-current");
    const at = Math.floor(row / this.size);
    this.marked = this.buttons[at];
    this.marked.setAttribute("aria-current", "step");
    this.focus(at);
  }

  key(event) {
    const moves = { ArrowRight: this.chosen + 1, ArrowLeft: this.chosen - 1, Home: 0, End: this.cells.length - 1 };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    this.focus(Math.min(Math.max(moves[event.key], 0), this.cells.length - 1));
    this.buttons[this.chosen].focus();
    event.preventDefault();
    event.stopPropagation();
  }
}
