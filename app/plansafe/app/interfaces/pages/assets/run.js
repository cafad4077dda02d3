// Many plans: a table to sort and filter, and what they come to. Each row opens its plan.
const collator = new Intl.Collator("en", { numeric: true });

function barPlot(plot, choose) {
  const most = Math.max(...plot.bars.map(([, value]) => value), 1e-9);
  const [label, bar, high] = [230, 250, 22];
  const height = plot.bars.length * high + 6;
  return h("div", null, h("h3", null, plot.title), s("svg", { viewBox: `0 0 ${label + bar + 130} ${height}`, role: "img", "aria-label": plot.title },
    plot.bars.map(([name, value, words, low, top], at) => {
      const y = 3 + at * high;
      const x = (one) => label + bar * Math.min(1, one / most);
      return s("g", null,
        s("text", { x: label - 8, y: y + 15, "text-anchor": "end" }, cut(name, 32), s("title", null, name)),
        s("rect", { class: "back", x: label, y: y + 3, width: bar, height: high - 7 }),
        s("rect", { class: "bar", x: label, y: y + 3, width: Math.max(0, x(value) - label), height: high - 7 }),
        low === undefined || low === null ? null : s("line", { class: "span", x1: x(low), x2: x(top), y1: y + high / 2, y2: y + high / 2 }),
        s("text", { x: label + bar + 8, y: y + 15 }, words),
        choose && plot.filter ? s("rect", { class: "hit", x: 0, y, width: label + bar + 130, height: high, on: { click: () => choose(plot.filter, name) } }, s("title", null, `show only ${name}`)) : null);
    })));
}

function dataTable(table) {
  return h("details", null, h("summary", null, table.title), h("div", { class: "scroll" }, h("table", null,
    h("thead", null, h("tr", null, table.columns.map((one) => h("th", null, one)))),
    h("tbody", null, table.rows.map((row) => h("tr", null, row.map((cell, at) => h("td", { class: at ? "number" : null }, cell === null ? "" : String(cell)))))))),
  table.note ? h("p", { class: "soft" }, table.note) : null);
}

class RunView {
  constructor() {
    this.rows = index.rows.map((row, place) => ({ row, place, words: null }));
    this.seen = this.rows;
    this.sorted = null;
    this.order = 1;
    this.wanted = { text: "", headline: "", rule: "", hazard: "" };
    const fixed = [
      { name: "plan", of: (row) => row[1], width: "minmax(12rem, 2.2fr)" },
      { name: "verdict", of: (row) => row[2] || "NOT CHECKED", width: "7.5rem", show: (row) => badge(row[2]) },
      { name: "steps", of: (row) => row[3], width: "4rem", number: true },
      { name: "findings", of: (row) => row[4], width: "5.5rem", number: true },
      { name: "first at", of: (row) => row[5] ?? Infinity, width: "5rem", number: true, show: (row) => (row[5] === null ? "" : String(row[5])) },
      { name: "rules broken", of: (row) => row[6].map((one) => index.names[one]).join(", "), width: "minmax(10rem, 2fr)" },
      { name: "seconds", of: (row) => row[7] ?? -1, width: "5rem", number: true, show: (row) => (row[7] === null ? "" : row[7].toFixed(3)) },
    ].filter((column) => column.name !== "seconds" || index.rows.some((row) => row[7] !== null));
    this.columns = [...fixed, ...index.columns.map((name, at) => ({ name, of: (row) => row[9][at] ?? "", width: "minmax(5rem, 1fr)" }))];
    this.node = h("div", { class: "run" });
    this.build();
  }

