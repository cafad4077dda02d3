// The steps with what each changed, and a lane for each rule: when it watches, is at risk, breaks.
const LANE = 20;
const ROW = 30;
const MOST_LANES = 24;

const atTime = (time) => (time.startsWith("just") ? time : `at ${time}`);

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// One row for each moment, and for each step that never happened where it stands.
function timelineRows(line) {
  const mishaps = new Map();
  for (const one of line.mishaps) mishaps.set(one.step, [...(mishaps.get(one.step) || []), one]);
  const timed = line.steps.some((step) => step.time !== null);
  const happened = new Set(line.moments.flatMap((moment) => moment.steps.map(([step]) => step)));
  const rows = [];
  const first = Math.min(...line.mishaps.map((one) => one.step), Infinity);
  const lost = line.steps.map((step, place) => place + 1).filter((step) => !happened.has(step));
  const miss = (step) => rows.push({ letter: null, moment: null, step, title: `step ${step}`, what: line.steps[step - 1].text,
    no: timed ? line.steps[step - 1].time : String(step), mishaps: mishaps.get(step) || [], behind: !timed && step > first, missing: true });
  let before = 0; // in continuous time, the step before a letter that no step led to
  const begins = new Set(line.tracks.flatMap((track) => track.looks.filter((look) => look.state === "breaks").map((look) => look.first)));
  for (const moment of line.moments) {
    const { cause } = moment;
    if (cause && !cause.event && !moment.changes.length && !begins.has(moment.letter)) continue;
    const last = moment.steps.length ? moment.steps[moment.steps.length - 1][0] : 0;
    while (lost.length && moment.letter && (timed ? Number.isFinite(last) && line.steps[lost[0] - 1].at <= moment.at : lost[0] < last)) miss(lost.shift());
    const what = moment.steps.map(([step, kind]) => (timed && line.steps[step - 1].duration !== null ? `${kind} ` : "") + line.steps[step - 1].text);
    before = last || before;
    rows.push({
      letter: moment.letter, moment, step: last, before: cause ? before : null,
      title: !moment.letter ? "before the plan" : !moment.steps.length ? `${atTime(moment.time)}${cause && cause.event ? `: ${cause.event}` : ""}` : timed ? `at ${moment.time}: ${moment.steps.map(([step, kind]) => `step ${step} ${kind}`).join(", ")}` : `step ${last}`,
      what: !moment.letter ? "initial state" : cause ? cause.event || (cause.interval ? moment.time : "time passes") : what.join("  \u00b7  ") || "timed literal",
      no: !moment.letter || (cause && cause.interval) ? "" : timed ? moment.time : String(last),
      mishaps: moment.steps.flatMap(([step, kind]) => (kind === "start" ? mishaps.get(step) || [] : [])),
      steps: moment.steps.map(([step]) => step),
      behind: !timed && last > first,
    });
  }
  while (lost.length) miss(lost.shift());
  if (line.whole) {
    rows.push({ letter: line.moments.length, moment: null, step: 0, title: "end of the plan", what: "end of the plan", no: "", mishaps: [], ending: true });
  }
  return rows;
}

class Lanes {
  constructor(tracks, chosen) {
    const weight = (track) => (track.looks.some((one) => one.state === "breaks" || one.state === "broken") ? 0 : track.looks.some((one) => one.state === "at risk") ? 1 : 2);
    this.all = tracks.map((track) => ({ ...track, weight: weight(track) })).sort((a, b) => a.weight - b.weight);
    this.quiet = this.all.filter((track) => track.weight === 2).length;
    this.every = false;
    this.chosen = chosen;
  }

  get shown() {
    return this.all.filter((track) => this.every || track.weight < 2).slice(0, MOST_LANES);
  }

  get width() {
    return Math.max(this.shown.length, 1) * LANE + 4;
  }

  covers(track, state, letter) {
    return track.looks.some((look) => look.state === state && look.first <= letter && letter <= look.last);
  }

  row(letter, last) {
    const svg = s("svg", { width: this.width, height: ROW, "aria-hidden": "true" });
    this.shown.forEach((track, place) => {
      const x = place * LANE + LANE / 2 + 2;
      if (track.rule === this.chosen) svg.append(s("rect", { class: "chosen-lane", x: x - LANE / 2, y: 0, width: LANE, height: ROW }));
      svg.append(s("line", { class: "rail", x1: x, x2: x, y1: 0, y2: last ? ROW / 2 : ROW }));
      if (letter === null) return;
      const half = (state, top, kind) => svg.append(s("rect", { class: kind, x: x - 4, y: top ? 0 : ROW / 2, width: 8, height: ROW / 2 }));
      for (const [state, kind] of [["at risk", "risk"], ["broken", "broken"]]) {
        if (this.covers(track, state, letter)) half(state, false, kind);
        if (this.covers(track, state, letter - 1)) half(state, true, kind);
      }
      const breaks = this.covers(track, "breaks", letter);
      if (breaks && this.covers(track, "broken", letter + 1)) half("broken", false, "broken");
      if (this.covers(track, "breaks", letter - 1) && this.covers(track, "broken", letter)) half("broken", true, "broken");
      if (breaks) {
        svg.append(s("rect", { class: "broken", x: x - 6, y: ROW / 2 - 6, width: 12, height: 12, transform: `rotate(45 ${x} ${ROW / 2})` }));
      } else if (this.covers(track, "watches", letter)) {
        svg.append(s("circle", { class: "watch", cx: x, cy: ROW / 2, r: 4 }));
      }
      const said = track.looks.filter((look) => look.first <= letter && letter <= look.last).map((look) => look.state);
      if (said.length) svg.append(s("rect", { class: "hit", x: x - LANE / 2, y: 0, width: LANE, height: ROW }, s("title", null, `${track.rule}: ${said.join(", ")}`)));
    });
    return svg;
  }

  // The names of the lanes from left to right, each on a line of its own above its lane.
  head(choose) {
    return h("div", { class: "lanehead", role: "group", "aria-label": "rules" }, this.shown.map((track, place) => {
      const name = press(track.rule, () => choose(track.rule), { class: "link", title: track.rule });
      const rail = h("span", { class: "rail", "aria-hidden": "true" });
      name.style.marginLeft = `${place * LANE + LANE / 2 - 2}px`;
      rail.style.left = `${place * LANE + LANE / 2 + 2}px`;
      return h("div", null, rail, name);
    }));
  }
}

function timelineLegend() {
  const mark = (node) => s("svg", { width: 14, height: 14, "aria-hidden": "true" }, node);
  return h("div", { class: "legend" },
    h("span", null, mark(s("circle", { class: "watch", cx: 7, cy: 7, r: 4 })), "watches: the step concerns it"),
    h("span", null, mark(s("rect", { class: "risk", x: 3, y: 0, width: 8, height: 14 })), "at risk: broken if the plan ended here"),
    h("span", null, mark(s("rect", { class: "broken", x: 2, y: 2, width: 10, height: 10, transform: "rotate(45 7 7)" })), "breaks"),
    h("span", null, mark(s("rect", { class: "broken", x: 3, y: 0, width: 8, height: 14 })), "is broken"));
}

function changeWords(row, inspector) {
  const changes = row.moment ? row.moment.changes : [];
  return changes.map(([what, before, after]) => h("span", { class: after === "T" ? "come" : after === "F" ? "gone" : null },
    after === "T" ? `+${what}` : after === "F" ? `\u2212${what}` : `${what} = ${after}`));
}
