// Continuous time: the course of each number over the same time as the Gantt chart, through the exact values at moments.
const PLOT_HEIGHT = 150;
const MOST_DOTS = 200;
const MOST_VALUES = 500;
const MOST_STEPS = 300;

// What happens at moments: steps (of plans that are not too long), events, and what goes wrong.
function timeMarks({ line, rows }) {
  const marks = [];
  const stepsShown = line.steps.length <= MOST_STEPS;
  for (const row of rows) {
    if (!row.moment) continue;
    if (row.moment.steps.length) stepsShown && marks.push({ kind: "step", at: row.moment.at, row, words: `${row.title}: ${row.what}` });
    else if (row.moment.cause?.event) marks.push({ kind: "event", at: row.moment.at, row, words: row.title });
  }
  const letters = new Map(line.moments.map((moment) => [moment.letter, moment]));
  const end = line.moments[line.moments.length - 1];
  for (const track of line.tracks) {
    for (const look of track.looks.filter((one) => one.state === "breaks")) {
      const moment = letters.get(look.first);
      marks.push({ kind: "violation", rule: track.rule, at: (moment || end).at, row: rows.find((row) => row.letter === look.first), words: `${track.rule} is violated ${moment ? atTime(moment.time) : "at the end"}` });
    }
  }
  for (const one of line.mishaps.filter(({ at }) => at !== null)) {
    marks.push({ kind: "violation", step: one.step, at: one.at, row: rows.find((row) => row.step === one.step), words: `step ${one.step}, ${line.steps[one.step - 1].text}, ${mishapWords(line, one)}` });
  }
  return marks;
}

function boundWords(bound) {
  return [...bound.rules.map((rule) => `rule ${rule}`), ...bound.steps.map((step) => `condition of step ${step}`)].join(", ");
}

function fluentPlot(view, course, marks) {
  const { wide, first, last, x } = timeScale(view);
  const exact = course.points.filter((point) => point.length > 2);
  const values = [...course.points.map((point) => point[1]), ...course.bounds.map((bound) => bound.value)];
  const low = values.reduce((least, value) => Math.min(least, value));
  const high = values.reduce((most, value) => Math.max(most, value));
  const top = 12;
  const bottom = PLOT_HEIGHT - 26;
  const y = (value) => (high === low ? (top + bottom) / 2 : bottom - 4 - ((value - low) / (high - low)) * (bottom - top - 8));
  const size = exact.length > MOST_DOTS ? `${count(exact.length, "value")} from ${low} to ${high}` : exact.map(([, , when, text]) => `${text} at ${when}`).join(", ");
  const svg = s("svg", { width: wide, height: PLOT_HEIGHT, viewBox: `0 0 ${wide} ${PLOT_HEIGHT}`, role: "img", "aria-label": `${course.fluent} over time: ${cut(size, 1000)}` });
  svg.append(s("text", { class: "code", x: 0, y: top + 10 }, cut(course.fluent, 28), s("title", null, course.fluent)));
  for (const tick of ticks(first, last, 10)) {
    svg.append(s("line", { class: "axis", x1: x(tick), x2: x(tick), y1: top, y2: bottom }));
    svg.append(s("text", { class: "tick", x: x(tick), y: bottom + 18, "text-anchor": "middle" }, String(tick)));
  }
  const near = (value) => course.bounds.some((bound) => Math.abs(y(value) - y(bound.value)) < 11);
  for (const tick of high === low ? [low] : ticks(low, high, 4)) {
    svg.append(s("line", { class: "axis", x1: x(first), x2: x(last), y1: y(tick), y2: y(tick) }));
    if (!near(tick)) svg.append(s("text", { class: "tick", x: x(first) - 6, y: y(tick) + 4, "text-anchor": "end" }, String(tick)));
  }
  const placed = [[], []];
  for (const bound of course.bounds) {
    svg.append(s("line", { class: "bound", x1: x(first), x2: x(last), y1: y(bound.value), y2: y(bound.value) }));
    const side = placed.findIndex((taken) => taken.every((other) => Math.abs(other - y(bound.value)) > 10));
    if (side < 0) continue;
    placed[side].push(y(bound.value));
    svg.append(s("text", { class: "tick bounding", x: side ? x(last) + 6 : x(first) - 6, y: y(bound.value) + 4, "text-anchor": side ? "start" : "end" }, cut(bound.text, side ? 5 : 12), s("title", null, boundWords(bound))));
  }
  const lines = { event: [], violation: [] };
  const concerns = (mark) => mark.kind === "event" || !course.bounds.length || course.bounds.some((bound) => bound.rules.includes(mark.rule) || bound.steps.includes(mark.step));
  for (const mark of marks) lines[mark.kind]?.push(s("line", { class: `${mark.kind}${concerns(mark) ? "" : " faded"}`, x1: x(mark.at), x2: x(mark.at), y1: top, y2: bottom }));
  svg.append(...lines.event, ...lines.violation);
  svg.append(s("path", { class: "curve", d: course.points.map(([at, value], place) => `${place ? "L" : "M"}${x(at).toFixed(2)} ${y(value).toFixed(2)}`).join("") }));
  if (exact.length <= MOST_DOTS) {
    for (const [at, value, when, text] of exact) svg.append(s("circle", { class: "dot", cx: x(at), cy: y(value), r: 3 }, s("title", null, `${course.fluent} = ${text} at ${when}`)));
  }
  for (const mark of marks) {
    const go = mark.row ? { click: () => view.chooseRow(view.rows.indexOf(mark.row)) } : {};
    const title = s("title", null, mark.words);
    if (mark.kind === "step") svg.append(s("path", { class: "head", d: `M${x(mark.at)} ${bottom} l-4 7 h8 z`, on: go }, title));
    else svg.append(s("rect", { class: "hit", x: x(mark.at) - 4, y: top, width: 8, height: 10, on: go }, title));
    if (mark.kind === "violation") svg.append(s("rect", { class: `broken${concerns(mark) ? "" : " faded"}`, x: x(mark.at) - 5, y: top - 5, width: 10, height: 10, transform: `rotate(45 ${x(mark.at)} ${top})`, on: go }, s("title", null, mark.words)));
  }
  const bounds = course.bounds.map((bound) => `${bound.text}: ${boundWords(bound)}`).join("; ");
  return h("figure", null, scrolling(course.fluent, svg), bounds ? h("figcaption", null, h("span", { class: "code" }, course.fluent), `, compared with ${bounds}`) : null);
}

