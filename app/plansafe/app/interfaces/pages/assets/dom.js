// Elements with text in them. Text of plans becomes text nodes alone: nothing here reads markup.
const SVG_SPACE = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const h = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => filled(document.createElementNS(SVG_SPACE, tag), attributes, children);
const press = (text, act, attributes) => h("button", { type: "button", ...attributes, on: { click: act } }, text);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function refill(node, ...children) {
  node.replaceChildren();
  return filled(node, null, children);
}

// A sentence in which `..` is code.
const prose = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", null, part) : part));

function cut(text, letters) {
  return text.length > letters ? text.slice(0, letters - 1) + "\u2026" : text;
}

// A part that scrolls sideways where it is wider than the page, also by key.
const scrolling = (label, ...children) => h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label }, children);

// A list of any length: only the rows that can be seen are in the document, but for printing.
const MOST_PRINTED = 5000;

class LongList {
  constructor({ size, make, rows, choose, open, label, most, head, role }) {
    this.role = role;
    this.size = size;
    this.make = make;
    this.count = rows;
    this.choose = choose || (() => {});
    this.open = open || (() => {});
    this.most = most || "75vh";
    this.chosen = -1;
    this.shown = new Map();
    this.space = h("div", { class: "space", role: role === "grid" ? "rowgroup" : "presentation" });
    this.node = h("div", { class: "list", tabindex: 0, role, "aria-label": label }, head, this.space);
    this.top = head ? 36 : 0;
    this.node.addEventListener("scroll", () => this.soon());
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.watch = new ResizeObserver(() => this.soon());
    this.watch.observe(this.node);
    this.reset(rows);
  }

  reset(rows) {
    this.count = rows;
    for (const node of this.shown.values()) node.remove();
    this.shown.clear();
    this.space.style.height = `${rows * this.size}px`;
    this.node.style.maxHeight = this.most;
    if (this.role === "grid") this.node.setAttribute("aria-rowcount", rows);
    if (this.chosen >= rows) this.chosen = rows - 1;
    this.draw();
  }

  soon() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  draw(all) {
    const from = all ? 0 : Math.max(0, Math.floor(this.node.scrollTop / this.size) - 12);
    const seen = Math.ceil((this.node.clientHeight || 600) / this.size) + 24;
    const to = Math.min(this.count, all ? MOST_PRINTED : from + seen);
    for (const [place, node] of this.shown) {
      if (place < from || place >= to) {
        node.remove();
        this.shown.delete(place);
      }
    }
    for (let place = from; place < to; place += 1) {
      if (this.shown.has(place)) continue;
      const node = this.make(place);
      node.classList.add("item");
      node.classList.toggle("chosen", place === this.chosen);
      node.style.top = `${place * this.size}px`;
      node.style.height = `${this.size}px`;
      node.id = `${this.role}-${place}`;
      if (this.role === "grid") {
        node.setAttribute("role", "row");
        node.setAttribute("aria-rowindex", place + 1);
      } else {
        node.setAttribute("role", "option");
        node.setAttribute("aria-setsize", this.count);
        node.setAttribute("aria-posinset", place + 1);
      }
      node.setAttribute("aria-selected", place === this.chosen);
      node.addEventListener("click", () => {
        this.pick(place);
        this.open(place, true);
      });
      this.shown.set(place, node);
      this.space.append(node);
    }
  }

  again() {
    this.reset(this.count);
  }

  pick(place, quietly) {
    if (!this.count) return;
    const next = Math.min(Math.max(place, 0), this.count - 1);
    this.select(this.chosen, false);
    this.chosen = next;
    this.see(next);
    this.draw();
    this.select(next, true);
    this.node.setAttribute("aria-activedescendant", `${this.role}-${next}`);
    if (!quietly) this.choose(next);
  }

  select(place, selected) {
    const node = this.shown.get(place);
    if (!node) return;
    node.classList.toggle("chosen", selected);
    node.setAttribute("aria-selected", selected);
  }

  see(place) {
    const top = place * this.size;
    const room = this.node.clientHeight - this.top;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top + this.size > this.node.scrollTop + room) this.node.scrollTop = top + this.size - room;
  }

  key(event) {
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.size) - 1);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.pick(this.chosen + moves[event.key]);
    else if (event.key === "Home") this.pick(0);
    else if (event.key === "End") this.pick(this.count - 1);
    else if (event.key === "Enter" && this.chosen >= 0) this.open(this.chosen, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

const lists = new Set();
addEventListener("beforeprint", () => lists.forEach((list) => list.node.isConnected && list.draw(true)));
addEventListener("afterprint", () => lists.forEach((list) => list.draw()));

function longList(options) {
  const list = new LongList(options);
  lists.clear();
  lists.add(list);
  return list;
}
