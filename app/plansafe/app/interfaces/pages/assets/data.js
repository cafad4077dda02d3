// What the page was given: an index, and details of each plan, which are read when it is opened.
const index = JSON.parse(document.getElementById("index").textContent);
const details = (() => {
  const text = document.getElementById("details").textContent;
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const line = (place) => text.slice(starts[place], starts[place + 1] - 1);
  const unpacked = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  return {
    // The details of a plan, or null where they were left out.
    async of(place) {
      if (!index.packed) return restored(JSON.parse(line(place)));
      const several = (await unpacked(line(Math.floor(place / index.packed)))).split("\n");
      return restored(JSON.parse(several[place % index.packed]));
    },
  };
})();

// The details of a plan with the repetitions that compact.py left out.
function restored(detail) {
  if (!detail) return detail;
  const { report } = detail;
  const findings = report.findings.map(([number, own]) => ({ ...report.shared[number], ...own }));
  const step = { source: "", time: null, duration: null, at: null, lasts: null };
  const timelines = detail.timelines.map((line) => ({
    ...line,
    steps: line.steps.map((own) => ({ ...step, ...own })),
    moments: line.moments.map(([letter, time, at, steps, changes, cause = null]) => ({ letter, time, at, steps, changes, cause })),
    tracks: line.tracks.map((track) => ({ ...track, looks: track.looks.map((own) => ({ instances: [], number: 0, ...own })) })),
  }));
  return { ...detail, timelines, report: { ...report, findings } };
}

const KINDS = { SAFE: "good", VALID: "good", UNSAFE: "bad", INVALID: "invalid", UNKNOWN: "warn" };
const badge = (headline) => h("span", { class: `badge ${KINDS[headline] || "warn"}` }, headline || "NOT CHECKED");
const bound = (binding) => binding.map(([name, value]) => `${name} = ${value}`).join(", ");
const pairs = (object) => Object.entries(object || {});
