// Many plans: a table to sort and filter, and what they come to. Each row opens its plan.
const collator = new Intl.Collator("en", { numeric: true });

// Bars with the parts of each by the verdicts of the plans.
function barPlot(plot, choose) {
  const most = Math.max(...plot.bars.map((bar) => bar.value), 1e-9);
  const share = (value) => `${100 * Math.min(1, value / most)}%`;
  const bar = ({ name, value, text, low, high, parts }) => {
    const fill = h("span", { class: "track", "aria-hidden": "true" });
    for (const [headline, part] of parts || [["", value]]) {
      const node = h("span", { class: `fill ${headline ? KINDS[headline] || "unchecked" : ""}` });
      node.style.width = share(part);
      fill.append(node);
    }
    if (low !== null && low !== undefined) {
      const span = h("span", { class: "interval" });
      span.style.left = share(low);
      span.style.width = `calc(${share(high)} - ${share(low)})`;
      fill.append(span);
    }
    const cells = [h("span", { class: "name" }, name), fill, h("span", { class: "amount" }, text)];
    const title = [name, text, ...(parts || []).filter(([headline]) => headline !== name).map(([headline, , plans]) => `${headline}: ${plans}`)].join(", ");
    return plot.filter ? h("button", { type: "button", class: "bar", title: `${title}; show only these plans`, on: { click: () => choose(plot.filter, name) } }, cells) : h("div", { class: "bar", title }, cells);
  };
  return h("div", { class: "plot" }, h("h2", null, plot.title), plot.bars.map(bar));
}

function verdictLegend() {
  const used = new Set(index.plots.flatMap((plot) => plot.bars.flatMap((bar) => (bar.parts || []).map(([headline]) => headline))));
  const intervals = index.plots.some((plot) => plot.bars.some((bar) => bar.low !== null && bar.low !== undefined));
  return h("div", { class: "legend" },
    [["good", "SAFE, VALID"], ["bad", "UNSAFE"], ["invalid", "INVALID"], ["warn", "UNKNOWN"], ["unchecked", "NOT CHECKED"]]
      .filter(([, names]) => names.split(", ").some((name) => used.has(name)))
      .map(([kind, names]) => h("span", null, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), names.split(", ").filter((name) => used.has(name)).join(", "))),
    intervals ? h("span", null, h("span", { class: "swatch interval", "aria-hidden": "true" }), "95 % interval of the share") : null);
}

function dataTable(table) {
  return h("details", null, h("summary", null, table.title), scrolling(table.title, h("table", { class: "stacked" },
    h("thead", null, h("tr", null, table.columns.map((one) => h("th", null, one)))),
    h("tbody", null, table.rows.map((row) => h("tr", null, row.map((cell, at) => h("td", { class: at ? "number" : null, "data-name": table.columns[at] }, cell === null ? "" : String(cell)))))))),
  table.note ? h("p", { class: "soft" }, table.note) : null);
}

class RunView {
  constructor() {
    this.rows = index.rows.map(([plan, headline, steps, findings, first, rules, seconds, hazards, columns], place) => (
      { plan, headline: headline || "NOT CHECKED", steps, findings, first, rules: rules.map((one) => index.names[one]), seconds, hazards: hazards.map((one) => index.names[one]), columns, place, words: null }));
    this.seen = this.rows;
    this.sorted = null;
    this.order = 1;
    this.wanted = { text: "", headline: "", rule: "", hazard: "" };
    const fixed = [
      { name: "plan", of: (row) => row.plan, width: "minmax(12rem, 2.2fr)" },
      { name: "verdict", of: (row) => row.headline, width: "7.5rem", show: (row) => badge(row.headline) },
      { name: "steps", of: (row) => row.steps, width: "4rem", number: true, wide: true },
      { name: "findings", of: (row) => row.findings, width: "5.5rem", number: true },
      { name: "first at", of: (row) => row.first ?? Infinity, width: "5rem", number: true, wide: true, show: (row) => (row.first === null ? "" : String(row.first)) },
      { name: "rules broken", of: (row) => row.rules.join(", "), width: "minmax(10rem, 2fr)", wide: true },
      { name: "seconds", of: (row) => row.seconds ?? -1, width: "5rem", number: true, wide: true, show: (row) => (row.seconds === null ? "" : row.seconds.toFixed(3)) },
    ].filter((column) => column.name !== "seconds" || this.rows.some((row) => row.seconds !== null));
    this.columns = [...fixed, ...index.columns.map((name, at) => ({ name, of: (row) => row.columns[at] ?? "", width: "minmax(5rem, 1fr)", wide: true }))];
    this.node = h("div", { class: "run" });
    this.build();
  }