// The exact values, for readers who do not see the curves.
function valuesTable(courses) {
  const times = new Map();
  courses.forEach((course, column) => course.points.forEach(([at, , when, text]) => {
    if (when === undefined) return;
    if (!times.has(when)) times.set(when, { at, cells: courses.map(() => []) });
    const cell = times.get(when).cells[column];
    if (cell[cell.length - 1] !== text) cell.push(text);
  }));
  const rows = [...times].sort(([, a], [, b]) => a.at - b.at);
  const left = rows.splice(MOST_VALUES).length;
  return h("details", null, h("summary", null, "The values at the moments"), scrolling("values at the moments", h("table", null,
    h("thead", null, h("tr", null, h("th", null, "time"), courses.map((course) => h("th", { class: "code" }, course.fluent)))),
    h("tbody", null, rows.map(([when, { cells }]) => h("tr", null, h("td", { class: "number" }, when), cells.map((cell) => h("td", { class: "number" }, cell.join(" \u2192 "))))))))
  , left ? h("p", { class: "soft" }, `${count(left, "later moment")} not listed`) : null);
}

function plotLegend(marks, courses) {
  const has = (kind) => marks.some((mark) => mark.kind === kind);
  const sign = (node) => s("svg", { width: 14, height: 14, "aria-hidden": "true" }, node);
  const across = (kind) => sign(s("line", { class: kind, x1: 0, x2: 14, y1: 7, y2: 7 }));
  const down = (kind) => sign(s("line", { class: kind, x1: 7, x2: 7, y1: 0, y2: 14 }));
  return h("div", { class: "legend" },
    has("step") ? h("span", null, sign(s("path", { class: "head", d: "M7 3 l-4 7 h8 z" })), "step") : null,
    has("event") ? h("span", null, down("event"), "event") : null,
    has("violation") ? h("span", null, down("violation"), "violation or failed step") : null,
    courses.some((course) => course.bounds.length) ? h("span", null, across("bound"), "number that a rule or a failed step compares with") : null);
}

function fluentPlots(view) {
  const { courses, more_courses: more } = view.line;
  const marks = timeMarks(view);
  return [plotLegend(marks, courses), courses.map((course) => fluentPlot(view, course, marks)), valuesTable(courses),
    more ? h("p", { class: "soft" }, `${count(more, "more number")} that ${more === 1 ? "changes is" : "change are"} not drawn.`) : null];
}