  build() {
    this.told = h("span", { class: "soft", "aria-live": "polite" });
    this.search = h("input", { type: "search", id: "search", placeholder: "filter by name, rule, verdict, column ..", "aria-label": "filter plans", on: { input: () => this.filter({ text: this.search.value.toLowerCase() }) } });
    const select = (what, values, all) => h("select", { "aria-label": all, on: { change: (event) => this.filter({ [what]: event.target.value }) } },
      h("option", { value: "" }, all), values.map((one) => h("option", { value: one }, one)));
    const headlines = [...new Set(this.rows.map(({ row }) => row[2] || "NOT CHECKED"))].sort();
    const named = (field) => [...new Set(this.rows.flatMap(({ row }) => row[field]))].map((one) => index.names[one]).sort(collator.compare);
    this.selects = { headline: select("headline", headlines, "all verdicts"), rule: select("rule", named(6), "all rules"), hazard: select("hazard", named(8), "all hazards") };
    this.buttons = this.columns.map((column, at) => press(column.name, () => this.sort(at), { class: column.number ? "number" : null, role: "columnheader", "aria-sort": "none" }));
    this.list = longList({
      size: 32, rows: this.rows.length, label: "plans", most: "80vh", head: h("div", { class: "heads", role: "row" }, this.buttons),
      make: (at) => h("div", null, this.columns.map((column) => h("span", { class: column.number ? "number" : null, role: "gridcell", title: typeof column.of(this.seen[at].row) === "string" ? column.of(this.seen[at].row) : null },
        column.show ? column.show(this.seen[at].row) : String(column.of(this.seen[at].row))))),
      open: (at) => go(this.seen[at].place),
    });
    const box = h("div", { class: "plans" }, this.list.node);
    box.style.setProperty("--columns", this.columns.map((column) => column.width).join(" "));
    const narrow = (filter, name) => { this.selects[filter].value = name; this.filter({ [filter]: name }); this.list.node.scrollIntoView({ block: "nearest" }); };
    refill(this.node, h("h1", null, index.title),
      index.about.length ? h("dl", { class: "values" }, index.about.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))) : null,
      index.notes.map((note) => h("div", { class: "warnbox" }, note)),
      index.plots.length ? h("div", { class: "plots" }, index.plots.map((plot) => barPlot(plot, narrow))) : null,
      index.tables.map(dataTable),
      h("div", { class: "row filters" }, this.search, Object.values(this.selects), press("clear", () => this.clear()), this.told), box);
    this.tell();
  }

  words(one) {
    one.words ??= [one.row[0], ...this.columns.filter((column) => !column.number).map((column) => column.of(one.row)), ...one.row[8].map((name) => index.names[name])].join("\n").toLowerCase();
    return one.words;
  }

  filter(change) {
    Object.assign(this.wanted, change);
    const { text, headline, rule, hazard } = this.wanted;
    const parts = text.split(/\s+/).filter(Boolean);
    this.seen = this.rows.filter((one) => (!headline || (one.row[2] || "NOT CHECKED") === headline)
      && (!rule || one.row[6].some((name) => index.names[name] === rule))
      && (!hazard || one.row[8].some((name) => index.names[name] === hazard))
      && parts.every((part) => this.words(one).includes(part)));
    this.arrange();
    this.list.node.scrollTop = 0;
    this.list.chosen = -1;
    this.list.reset(this.seen.length);
    this.tell();
  }

  clear() {
    this.search.value = "";
    for (const one of Object.values(this.selects)) one.value = "";
    this.filter({ text: "", headline: "", rule: "", hazard: "" });
  }

  sort(at) {
    if (this.sorted !== at) [this.sorted, this.order] = [at, 1];
    else if (this.order === 1) this.order = -1;
    else [this.sorted, this.order] = [null, 1];
    this.buttons.forEach((button, number) => {
      const here = number === this.sorted;
      button.setAttribute("aria-sort", here ? (this.order > 0 ? "ascending" : "descending") : "none");
      refill(button, this.columns[number].name, here ? (this.order > 0 ? " \u25b2" : " \u25bc") : "");
    });
    this.arrange();
    this.list.reset(this.seen.length);
  }

  arrange() {
    const column = this.columns[this.sorted];
    const by = column && ((a, b) => (column.number ? column.of(a.row) - column.of(b.row) || 0 : collator.compare(column.of(a.row), column.of(b.row))));
    this.seen = [...this.seen].sort((a, b) => (by ? this.order * by(a, b) : 0) || a.place - b.place);
  }

  tell() {
    refill(this.told, this.seen.length === this.rows.length ? count(this.rows.length, "plan") : `${this.seen.length.toLocaleString("en")} of ${count(this.rows.length, "plan")}`);
  }

  key(event) {
    const moves = { j: 1, k: -1 };
    if (event.key in moves) this.list.pick(this.list.chosen + moves[event.key]);
    else if (event.key === "Enter" && this.list.chosen >= 0) go(this.seen[this.list.chosen].place);
    else if (event.key === "/") this.search.focus();
    else return false;
    return true;
  }

  neighbour(place, by) {
    const at = this.seen.findIndex((one) => one.place === place);
    return this.seen[at + by]?.place;
  }
}
