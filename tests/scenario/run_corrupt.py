"""How often the corrector repairs right tasks that were made wrong: ``python tests/scenario/run_corrupt.py``.

For each kind of corruption: how many were tried; how many *check* after the correction (declared and, as before the
corruption, solvable); how many have their meaning back, as elaborated; and how many are stable (a second correction
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
    """Right tasks: the household examples, and the problems of ``eai-behavior`` where they are."""
    household = (ROOT / "domains/plansafe/domains/household/domain.pddl").read_text(encoding="utf-8")
    out = []
    for name in EXAMPLES:
        problem = ROOT / "examples" / name / "problem.pddl"
        if problem.exists():
            out.append((name, Texts(household, problem.read_text(encoding="utf-8"))))
    if data is not None and (data / "eai-behavior").is_dir():
        folder = data / "eai-behavior"
        behavior = (folder / "domain/behavior.pddl").read_text(encoding="utf-8")
        files = sorted((folder / "problem_pddl").glob("*.pddl"))
        out += [(file.stem[:40], Texts(behavior, file.read_text(encoding="utf-8"))) for file in files]
    return [(name, texts) for name, texts in out if _meaning(texts) is not None and "(unknown" not in texts.problem]


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
    kinds = {name: k for name, k in KINDS.items() if arguments.kind in name}
    rows = {name: [0, 0, 0, 0] for name in kinds}
    rng = Random(arguments.seed)
    started = monotonic()
    tried = attempts = 0
    names = list(kinds)
    while tried < arguments.count and attempts < 40 * arguments.count:
        name = names[attempts % len(names)]
        attempts += 1
        half = tasks[:7] if rng.random() < 0.4 else tasks
        task, texts = rng.choice(half)
        wrong = corrupted(rng, texts, [name, *rng.sample(names, arguments.faults - 1)])
        if wrong is None:
            continue
        tried += 1
        checks, same, stable, said = judge(texts, wrong)
        row = rows[name]
        row[0] += 1
        row[1] += checks
        row[2] += same
        row[3] += stable
        if arguments.verbose and not (checks and same and stable):
            print(f"{name} {task}: {'' if checks else 'DOES NOT CHECK '}{'' if stable else 'UNSTABLE '}{said}")
    print("| kind | tried | checks | same meaning |\n|---|---|---|---|")
    for name, (count, checks, same, _) in rows.items():
        if count:
            print(f"| {name} | {count} | {checks} | {same} |")
    total = [sum(row[i] for row in rows.values()) for i in range(4)]
    print(f"| all | {total[0]} | {total[1]} ({total[1] / total[0]:.1%}) | {total[2]} ({total[2] / total[0]:.1%}) |")
    print(f"stable: {total[3]} of {total[0]}; {len(tasks)} tasks; {monotonic() - started:.0f} s")
    return 0 if total[3] == total[0] else 1


def corrupted(rng: Random, texts: Texts, names: list[str]) -> Texts | None:
    """A task with corruptions of these kinds; ``None`` where one of them does not apply."""
    for name in names:
        try:
            wrong = KINDS[name](rng, texts)
        except (AssertionError, LookupError):  # what the kind before left cannot be read any more
            return None
        if wrong is None or wrong == texts:
            return None
        texts = wrong
    return texts


def judge(texts: Texts, wrong: Texts, solve: bool = True) -> tuple[bool, bool, bool, str]:
    """Whether a corrupted task checks after its correction, has its meaning back, and is stable; and what was done."""
    profile = PROFILES["executable"]
    if not solve:
        profile = profile._replace(criteria=frozenset(("declared",)))
    given = Scenario("s", Source("problem.pddl", wrong.problem), Source("domain.pddl", wrong.domain))
    limits = Limits(time_s=40)
    fixed = fix(given, profile, limits)
    now = fixed.scenario
    assert now.domain is not None
    again = fix(now, profile._replace(criteria=frozenset(("declared",))), limits)
    stable = not again.corrections and again.scenario == now
    verdicts = [c.verdict for c in fixed.report.criteria if c.name in ("declared", "solvable")]
    checks = all([v is Verdict.YES for v in verdicts])
    own = meaning(now.domain, now.problem)
    before = _meaning(texts)
    assert before is not None
    same = own == before
    said = "; ".join([f"{c.rule} {c.before[:40]!r}->{c.after[:60]!r}" for c in fixed.corrections[:6]])
    said += " LEFT " + "; ".join([d.message for d in fixed.left[:2]])
    if own is not None and not same:
        said += " DIFFERS " + "; ".join(difference(before, own))[:300]
    return checks, same, stable, said


if __name__ == "__main__":
    sys.exit(main())
