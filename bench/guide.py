"""Measure what guided decoding costs per step, and whether the plans are SAFE and reach the goal.

usage: python -m bench.guide [drawn] [virtualhome] [store] [mask] [--families 15] [--numbers 1] [--slack 1.5 2]
                             [--tasks 30] [--seconds 60] [--seed 31] [--model llamacpp-local/FILE]
                             [--each] [--small]

*drawn*: generated tasks (``plansafe.llm.instances``), with shield and with guide; steps are chosen at random, and with
``--model`` also by a model, whose CPU time is counted separately. *virtualhome*: a sample of the tasks of the data set
(``PLANSAFE_DATA``) with the hazard library, random choices with guide; a task counts as solvable if the script of the
data set is SAFE or the guide found a plan. *store*: a task with 100,000 ground actions. *mask*: the token mask over
100,000 lines. All times are CPU times of one thread. The random choices depend only on ``--seed``.
Exit code 1 if guide and checker contradict each other: a plan that reaches the goal is not SAFE, or a task with a safe
plan is reported as unsolvable.
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

from bench.hazards.repairs import prepare_script, use_processor_time
from bench.hazards.study import DATA, scripts
from bench.options import make_store_checker

from plansafe.grammar.source import Source
from plansafe.llm.decoding.mask import LinesMask
from plansafe.llm.decoding.stepwise import Decoded, End, Mode, decode
from plansafe.llm.instances.drawn import draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.port import LogitsMask, Model, PlainModel
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Message, Request, user_messages
from plansafe.llm.models.token_table import TokenTable
from plansafe.llm.prompts.planning import planning_prompt
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Headline

SECTIONS = ("drawn", "virtualhome", "store", "mask")
GOOD_HEADLINES = (Headline.SAFE, Headline.VALID)
MASK_MS = 1.0
"""Target: milliseconds per token."""


class MeteredModel(PlainModel):
    """A model whose own CPU time is measured."""

    def __init__(self, wrapped: Model) -> None:
        super().__init__("metered", wrapped.identity, wrapped.capabilities)
        self._wrapped = wrapped
        self.cpu_time = 0.0

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """The answer of the wrapped model."""
        start = process_time()
        try:
            return self._wrapped.answer(request, mask)
        finally:
            self.cpu_time += process_time() - start


class GuidedPlan(NamedTuple):
    """A decoded plan, the CPU seconds of safecheck and of the model, and the verdict."""

    decoded: Decoded
    safecheck_time: float
    model_time: float
    headline: Headline | None


def build_plan(
    checker: Checker, guide: Guide, model: Model, messages: tuple[Message, ...], mode: Mode, longest: int
) -> GuidedPlan:
    """Let a model build a plan and audit it."""
    metered = MeteredModel(model)
    start = process_time()
    decoded = decode(metered, "task", messages, guide, mode, longest)
    total_time = process_time() - start
    return GuidedPlan(
        decoded,
        total_time - metered.cpu_time,
        metered.cpu_time,
        checker.check(Source("made.plan", decoded.plan)).headline,
    )


def find_contradiction(guided_plan: GuidedPlan, solvable: bool) -> str:
    """How the plan contradicts the checker, or a known safe plan (``solvable``); empty if it does not."""
    if guided_plan.decoded.end is End.DONE and guided_plan.headline not in GOOD_HEADLINES:
        return f"reaches the goal, but is {guided_plan.headline.value if guided_plan.headline else 'not judged'}"
    return (
        "reported as unsolvable, but has a safe plan" if solvable and guided_plan.decoded.end is End.UNSOLVABLE else ""
    )


def measure_drawn(options: argparse.Namespace, models: Sequence[Model]) -> int:
    """Measure generated tasks; returns the number of contradictions."""
    contradictions = 0
    print(
        f"{'drawn tasks':26} {'tasks':>5} {'safe':>5} {'steps':>6} {'calls':>6} {'searches':>8} {'ms a step':>9}",
        end="",
    )
    print(f" {'median':>7} {'worst':>7} {'model s':>8} {'share':>6}")
    tasks = [
        (task, task.checker(), len(task.reference.splitlines()))
        for family in list(FAMILIES)[: options.families]
        for number in range(options.numbers)
        for task in [draw(family, number, options.seed)]
    ]
    for model in models:
        for slack in options.slack:
            for mode in (Mode.SHIELD, Mode.GUIDED):
                guided_plans = []
                for task, checker, length in tasks:
                    messages = planning_prompt(task.words, checker.compiled).messages
                    start = process_time()
                    guide = Guide(checker.compiled)
                    guide_time = process_time() - start
                    guided_plan = build_plan(checker, guide, model, messages, mode, math.ceil(slack * length))
                    guided_plans.append(guided_plan._replace(safecheck_time=guided_plan.safecheck_time + guide_time))
                    contradiction = find_contradiction(guided_plan, slack >= 1)
                    if contradiction:
                        contradictions += 1
                        print(f"  {task.name}: {contradiction}", flush=True)
                print_row(
                    f"{model.label if isinstance(model, PlainModel) else 'model'} {mode.value} {slack:g}", guided_plans
                )
    return contradictions


def print_row(title: str, guided_plans: Sequence[GuidedPlan]) -> None:
    """Print a table row: sums over the tasks, and median and worst cost of a step over the tasks."""
    steps = [max(1, len(plan.decoded.choices)) for plan in guided_plans]
    ms_per_step = sorted([1e3 * plan.safecheck_time / count for plan, count in zip(guided_plans, steps, strict=True)])
    ours, models = sum([plan.safecheck_time for plan in guided_plans]), sum([plan.model_time for plan in guided_plans])
    share = f"{100 * ours / models:5.1f}%" if not title.startswith("mock") else "-"
    calls = sum([plan.decoded.calls for plan in guided_plans])
    searches = sum([plan.decoded.searches for plan in guided_plans])
    safe_count = sum([plan.headline in GOOD_HEADLINES and plan.decoded.end is End.DONE for plan in guided_plans])
    print(
        f"{title[-26:]:26} {len(guided_plans):5} {safe_count:5} {sum(steps):6} {calls:6} {searches:8}"
        f" {1e3 * ours / sum(steps):9.1f}"
        f" {statistics.median(ms_per_step):7.1f} {ms_per_step[-1]:7.1f} {models / sum(steps):8.2f} {share:>6}",
        flush=True,
    )


def measure_virtualhome(options: argparse.Namespace) -> int:
    """Measure a sample of the VirtualHome tasks; returns the number of contradictions."""
    if not DATA.is_dir():
        print(f"virtualhome: no data at {DATA} (set PLANSAFE_DATA)")
        return 0
    contradictions = 0
    names = scripts()
    Random(options.seed).shuffle(names)
    outcomes: Counter[str] = Counter()
    solvable, times, first_plan_times, option_times = 0, list[float](), list[float](), list[float]()
    for name in names[: options.tasks]:
        start = process_time()
        prepared_task = prepare_script(name, True)
        checker = prepared_task.checker
        try:
            guide = Guide(checker.compiled, time_limit_s=options.seconds * 0.75)
        except ValueError as error:
            outcomes[str(error)] += 1
            continue
        continuation = guide.continuation()
        first_plan_times.append(process_time() - start)
        guided_plan = None
        if continuation.exists:
            longest = math.ceil(options.slack[0] * len(continuation.steps))
            guided_plan = build_plan(
                checker, guide, MockModel("random", {}, options.seed), user_messages("go"), Mode.GUIDED, longest
            )
        total_time = process_time() - start
        times.append(total_time)
        is_safe = (
            guided_plan is not None and guided_plan.headline in GOOD_HEADLINES and guided_plan.decoded.end is End.DONE
        )
        gold_is_safe = checker.check(prepared_task.plan).headline in GOOD_HEADLINES
        contradictions += (gold_is_safe and continuation.exists is False) or (
            guided_plan is not None and bool(find_contradiction(guided_plan, gold_is_safe))
        )
        solvable += gold_is_safe or bool(continuation.exists)
        if guided_plan is None:
            outcome = "UNSOLVABLE" if continuation.exists is False else "UNKNOWN"
        elif is_safe:
            outcome = "too slow" if total_time > options.seconds else "SAFE"
        else:
            outcome = "NOT SAFE"
        if outcome != "SAFE" or options.each:
            steps = 0 if guided_plan is None else len(guided_plan.decoded.steps)
            script = f"script {'SAFE' if gold_is_safe else 'not SAFE'}"
            print(
                f"  {name}: {outcome}, {script}, {steps} steps, {total_time:.1f} s; {continuation.detail}", flush=True
            )
        outcomes[f"{outcome}{'' if gold_is_safe or continuation.exists else ', not known to be solvable'}"] += 1
        start = process_time()
        Guide(checker.compiled).options()
        option_times.append(1e3 * (process_time() - start))  # the formulas are compiled by now
    print(f"virtualhome: {len(times)} tasks, {solvable} known to be solvable: {dict(outcomes)}")
    print(f"  seconds a task: median {statistics.median(times):.2f}, most {max(times):.1f}", end="")
    print(
        f"; to the first plan {statistics.median(first_plan_times):.2f};"
        f" options, warm: median {statistics.median(option_times):.1f} ms"
    )
    return contradictions


def measure_store(options: argparse.Namespace) -> int:
    """Measure a task with 100,000 ground actions, in which three items must be moved between rooms.

    Returns the number of contradictions.
    """
    contradictions = 0
    store_size = (5, 4, 24) if options.small else (50, 4, 500)
    checker = make_store_checker(
        *store_size, goal="(and (on item8 place9) (on item15 place3) (on item22 place17) (here room1))"
    )
    actions = store_size[0] * store_size[1] * store_size[2]
    for slack in options.slack:
        start = process_time()
        guide = Guide(checker.compiled, time_limit_s=options.seconds)
        continuation = guide.continuation()
        first_plan_time = process_time() - start
        if not continuation.exists:
            print(f"store, {actions} ground `take` actions: {continuation.detail} ({first_plan_time:.2f} s)")
            continue
        longest = math.ceil(slack * len(continuation.steps))
        model = MockModel("random", {}, options.seed)
        guided_plan = build_plan(checker, guide, model, user_messages("go"), Mode.GUIDED, longest)
        contradictions += bool(find_contradiction(guided_plan, True))
        decoded = guided_plan.decoded
        ms_per_step = 1e3 * guided_plan.safecheck_time / max(1, len(decoded.choices))
        print(f"store, {actions} ground `take` actions, slack {slack:g}:", end=" ")
        print(f"first plan {len(continuation.steps)} steps, {first_plan_time:.2f} s")
        outcome = f"{decoded.end.value}, {guided_plan.headline.value if guided_plan.headline else '-'}"
        print(
            f"  {outcome}: {len(decoded.steps)} steps, {decoded.searches} searches,"
            f" {decoded.calls} calls, {ms_per_step:.1f} ms a step"
        )
    return contradictions


class PieceVocabulary:
    """A vocabulary that needs no model weights: text is cut into pieces of at most three letters."""

    end = 0

    def __init__(self) -> None:
        self._token_ids: dict[str, int] = {}

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        text_pieces = [text[offset : offset + 3] for offset in range(0, len(text), 3)]
        return [self._token_ids.setdefault(piece, len(self._token_ids) + 1) for piece in text_pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        names = {token: piece for piece, token in self._token_ids.items()}
        return "".join([names[token] for token in tokens])


def measure_mask(options: argparse.Namespace, vocabulary: object) -> None:
    """Measure the mask over 100,000 step lines; all, a tenth, or 200 are legal, chosen at random after each step."""
    items, places = (50, 40) if options.small else (500, 200)
    texts = [f"(take item{i} place{p} room{p // 4})" for i in range(items) for p in range(places)]
    used_vocabulary = vocabulary if vocabulary is not None else PieceVocabulary()
    start = process_time()
    table = TokenTable(used_vocabulary, texts, "\n")  # type: ignore[arg-type]  # a Vocabulary
    all_rows = table.numbers(texts)
    print(f"mask, {len(texts)} rows: table {process_time() - start:.2f} s of CPU, once")
    for count in (len(texts), len(texts) // 10, 200):
        rng = Random(count)
        choices = [all_rows if count == len(texts) else sorted(rng.sample(all_rows, count)) for _ in range(20)]
        line_mask = LinesMask(table, 0, lambda _row, choices=choices, rng=rng: (rng.choice(choices), False))
        tokens, times = list[int](), list[float]()
        for _ in range(60 if options.small else 600):
            start = process_time()
            allowed = line_mask(tokens)
            times.append(1e3 * (process_time() - start))
            tokens.append(rng.choice(allowed))
        print(
            f"  {count:6} legal: {statistics.mean(times):.4f} ms a token, worst {max(times):.2f},"
            f" target {MASK_MS:g}: {'met' if statistics.mean(times) < MASK_MS else 'MISSED'}"
        )


def main() -> int:
    """Measure the chosen sections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"Measure only these: {', '.join(SECTIONS)}.")
    parser.add_argument("--families", type=int, default=len(FAMILIES))
    parser.add_argument("--numbers", type=int, default=1, help="Number of tasks per family.")
    parser.add_argument("--slack", type=float, nargs="+", default=[1.5, 2.0])
    parser.add_argument("--tasks", type=int, default=30, help="Number of VirtualHome tasks.")
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU time limit for a VirtualHome task.")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--model", help="Also guide this model; its tokens are masked.")
    parser.add_argument(
        "--each", action="store_true", help="Print a line for each VirtualHome task, not only for failures."
    )
    parser.add_argument("--small", action="store_true", help="Use small tasks, as the tests do.")
    options = parser.parse_args()
    sections = options.sections or SECTIONS
    if set(sections) - set(SECTIONS):
        parser.error(f"sections are {', '.join(SECTIONS)}")
    use_processor_time()
    local_models = [] if options.model is None else [open_model(options.model, Settings(threads=1, context=8192))]
    contradictions = 0
    if "drawn" in sections:
        contradictions += measure_drawn(options, [MockModel("random", {}, options.seed), *local_models])
    if "virtualhome" in sections:
        contradictions += measure_virtualhome(options)
    if "store" in sections:
        contradictions += measure_store(options)
    if "mask" in sections:
        measure_mask(options, local_models[0].vocabulary if local_models else None)
    if contradictions:
        print(f"{contradictions} contradictions between guide and checker")
    return 1 if contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
