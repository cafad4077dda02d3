"""What does it cost to hold a policy to a task step by step, and does it arrive?

usage: python -m bench.guide [drawn] [virtualhome] [store] [mask] [--families 15] [--numbers 1] [--slack 1.5 2]
                             [--tasks 30] [--seconds 60] [--seed 31] [--model llamacpp-local/FILE]
                             [--each] [--small]

*drawn*: tasks of the generator (``plansafe.llm.instances``), under the shield and the guide, with random choices; with
``--model`` its choices, and its own CPU beside ours. *virtualhome*: a sample of the shared tasks (``PLANSAFE_DATA``)
with the hazard library, random choices under the guide; a task counts as solvable if the script of the data set is
SAFE, or a plan was found, or the plan of a guide. *store*: the same at 100,000 ground actions. *mask*: tokens at so
many rows. All times are of CPU, of one thread. Which steps are drawn depends on ``--seed`` alone.
Exit code 1 if guide and checker contradict each other: a plan that arrives is not SAFE, or a task that has a safe plan
is called unsolvable.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from random import Random
from time import process_time
from typing import NamedTuple

from bench.hazards.repairs import by_processor_time, prepared
from bench.hazards.study import DATA, scripts
from bench.options import store

from plansafe.grammar.source import Source
from plansafe.llm.decoding.mask import LinesMask
from plansafe.llm.decoding.stepwise import Decoded, End, Mode, decode
from plansafe.llm.instances.drawn import draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.plain import PlainModel
from plansafe.llm.models.port import LogitsMask, Model
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Message, Request, said
from plansafe.llm.models.token_table import TokenTable
from plansafe.llm.prompts.planning import planning_prompt
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Headline

SECTIONS = ("drawn", "virtualhome", "store", "mask")
GOOD = (Headline.SAFE, Headline.VALID)
MASK_MS = 1.0
"""Target for a token."""


class Metered(PlainModel):
    """A model whose CPU time is counted apart from ours."""

    def __init__(self, inner: Model) -> None:
        super().__init__("metered", inner.identity, inner.capabilities)
        self._inner = inner
        self.spent = 0.0

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """What the model says."""
        begun = process_time()
        try:
            return self._inner.answer(request, mask)
        finally:
            self.spent += process_time() - begun


class Made(NamedTuple):
    """A plan, what it cost us and the model (seconds), and its verdict."""

    decoded: Decoded
    ours: float
    models: float
    headline: Headline | None


def made(checker: Checker, guide: Guide, model: Model, messages: tuple[Message, ...], mode: Mode, longest: int) -> Made:
    """Let a model build a plan."""
    metered = Metered(model)
    begun = process_time()
    decoded = decode(metered, "task", messages, guide, mode, longest)
    spent = process_time() - begun
    return Made(
        decoded, spent - metered.spent, metered.spent, checker.check(Source("made.plan", decoded.plan)).headline
    )


def contradiction(ended: Made, solvable: bool) -> str:
    """How a plan contradicts the checker, or the safe plan that is known if the task is ``solvable``."""
    if ended.decoded.end is End.DONE and ended.headline not in GOOD:
        return f"arrives, but is {ended.headline.value if ended.headline else 'not judged'}"
    return "called unsolvable, but has a safe plan" if solvable and ended.decoded.end is End.UNSOLVABLE else ""


def drawn(given: argparse.Namespace, models: Sequence[Model]) -> int:
    """Tasks of the generator; returns the number of contradictions."""
    wrong = 0
    print(
        f"{'drawn tasks':26} {'tasks':>5} {'safe':>5} {'steps':>6} {'calls':>6} {'searches':>8} {'ms a step':>9}",
        end="",
    )
    print(f" {'median':>7} {'worst':>7} {'model s':>8} {'share':>6}")
    tasks = [
        (one, one.checker(), len(one.reference.splitlines()))
        for family in list(FAMILIES)[: given.families]
        for number in range(given.numbers)
        for one in [draw(family, number, given.seed)]
    ]
    for model in models:
        for slack in given.slack:
            for mode in (Mode.SHIELD, Mode.GUIDED):
                found = []
                for one, checker, length in tasks:
                    asked = planning_prompt(one.words, checker.compiled).messages
                    begun = process_time()
                    guide = Guide(checker.compiled)
                    start = process_time() - begun
                    ended = made(checker, guide, model, asked, mode, math.ceil(slack * length))
                    found.append(ended._replace(ours=ended.ours + start))
                    what = contradiction(ended, slack >= 1)
                    if what:
                        wrong += 1
                        print(f"  {one.origin}: {what}", flush=True)
                told(f"{model.label if isinstance(model, PlainModel) else 'model'} {mode.value} {slack:g}", found)
    return wrong


def told(title: str, found: Sequence[Made]) -> None:
    """A line of the table: sums over the tasks, and the cost of a step task by task."""
    steps = [max(1, len(one.decoded.choices)) for one in found]
    each = sorted([1e3 * one.ours / count for one, count in zip(found, steps, strict=True)])
    ours, models = sum([one.ours for one in found]), sum([one.models for one in found])
    share = f"{100 * ours / models:5.1f}%" if not title.startswith("mock") else "-"
    calls, searches = sum([one.decoded.calls for one in found]), sum([one.decoded.searches for one in found])
    good = sum([one.headline in GOOD and one.decoded.end is End.DONE for one in found])
    print(
        f"{title[-26:]:26} {len(found):5} {good:5} {sum(steps):6} {calls:6} {searches:8} {1e3 * ours / sum(steps):9.1f}"
        f" {statistics.median(each):7.1f} {each[-1]:7.1f} {models / sum(steps):8.2f} {share:>6}",
        flush=True,
    )


def virtualhome(given: argparse.Namespace) -> int:
    """A sample of the shared tasks; returns the number of contradictions."""
    if not DATA.is_dir():
        print(f"virtualhome: no data at {DATA} (set PLANSAFE_DATA)")
        return 0
    wrong = 0
    names = scripts()
    Random(given.seed).shuffle(names)
    ends: Counter[str] = Counter()
    solvable, times, first, options = 0, list[float](), list[float](), list[float]()
    for name in names[: given.tasks]:
        begun = process_time()
        ready = prepared(name, True)
        checker = ready.checker
        try:
            guide = Guide(checker.compiled, time_limit_s=given.seconds * 0.75)
        except ValueError as error:
            ends[str(error)] += 1
            continue
        ahead = guide.continuation()
        first.append(process_time() - begun)
        ended = None
        if ahead.exists:
            longest = math.ceil(given.slack[0] * len(ahead.steps))
            ended = made(checker, guide, MockModel("random", {}, given.seed), said("go"), Mode.GUIDED, longest)
        spent = process_time() - begun
        times.append(spent)
        safe = ended is not None and ended.headline in GOOD and ended.decoded.end is End.DONE
        gold = checker.check(ready.plan).headline in GOOD
        wrong += (gold and ahead.exists is False) or (ended is not None and bool(contradiction(ended, gold)))
        solvable += gold or bool(ahead.exists)
        what = "UNSOLVABLE" if ahead.exists is False else "UNKNOWN" if ended is None else "SAFE" if safe else "NOT SAFE"
        if safe and spent > given.seconds:
            what = "too slow"
        if what != "SAFE" or given.each:
            steps = 0 if ended is None else len(ended.decoded.steps)
            script = f"script {'SAFE' if gold else 'not SAFE'}"
            print(f"  {name}: {what}, {script}, {steps} steps, {spent:.1f} s; {ahead.detail}", flush=True)
        ends[f"{what}{'' if gold or ahead.exists else ', not known to be solvable'}"] += 1
        begun = process_time()
        Guide(checker.compiled).options()
        options.append(1e3 * (process_time() - begun))  # what they need is compiled by now
    print(f"virtualhome: {len(times)} tasks, {solvable} known to be solvable: {dict(ends)}")
    print(f"  seconds a task: median {statistics.median(times):.2f}, most {max(times):.1f}", end="")
    print(
        f"; to the first way {statistics.median(first):.2f}; options, warm: median {statistics.median(options):.1f} ms"
    )
    return wrong


def warehouse(given: argparse.Namespace) -> int:
    """A task with 100,000 ground actions: three things have to be moved from room to room.

    Returns the number of contradictions.
    """
    wrong = 0
    size = (5, 4, 24) if given.small else (50, 4, 500)
    checker = store(*size, goal="(and (on item8 place9) (on item15 place3) (on item22 place17) (here room1))")
    actions = size[0] * size[1] * size[2]
    for slack in given.slack:
        begun = process_time()
        guide = Guide(checker.compiled, time_limit_s=given.seconds)
        ahead = guide.continuation()
        first = process_time() - begun
        if not ahead.exists:
            print(f"store, {actions} ways to take something: {ahead.detail} ({first:.2f} s)")
            continue
        longest = math.ceil(slack * len(ahead.steps))
        model = MockModel("random", {}, given.seed)
        ended = made(checker, guide, model, said("go"), Mode.GUIDED, longest)
        wrong += bool(contradiction(ended, True))
        done = ended.decoded
        each = 1e3 * ended.ours / max(1, len(done.choices))
        print(f"store, {actions} ways to take something, slack {slack:g}:", end=" ")
        print(f"first way {len(ahead.steps)} steps, {first:.2f} s")
        ended_as = f"{done.end.value}, {ended.headline.value if ended.headline else '-'}"
        print(
            f"  {ended_as}: {len(done.steps)} steps, {done.searches} searches, {done.calls} calls, {each:.1f} ms a step"
        )
    return wrong


class Pieces:
    """A vocabulary for figures without weights: names of things are cut into pieces of at most three letters."""

    end = 0

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def encode(self, text: str) -> list[int]:
        """The pieces of a text."""
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
        return [self._known.setdefault(piece, len(self._known) + 1) for piece in pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some pieces."""
        names = {token: piece for piece, token in self._known.items()}
        return "".join([names[token] for token in tokens])


