// A repair beside the plan, step by step; alternatives to switch between.
const AROUND = 2;

// The rows of a repair, with each run of unchanged steps step by step.
function repairRows(repair, original) {
  const same = ([, old, fresh, length]) => [...Array(length).keys()].map((by) => [" ", old + by, fresh + by, original[old + by - 1], [], ""]);
  return repair.rows.flatMap((row) => (row[0] === " " ? same(row) : [row]));
}

function repairDiff(rows, unfolded) {
  const near = new Set();
  rows.forEach((row, at) => { if (row[0] !== " ") for (let by = -AROUND; by <= AROUND; by += 1) near.add(at + by); });
  const cells = [h("div", { class: "head" }, "the plan"), h("div", { class: "head right" }, "the repair")];
  const cell = (side, kind, mark, number, text, remarks) => h("div", { class: `${side} ${kind}` },
    h("span", { class: "no" }, number || ""), h("span", null, mark), h("span", null, text),
    remarks.map((remark) => h("span", { class: "why" }, prose(remark))));
  const voided = (side, kind) => h("div", { class: `${side} void ${kind}` });
  let hidden = 0;
  const fold = () => {
    if (hidden) cells.push(h("div", { class: "fold" }, `${count(hidden, "step")} unchanged`));
    hidden = 0;
  };
  rows.forEach(([mark, old, fresh, text, remarks, before], at) => {
    if (!unfolded && !near.has(at)) { hidden += 1; return; }
    fold();
    if (mark === " ") cells.push(cell("left", "", "", old, text, []), cell("right same", "", "", fresh, text, []));
    else if (mark === "-") cells.push(cell("left", "minus", "\u2212", old, text, remarks), voided("right", ""));
    else if (mark === "+") cells.push(voided("left", ""), cell("right", "plus", "+", fresh, text, remarks));
    else if (mark === "~") cells.push(cell("left", "minus", "~", old, before, []), cell("right", "plus", "~", fresh, text, remarks));
    else if (mark === "<") cells.push(cell("left", "moved", "\u21c5", old, text, remarks), voided("right", ""));
    else cells.push(voided("left", ""), cell("right", "moved", "\u21c5", fresh, text, remarks));
  });
  fold();
  return h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": "the plan and the repair" }, cells);
}

function repairPart(detail) {
  const { repair } = detail;
  const parts = [];
  if (repair.repairs.length) {
    const place = h("div");
    let unfolded = false;
    let shown = 0;
    const buttons = repair.repairs.map((one, at) => press(at ? `alternative ${at}` : "nearest", () => show(at), { role: "tab" }));
    const all = press("all steps", () => { unfolded = !unfolded; show(shown); }, { class: "screen", "aria-pressed": "false" });
    const show = (at) => {
      shown = at;
      buttons.forEach((button, number) => { button.setAttribute("aria-selected", number === at); button.tabIndex = number === at ? 0 : -1; });
      all.setAttribute("aria-pressed", unfolded);
      const one = repair.repairs[at];
      refill(place, h("p", null, badge(one.headline), " ", prose(cut(one.words, LONGEST_ITEM)), " ", h("span", { class: "soft" }, `(cost ${one.cost})`)), repairDiff(repairRows(one, repair.original), unfolded));
    };
    const tabs = h("div", { class: "row", role: "tablist", "aria-label": "repairs", on: { keydown: (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      show((shown + by + buttons.length) % buttons.length);
      buttons[shown].focus();
      event.preventDefault();
    } } }, buttons);
    show(0);
    parts.push(h("div", { class: "row" }, tabs, all), place);
  }
  if (repair.outcome) parts.push(h("p", null, prose(repair.outcome.message)), repair.outcome.notes.map((note) => h("p", { class: "soft" }, prose(note))), repair.outcome.help ? h("p", { class: "soft" }, prose(repair.outcome.help)) : null);
  return parts;
}
