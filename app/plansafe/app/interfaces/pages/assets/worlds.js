// What is open, in which world it goes wrong, and what to ask: the words are those of the terminal.
function worldsPart(view) {
  const { worlds, timelines } = view.detail;
  const parts = [];
  if (worlds.asking) parts.push(h("div", { class: "ask" }, h("b", null, "Worth asking: "), worlds.asking));
  parts.push(h("div", { class: "cards" }, worlds.scenes.map((scene) => {
    const line = timelines.findIndex((one) => (one.worlds || []).some((number) => scene.witnesses.includes(number)));
    return h("div", { class: "card" }, h("h3", null, prose(scene.heading)),
      h("ul", { class: "plain facts" }, scene.lines.map((one) => h("li", null, one))),
      scene.replayed ? h("p", { class: "soft" }, "replayed by the kernel") : null,
      line >= 0 ? press("show the plan in this world", () => {
        view.switchTo(line);
        document.getElementById("steps").scrollIntoView();
      }, { class: "screen" }) : null);
  })));
  parts.push(h("ul", { class: "plain soft" }, worlds.notes.map((note) => h("li", null, note))));
  return parts;
}