def mask(given: argparse.Namespace, vocabulary: object) -> None:
    """A mask over the rows of 100,000 steps, of which all, a tenth, and 200 are legal, drawn anew behind each step."""
    items, places = (50, 40) if given.small else (500, 200)
    texts = [f"(take item{i} place{p} room{p // 4})" for i in range(items) for p in range(places)]
    words = vocabulary if vocabulary is not None else Pieces()
    begun = process_time()
    table = TokenTable(words, texts, "\n")  # type: ignore[arg-type]  # a Vocabulary
    every = table.numbers(texts)
    print(f"mask, {len(texts)} rows: table {process_time() - begun:.2f} s of CPU, once")
    for count in (len(texts), len(texts) // 10, 200):
        chance = Random(count)
        choices = [every if count == len(texts) else sorted(chance.sample(every, count)) for _ in range(20)]
        writes = LinesMask(table, 0, lambda _row, choices=choices, chance=chance: (chance.choice(choices), False))
        tokens, times = list[int](), list[float]()
        for _ in range(60 if given.small else 600):
            begun = process_time()
            allowed = writes(tokens)
            times.append(1e3 * (process_time() - begun))
            tokens.append(chance.choice(allowed))
        print(
            f"  {count:6} legal: {statistics.mean(times):.4f} ms a token, worst {max(times):.2f},"
            f" target {MASK_MS:g}: {'met' if statistics.mean(times) < MASK_MS else 'MISSED'}"
        )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--families", type=int, default=len(FAMILIES))
    parser.add_argument("--numbers", type=int, default=1, help="tasks of each family")
    parser.add_argument("--slack", type=float, nargs="+", default=[1.5, 2.0])
    parser.add_argument("--tasks", type=int, default=30, help="of VirtualHome")
    parser.add_argument("--seconds", type=float, default=60.0, help="of CPU for a task of VirtualHome")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--model", help="weights whose choices are guided, too; their tokens are masked")
    parser.add_argument(
        "--each", action="store_true", help="a line for each task of VirtualHome, not for failures alone"
    )
    parser.add_argument("--small", action="store_true", help="small tasks, which the tests run")
    given = parser.parse_args()
    sections = given.sections or SECTIONS
    if set(sections) - set(SECTIONS):
        parser.error(f"sections are {', '.join(SECTIONS)}")
    by_processor_time()
    local = [] if given.model is None else [open_model(given.model, Settings(threads=1, context=8192))]
    wrong = 0
    if "drawn" in sections:
        wrong += drawn(given, [MockModel("random", {}, given.seed), *local])
    if "virtualhome" in sections:
        wrong += virtualhome(given)
    if "store" in sections:
        wrong += warehouse(given)
    if "mask" in sections:
        mask(given, local[0].vocabulary if local else None)
    if wrong:
        print(f"{wrong} contradictions between guide and checker")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
