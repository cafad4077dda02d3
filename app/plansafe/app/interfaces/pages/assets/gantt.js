// Timed plans: a bar for each step, what interferes, and the rules over the same time.
const GANTT_ROW = 26;
const LABELS = 250;

function ticks(from, to, most) {
  const raw = (to - from) / most || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const out = [];
  for (let at = Math.ceil(from / size) * size; at <= to + size / 1e6; at += size) out.push(Number(at.toPrecision(12)));
  return out;
}

// The places of times, and the width of charts over time.
function timeScale({ line, node }) {
  const wide = Math.max(760, Math.min(1300, (node.clientWidth || 1100) - 10));
  const ends = [...line.steps.map((step) => step.at + (step.lasts || 0)), ...line.moments.map((moment) => moment.at)];
  const last = ends.reduce((most, at) => Math.max(most, at), 1e-9);
  const first = line.steps.reduce((least, step) => Math.min(least, step.at), 0);
  const x = (time) => LABELS + ((time - first) / (last - first || 1)) * (wide - LABELS - 40);
  return { wide, first, last, x };
}

function gantt(view) {
  const { line, lanes } = view;
  const { wide, first, last, x } = timeScale(view);
  const tracks = lanes.shown;
  const rows = line.steps.slice(0, 500);
  const height = (rows.length + tracks.length) * GANTT_ROW + 64;
  const svg = s("svg", { width: wide, height, viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": "Gantt chart of the plan" });
  const bottom = height - 30;
  for (const tick of ticks(first, last, 10)) {
    svg.append(s("line", { class: "axis", x1: x(tick), x2: x(tick), y1: 6, y2: bottom }));
    svg.append(s("text", { class: "tick", x: x(tick), y: bottom + 16, "text-anchor": "middle" }, String(tick)));
  }
  const wrong = new Set(line.mishaps.map((one) => one.step));
  const middle = (step) => 8 + (step - 1) * GANTT_ROW + GANTT_ROW / 2;
  rows.forEach((step, place) => {
    const y = middle(place + 1);
    const kind = wrong.has(place + 1) ? "wrong" : "bar";
    svg.append(s("text", { class: "code", x: 0, y: y + 4 }, cut(`${place + 1} ${step.text}`, 36), s("title", null, step.text)));
    if (step.lasts === null) {
      svg.append(s("rect", { class: kind, x: x(step.at) - 6, y: y - 6, width: 12, height: 12, transform: `rotate(45 ${x(step.at)} ${y})` }));
    } else {
      svg.append(s("rect", { class: kind, x: x(step.at), y: y - 8, width: Math.max(2, x(step.at + step.lasts) - x(step.at)), height: 16, rx: 3 }));
    }
    const words = step.lasts === null ? `at ${step.time}` : `from ${step.time}, for ${step.duration}`;
    svg.append(s("rect", { class: "hit", x: 0, y: y - GANTT_ROW / 2, width: wide, height: GANTT_ROW, on: { click: () => view.chooseStep(place + 1) } },
      s("title", null, `step ${place + 1} ${step.text}: ${words}`)));
  });
  for (const mishap of line.mishaps) {
    if (mishap.at === null || mishap.step > rows.length || mishap.other > rows.length) continue;
    const at = x(mishap.at);
    if (mishap.other) {
      svg.append(s("line", { class: "clash", x1: at, x2: at, y1: middle(mishap.step), y2: middle(mishap.other) }));
      const across = middle(mishap.other);
      svg.append(s("path", { class: "cross", d: `M${at - 6} ${across - 6} l12 12 m0 -12 l-12 12` }, s("title", null, mishapWords(line, mishap))));
    }
    const y = middle(mishap.step);
    svg.append(s("path", { class: "cross", d: `M${at - 6} ${y - 6} l12 12 m0 -12 l-12 12` }, s("title", null, mishapWords(line, mishap))));
  }
  const starts = new Map(line.moments.map((moment) => [moment.letter, moment.at]));
  const after = (letter) => starts.get(letter) ?? last;
  tracks.forEach((track, place) => {
    const y = 20 + (rows.length + place) * GANTT_ROW + GANTT_ROW / 2;
    svg.append(s("text", { class: "label", x: 0, y: y + 4, on: { click: () => view.inspector.rule(track.rule) } }, cut(track.rule, 34), s("title", null, track.rule)));
    svg.append(s("line", { class: "rail", x1: LABELS, x2: x(last), y1: y, y2: y }));
    for (const look of track.looks) {
      const began = look.state === "broken" && track.looks.some((one) => one.state === "breaks" && one.last === look.first - 1);
      const from = x(after(look.first - (began ? 1 : 0)));
      const title = s("title", null, `${track.rule}: ${look.state}`);
      if (look.state === "breaks") svg.append(s("rect", { class: "broken", x: from - 6, y: y - 6, width: 12, height: 12, transform: `rotate(45 ${from} ${y})` }, title));
      else if (look.state === "watches") svg.append(s("circle", { class: "watch", cx: from, cy: y, r: 4 }, title));
      else svg.append(s("rect", { class: look.state === "broken" ? "broken" : "risk", x: from, y: y - 4, width: Math.max(3, x(after(look.last + 1)) - from), height: 8 }, title));
    }
  });
  const clashes = line.mishaps.filter((one) => one.at !== null);
  return [scrolling("Gantt chart", svg),
    clashes.map((one) => h("p", { class: "gone" }, `${capital(atTime(one.time))}: step ${one.step}, ${line.steps[one.step - 1].text}, ${mishapWords(line, one)}`)),
    line.steps.length > rows.length ? h("p", { class: "soft" }, `The first ${rows.length} of ${line.steps.length} steps are drawn.`) : null];
}
