// Which view is shown (the address behind # says it), keys, and colours.
const place = document.querySelector("main");
const several = index.reload_s || index.rows.length !== 1;
let run = null;
let shown = null;
let whereInRun = 0;
let turns = 0;

const addressed = () => {
  const found = /^#plan=(\d{1,9})$/.exec(location.hash);
  return found && Number(found[1]) < index.rows.length ? Number(found[1]) : null;
};

function go(number) {
  location.hash = number === null ? "" : `plan=${number}`;
}

async function show() {
  const wanted = several ? addressed() : 0;
  const turned = (turns += 1);
  if (run && shown === run) whereInRun = scrollY;
  if (wanted === null) {
    run ??= new RunView();
    shown = run;
    document.title = index.title;
    refill(place, run.node);
    lists.clear();
    lists.add(run.list);
    scrollTo(0, whereInRun);
    run.list.draw();
    if (run.list.chosen >= 0) run.list.node.focus({ preventScroll: true });
  } else {
    const detail = await details.of(wanted);
    if (turned !== turns) return; // another plan was asked for meanwhile
    shown = detail ? new PlanView(detail, wanted) : { node: h("p", null, "The details of this plan were left out: the page would be too large."), key: () => false };
    document.title = `${index.rows[wanted][1] || "NOT CHECKED"} ${index.rows[wanted][0]}`;
    const next = (by) => { const other = neighbour(wanted, by); return other === undefined ? null : other; };
    refill(place, several ? h("div", { class: "row screen" }, press("all plans", () => go(null)),
      next(-1) === null ? null : press("previous", () => go(next(-1))), next(1) === null ? null : press("next", () => go(next(1)))) : null, shown.node);
    if (shown.drawGantt) shown.drawGantt();
    if (shown.list) shown.list.draw();
    scrollTo(0, 0);
  }
}

function neighbour(number, by) {
  if (run) return run.neighbour(number, by);
  const other = number + by;
  return other >= 0 && other < index.rows.length ? other : undefined;
}

const HELP = [["j k, arrows", "next, previous step or plan"], ["Enter", "open the plan"], ["n p", "next, previous finding"], ["[ ]", "previous, next plan"],
  ["Esc", "back to all plans"], ["/", "filter"], ["t", "dark or light"], ["?", "these keys"]];
const help = h("dialog", { "aria-label": "keys" }, h("h2", null, "Keys"),
  h("table", null, h("tbody", null, HELP.map(([keys, what]) => h("tr", null, h("td", null, keys.split(" ").map((key) => [h("kbd", null, key.replace(",", "")), " "])), h("td", null, what))))),
  h("p", null, press("close", () => help.close())));

function turn() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (help.open) return;
  const wanted = addressed();
  if (event.key === "?") help.showModal();
  else if (event.key === "t") turn();
  else if (event.key === "Escape" && several && wanted !== null) go(null);
  else if ((event.key === "[" || event.key === "]") && several && wanted !== null) {
    const other = neighbour(wanted, event.key === "]" ? 1 : -1);
    if (other !== undefined) go(other);
  } else if (!shown || !shown.key(event)) return;
  event.preventDefault();
});
addEventListener("hashchange", show);
let asked = 0;
addEventListener("resize", () => {
  clearTimeout(asked);
  asked = setTimeout(() => shown && shown.drawGantt && shown.drawGantt(), 150);
});

// A page of a run in progress loads again, unless somebody reads a plan or types; filters, order and place are kept.
const KEPT = "safecheck";
function loadAgain() {
  const typing = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
  if (shown !== run || help.open || document.hidden || typing || String(getSelection())) return;
  sessionStorage.setItem(KEPT, JSON.stringify({ ...run.kept(), scroll: scrollY }));
  location.reload();
}
function restoreRun() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  sessionStorage.removeItem(KEPT);
  if (!kept || shown !== run) return;
  run.restore(kept);
  scrollTo({ top: kept.scroll, behavior: "instant" });
}

refill(document.querySelector("header.top"), h("b", null, "safecheck"), h("span", { class: "grow" }), press("dark / light", turn), press("keys", () => help.showModal()));
document.body.append(help);
show().then(() => {
  if (several) restoreRun();
  if (index.reload_s) setInterval(loadAgain, 1000 * index.reload_s);
  document.documentElement.dataset.ready = "yes";
});
