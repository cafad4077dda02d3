"""Measure how often the corrector repairs corrupted tasks: ``python tests/scenario/run_corrupt.py``.

For each kind of corruption it counts the corrupted tasks, the tasks that *check* after the correction (declared and, as
before the corruption, solvable), those with their original meaning, and those that are stable (a second correction
changes nothing).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(0, str(Path(__file__).parent))

from scenario_corruptions import KINDS, Texts
from scenario_meaning import difference, meaning

from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.fix import fix
from plansafe.llm.scenarios.validation.model import PROFILES, Limits, Scenario, Verdict

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("breakfast", "dinner", "cleaning", "leftovers", "visit", "two-robots", "metal-cup")


def corpus(data: Path | None) -> list[tuple[str, Texts]]:
    """Return correct tasks: the household examples, and the problems of ``eai-behavior`` if the data set is there."""
    household = (ROOT / "domains/plansafe/domains/household/domain.pddl").read_text(encoding="utf-8")
    tasks = []
    for name in EXAMPLES:
        problem = ROOT / "examples" / name / "problem.pddl"
        if problem.exists():
            tasks.append((name, Texts(household, problem.read_text(encoding="utf-8"))))
    if data is not None and (data / "eai-behavior").is_dir():
        folder = data / "eai-behavior"
        behavior = (folder / "domain/behavior.pddl").read_text(encoding="utf-8")
        files = sorted((folder / "problem_pddl").glob("*.pddl"))
        tasks += [(file.stem[:40], Texts(behavior, file.read_text(encoding="utf-8"))) for file in files]
    return [(name, texts) for name, texts in tasks if _meaning(texts) is not None and "(unknown" not in texts.problem]


def _meaning(texts: Texts) -> dict[str, object] | None:
    return meaning(Source("domain.pddl", texts.domain), Source("problem.pddl", texts.problem))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="", help="only kinds with this in their name")
    parser.add_argument("--faults", type=int, default=1, help="how many corruptions, one on top of the other")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))
    tasks = corpus(folder if folder.is_dir() else None)
    kinds = {name: corruption for name, corruption in KINDS.items() if arguments.kind in name}
    rows = {name: [0, 0, 0, 0] for name in kinds}
    rng = Random(arguments.seed)
    started = monotonic()
    tried = attempts = 0
    names = list(kinds)
    while tried < arguments.count and attempts < 40 * arguments.count:
        name = names[attempts % len(names)]
        attempts += 1
        candidates = tasks[:7] if rng.random() < 0.4 else tasks
        task, texts = rng.choice(candidates)
        corrupted = corrupt(rng, texts, [name, *rng.sample(names, arguments.faults - 1)])
        if corrupted is None:
            continue
        tried += 1
        checks, same, stable, description = judge_correction(texts, corrupted)
        row = rows[name]
        row[0] += 1
        row[1] += checks
        row[2] += same
        row[3] += stable
        if arguments.verbose and not (checks and same and stable):
            print(f"{name} {task}: {'' if checks else 'DOES NOT CHECK '}{'' if stable else 'UNSTABLE '}{description}")
    print("| kind | tried | checks | same meaning |\n|---|---|---|---|")
    for name, (count, checks, same, _) in rows.items():
        if count:
            print(f"| {name} | {count} | {checks} | {same} |")
    total = [sum(row[i] for row in rows.values()) for i in range(4)]
    print(f"| all | {total[0]} | {total[1]} ({total[1] / total[0]:.1%}) | {total[2]} ({total[2] / total[0]:.1%}) |")
    print(f"stable: {total[3]} of {total[0]}; {len(tasks)} tasks; {monotonic() - started:.0f} s")
    return 0 if total[3] == total[0] else 1


def corrupt(rng: Random, texts: Texts, names: list[str]) -> Texts | None:
    """Apply corruptions of these kinds one after the other; return ``None`` if one does not apply."""
    for name in names:
        try:
            corrupted = KINDS[name](rng, texts)
        except (AssertionError, LookupError):  # the text is unreadable after an earlier corruption
            return None
        if corrupted is None or corrupted == texts:
            return None
        texts = corrupted
    return texts


def judge_correction(texts: Texts, corrupted: Texts, solve: bool = True) -> tuple[bool, bool, bool, str]:
    """Correct a corrupted task; return whether it checks, has its meaning and is stable, and the corrections."""
    profile = PROFILES["executable"]
    if not solve:
        profile = profile._replace(criteria=frozenset(("declared",)))
    scenario = Scenario("s", Source("problem.pddl", corrupted.problem), Source("domain.pddl", corrupted.domain))
    limits = Limits(time_s=40)
    fixed = fix(scenario, profile, limits)
    corrected = fixed.scenario
    assert corrected.domain is not None
    second = fix(corrected, profile._replace(criteria=frozenset(("declared",))), limits)
    stable = not second.corrections and second.scenario == corrected
    verdicts = [c.verdict for c in fixed.report.criteria if c.name in ("declared", "solvable")]
    checks = all([v is Verdict.YES for v in verdicts])
    corrected_meaning = meaning(corrected.domain, corrected.problem)
    original_meaning = _meaning(texts)
    assert original_meaning is not None
    same = corrected_meaning == original_meaning
    description = "; ".join([f"{c.rule} {c.before[:40]!r}->{c.after[:60]!r}" for c in fixed.corrections[:6]])
    description += " LEFT " + "; ".join([d.message for d in fixed.left[:2]])
    if corrected_meaning is not None and not same:
        description += " DIFFERS " + "; ".join(difference(original_meaning, corrected_meaning))[:300]
    return checks, same, stable, description


if __name__ == "__main__":
    sys.exit(main())