  build() {
    this.told = h("span", { class: "soft", "aria-live": "polite" });
    this.search = h("input", { type: "search", id: "search", placeholder: "filter by name, rule, verdict, column ..", "aria-label": "filter plans", on: { input: () => this.filter({ text: this.search.value.toLowerCase() }) } });
    const select = (what, values, all) => h("select", { "aria-label": all, on: { change: (event) => this.filter({ [what]: event.target.value }) } },
      h("option", { value: "" }, all), values.map((one) => h("option", { value: one }, one)));
    const headlines = [...new Set(this.rows.map((row) => row.headline))].sort();
    const named = (field) => [...new Set(this.rows.flatMap((row) => row[field]))].sort(collator.compare);
    this.selects = { headline: select("headline", headlines, "all verdicts"), rule: select("rule", named("rules"), "all rules"), hazard: select("hazard", named("hazards"), "all hazards") };
    this.buttons = this.columns.map((column, at) => press(column.name, () => this.sort(at), { class: column.number ? "number" : null }));
    this.heads = this.columns.map((column, at) => h("div", { role: "columnheader", "aria-sort": "none", class: column.wide ? "wide" : null }, this.buttons[at]));
    this.list = longList({
      size: 32, rows: this.rows.length, label: "plans", most: "80vh", role: "grid", head: h("div", { class: "heads", role: "row" }, this.heads),
      make: (at) => h("div", null, this.columns.map((column) => this.cell(column, this.seen[at]))),
      open: (at) => go(this.seen[at].place),
    });
    const narrow = matchMedia("(max-width: 44rem)");
    const fit = () => { this.list.size = narrow.matches ? 58 : 32; this.list.again(); };
    narrow.addEventListener("change", fit);
    fit();
    const box = h("div", { class: "plans" }, this.list.node);
    box.style.setProperty("--columns", this.columns.map((column) => column.width).join(" "));
    const only = (filter, name) => { this.selects[filter].value = name; this.filter({ [filter]: name }); this.list.node.scrollIntoView({ block: "nearest" }); };
    refill(this.node, h("h1", null, index.title),
      index.about.length ? h("dl", { class: "values" }, index.about.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))) : null,
      index.notes.map((note) => h("div", { class: "warnbox" }, note)),
      index.plots.length ? [verdictLegend(), h("div", { class: "plots" }, index.plots.map((plot) => barPlot(plot, only)))] : null,
      index.tables.map(dataTable),
      h("div", { class: "row filters" }, this.search, Object.values(this.selects), press("clear", () => this.clear()), this.told), box);
    this.tell();
  }

  cell(column, row) {
    const value = column.of(row);
    const kinds = [column.number ? "number" : "", column.wide ? "wide" : ""].filter(Boolean).join(" ");
    return h("span", { class: kinds || null, role: "gridcell", title: typeof value === "string" ? value : null }, column.show ? column.show(row) : String(value));
  }

  words(row) {
    row.words ??= [...this.columns.filter((column) => !column.number).map((column) => column.of(row)), ...row.hazards].join("\n").toLowerCase();
    return row.words;
  }

  filter(change) {
    Object.assign(this.wanted, change);
    const { text, headline, rule, hazard } = this.wanted;
    const parts = text.split(/\s+/).filter(Boolean);
    this.seen = this.rows.filter((row) => (!headline || row.headline === headline) && (!rule || row.rules.includes(rule))
      && (!hazard || row.hazards.includes(hazard)) && parts.every((part) => this.words(row).includes(part)));
    this.arrange();
    this.list.node.scrollTop = 0;
    this.list.chosen = -1;
    this.list.reset(this.seen.length);
    this.tell();
  }

  // What a reader chose, for a page that loads again.
  kept() {
    const open = [...this.node.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
    return { wanted: this.wanted, search: this.search.value, sorted: this.sorted, order: this.order, top: this.list.node.scrollTop, chosen: this.list.chosen, open };
  }

  restore({ wanted, search, sorted, order, top, chosen, open }) {
    this.search.value = search;
    for (const [name, select] of Object.entries(this.selects)) select.value = wanted[name];
    [this.sorted, this.order] = [sorted, order];
    this.filter(wanted);
    this.markSorted();
    for (const one of this.node.querySelectorAll("details > summary")) one.parentNode.open = open.includes(one.textContent);
    if (chosen >= 0) this.list.pick(chosen, true);
    this.list.node.scrollTop = top;
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
    this.markSorted();
    this.arrange();
    this.list.reset(this.seen.length);
  }

  markSorted() {
    this.buttons.forEach((button, number) => {
      const here = number === this.sorted;
      this.heads[number].setAttribute("aria-sort", here ? (this.order > 0 ? "ascending" : "descending") : "none");
      refill(button, this.columns[number].name, here ? (this.order > 0 ? " \u25b2" : " \u25bc") : "");
    });
  }

  arrange() {
    const column = this.columns[this.sorted];
    const by = column && ((a, b) => (column.number ? column.of(a) - column.of(b) || 0 : collator.compare(column.of(a), column.of(b))));
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
