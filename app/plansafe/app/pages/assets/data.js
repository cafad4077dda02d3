// What the page was given: an index, and one line of details for each plan, which is read when it is opened.
const index = JSON.parse(document.getElementById("index").textContent);
const details = (() => {
  const text = document.getElementById("details").textContent;
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return {
    of(place) {
      if (place < 0 || place + 1 >= starts.length) return null;
      return JSON.parse(text.slice(starts[place], starts[place + 1] - 1));
    },
    size: starts.length - 1,
  };
})();

const KINDS = { SAFE: "good", VALID: "good", UNSAFE: "bad", INVALID: "bad", UNKNOWN: "warn" };
const badge = (headline) => h("span", { class: `badge ${KINDS[headline] || "warn"}` }, headline || "NOT CHECKED");
const bound = (binding) => binding.map(([name, value]) => `${name} = ${value}`).join(", ");
const pairs = (object) => Object.entries(object || {});
