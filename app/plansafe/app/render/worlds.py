"""Possible worlds in words: where the verdict holds, a world in which it fails, which questions help.

Loaded only where a description leaves something open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.app.system.terminal_text import pad, visible, width
from plansafe.verifier.reporting.report import Finding, Headline, Report, Worlds
from plansafe.verifier.reporting.worlds import ShownOutcome, ShownValue, ShownWorld, Witness, WorldsReport

_FACTS = 12
"""Facts of a world that are listed after its cause; the most relevant come first."""
_STEPS = 60
"""Steps of an order that are listed."""
_INVARIANTS = 6
_ABOUT = {
    "executable": "the plan cannot be executed",
    "goal": "the goal is not reached",
    "safe": "the plan is not safe",
}
_MORE = "(all with --format json)"


class Scene(NamedTuple):
    """A world to show, with everything that fails in it. ``number`` is 0 if it is the only one."""

    number: int
    world: ShownWorld
    about: tuple[str, ...]
    witnesses: tuple[int, ...]
    replayed: bool


def is_open(worlds: WorldsReport | None) -> bool:
    """True if the report has more than one possible world."""
    if worlds is None:
        return False
    left = worlds.open_facts + worlds.open_numbers + worlds.choices + worlds.durations + worlds.unordered
    return left > 0 or any([any(witness.world) for witness in worlds.witnesses])


def where(report: Report) -> str:
    """In which worlds the headline holds, such as ``in some worlds``; empty where there is only one, or none is known.

    An invalid plan may fail here for one reason and there for another; "every" needs one that holds everywhere.
    """
    if not is_open(report.worlds):
        return ""
    match report.headline:
        case Headline.SAFE | Headline.VALID:
            return "in all worlds"
        case Headline.INVALID:
            return "in every world" if Worlds.NONE in (report.executable, report.goal) else "in some worlds"
        case Headline.UNSAFE:
            return "in every world" if report.safe is Worlds.NONE else "in some worlds"
        case _:
            return ""


def scenes(worlds: WorldsReport) -> list[Scene]:
    """The witnesses, equal worlds taken together, that have something to show."""
    alike: dict[ShownWorld, list[int]] = {}
    for index, witness in enumerate(worlds.witnesses):
        if any(witness.world):
            alike.setdefault(witness.world, []).append(index)
    return [
        Scene(
            number if len(alike) > 1 else 0,
            world,
            tuple(dict.fromkeys([worlds.witnesses[i].about for i in indices])),
            tuple(indices),
            all([worlds.witnesses[i].replayed for i in indices]),
        )
        for number, (world, indices) in enumerate(alike.items(), 1)
    ]


def heading(scene: Scene) -> str:
    """``the plan is not safe in a world where:``; of several worlds, ``world 1: the plan is not safe, where:``."""
    reasons = [_ABOUT.get(about, f"rule `{about}` is violated") for about in scene.about]
    if "safe" in scene.about and len(reasons) > 1:  # the rules say more
        reasons = [s for about, s in zip(scene.about, reasons, strict=True) if about in _ABOUT]
    return (
        f"world {scene.number}: {_listed(reasons)}, where:" if scene.number else f"{_listed(reasons)} in a world where:"
    )


def lines(scene: Scene, worlds: WorldsReport) -> list[str]:
    """The facts of a world, the cause first."""
    world = scene.world
    out = []
    # An empty cause says that no completion is good; this failure may still depend on the facts below.
    cause = worlds.cause if worlds.cause and _shows_cause(scene, worlds) else ()
    if cause:
        out += _cause_lines([_value_text(value) for value in cause], worlds)
    remaining_facts = [value for value in world.facts if value not in cause]
    fact_lines = [_value_text(value) for value in remaining_facts[:_FACTS]]
    if len(remaining_facts) > _FACTS:
        fact_lines.append(f"and {len(remaining_facts) - _FACTS} more {_MORE}")
    if not cause:
        out += fact_lines
    elif fact_lines:
        out += _with_title("also, in this world:", fact_lines)
    out += [outcome(value) for value in world.outcomes]
    out += [f"{value.what} lasts {_value(value.value)}" for value in world.durations]
    if world.order:
        out.append("the steps are taken in this order:")
        out += [f"  {line}" for line in _order(world.order)]
    return out


def _order(steps: Sequence[str]) -> list[str]:
    """The steps as they are taken, their labels (which have no blanks) below each other."""
    parts = [step.partition(" ") for step in steps[:_STEPS]]
    labels, size = max([width(visible(label)) for label, _, _ in parts]), len(str(len(steps)))
    out = [f"{at:>{size}}  {pad(visible(label), labels)}  {action}" for at, (label, _, action) in enumerate(parts, 1)]
    more = len(steps) - len(out)
    return [*out, f"and {more} more {_MORE}"] if more else out


def _shows_cause(scene: Scene, worlds: WorldsReport) -> bool:
    """Whether a world is the first that is an instance of the cause."""
    cause = worlds.cause or ()
    first = next((s.witnesses for s in scenes(worlds) if _agrees(cause, s.world)), None)
    return scene.witnesses == first


def _agrees(cause: Sequence[ShownValue], world: ShownWorld) -> bool:
    """Whether a world is an instance of the cause."""
    return set(cause) <= set(world.facts)


def _cause_lines(cause: Sequence[str], worlds: WorldsReport) -> list[str]:
    """The cause, and the failure that it suffices for."""
    chance = worlds.choices + worlds.durations + worlds.unordered
    consequence = "for the plan to be able to fail" if chance else "for the plan to fail"
    more = " (fewer facts may also be enough)" if worlds.cause_note else ""
    if len(cause) == 1:
        return [f"{cause[0]}: this is enough {consequence}, whatever else is so{more}"]
    return [*cause, f"these are enough {consequence}, whatever else is so{more}"]


def _with_title(title: str, items: Sequence[str]) -> list[str]:
    return [f"{title} {items[0]}"] if len(items) == 1 else [title, *(f"  {item}" for item in items)]


def _value_text(value: ShownValue) -> str:
    return f"{value.what} is {_value(value.value)}"


def _value(text: str) -> str:
    """A value as people write it: a fraction as a decimal, where that is exact and short."""
    over, _, below = text.partition("/")
    if not below.isdecimal() or not int(below) or len(text) > 30:
        return text
    from decimal import Decimal  # noqa: PLC0415 - for fractions alone

    denominator = int(below)
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return f"{Decimal(over) / Decimal(below):f}" if denominator == 1 else text


def outcome(chosen: ShownOutcome) -> str:
    """``step 3 (drop glass): its outcome is (broken glass)``."""
    nothing = chosen.effect in ("", "()", "(and)")
    effect = chosen.effect.removeprefix("(and ")[:-1] if chosen.effect.startswith("(and ") else chosen.effect
    result_text = "nothing happens" if nothing else f"its outcome is {effect}"
    return f"step {chosen.step} {chosen.action}: {result_text}  [{chosen.alternative} of {chosen.alternatives}]"


def first_world(worlds: WorldsReport) -> str:
    """The world that the readings and counts of a failed plan refer to: the first that is shown."""
    if not is_open(worlds):
        return ""
    shown_scenes = scenes(worlds)
    if not shown_scenes:
        return " (in one of the worlds)"
    return f" (in world {shown_scenes[0].number})" if shown_scenes[0].number else " (in the world above)"


def of_finding(finding: Finding, worlds: WorldsReport) -> str:
    """In which worlds a finding is there; empty with complete information."""
    if finding.worlds is None or not is_open(worlds):
        return ""
    if finding.worlds is Worlds.ALL:
        return "in every world"
    shown_scenes = scenes(worlds)
    witness_scene = next((scene for scene in shown_scenes if finding.world in scene.witnesses), None)
    if witness_scene is None:
        return "in some"
    example = f"such as world {witness_scene.number}" if witness_scene.number else "such as the one shown below"
    if finding.worlds is Worlds.SOME:
        return f"in some, {example}"
    return f"in some, {example}; whether in all was not decided"


def of_finding_alone(finding: Finding, worlds: WorldsReport) -> list[str]:
    """The same for a reader who sees the finding alone: the world in one line."""
    if finding.worlds is None or not is_open(worlds):
        return []
    if finding.worlds is Worlds.ALL:
        return ["in every world"]
    witness_scene = next((scene for scene in scenes(worlds) if finding.world in scene.witnesses), None)
    if witness_scene is None:
        return ["in some worlds"]
    description = [line.strip() for line in lines(witness_scene, worlds)]
    return [f"in some worlds, such as one where {'; '.join(description).replace(':;', ':')}"]


def notes(report: Report) -> list[str]:
    """The summary's notes on possible worlds: questions, causes, what is unknown, assumptions."""
    worlds = report.worlds
    if worlds is None:
        return []
    out = []
    if is_open(worlds):
        unknown = [name for name in ("executable", "goal", "safe") if getattr(report, name) is Worlds.UNKNOWN]
        if unknown:
            out.append(f"not decided: {_listed(unknown)}")
        if worlds.advice:
            out.append(f"what would help: {worlds.advice}")
        out += _verdicts_by_value(worlds)
        questions = asking(worlds)
        if questions:
            out.append(f"worth asking: {questions}")
        elif worlds.question_note:
            out.append(_no_question(worlds.question_note))
        elif Worlds.SOME in (report.executable, report.goal, report.safe):
            decides = _beyond_asking(worlds)
            if decides:
                out.append(f"no question helps: {decides} alone decide")
        if worlds.cause and not any([_agrees(worlds.cause, scene.world) for scene in scenes(worlds)]):
            out.append(f"enough, whatever else is so: {', '.join([_value_text(value) for value in worlds.cause])}")
        elif worlds.cause is None and worlds.cause_note:
            out.append(_not_found("a least cause", worlds.cause_note) or f"no cause: {worlds.cause_note}")
        out.append(_left_open(report, worlds))
        unreplayed = [w for w in worlds.witnesses if not w.replayed and any(w.world)]
        if unreplayed and all(
            [finding.replayed for finding in report.findings]
        ):  # otherwise the findings' note covers it
            out.append(f"not independently replayed: {_counted(len(_distinct(unreplayed)), 'world')}")
    unreplayed_ranges = [part for part in worlds.ranges if not part.replayed]
    if unreplayed_ranges:
        out.append(f"not independently replayed: {_counted(len(unreplayed_ranges), 'range')} of values")
    if worlds.solver:
        out.append(f"decided by {worlds.solver}")
    out += [f"assumed: {invariant}" for invariant in worlds.invariants[:_INVARIANTS]]
    if len(worlds.invariants) > _INVARIANTS:
        more = len(worlds.invariants) - _INVARIANTS
        out.append(f"assumed: {more} more invariants {_MORE}")
    return out


def _verdicts_by_value(worlds: WorldsReport) -> list[str]:
    """The verdict for each range of the open number, as ``2 <= (flow) < 5: SAFE``."""
    texts = []
    for part in worlds.ranges[:_FACTS] if len(worlds.ranges) > 1 else ():
        if part.low is not None and part.low == part.high:
            texts.append(f"{part.what} = {_value(part.low)}: {part.headline}")
            continue
        low = "" if part.low is None else f"{_value(part.low)} {'<' if part.low_open else '<='} "
        high = "" if part.high is None else f" {'<' if part.high_open else '<='} {_value(part.high)}"
        texts.append(f"{low}{part.what}{high}: {part.headline}")
    more = len(worlds.ranges) - _FACTS
    return [*texts, f"and {more} more ranges {_MORE}"] if more > 0 else texts


def asking(worlds: WorldsReport) -> str:
    """The questions whose answers settle the verdict; empty if there are none."""
    if not worlds.question:
        return ""
    numbers = {value.what for value in _shown_values(worlds) if value.value not in ("true", "false")}
    facts = [quantity for quantity in worlds.question if quantity not in numbers]
    if len(facts) > _FACTS:
        facts = [*facts[:_FACTS], f"and {len(facts) - _FACTS} more {_MORE}"]
    questions = [f"is {facts[0]} so?" if len(facts) == 1 else f"which are so: {', '.join(facts)}?"] if facts else []
    questions += [f"what is {quantity}?" for quantity in worlds.question if quantity in numbers]
    settled = "the answer settles" if len(worlds.question) == 1 else "the answers settle"
    more = " (fewer questions may also settle it)" if worlds.question_note else ""
    return f"{' '.join(questions)} {settled} the verdict{more}"


def _no_question(note: str) -> str:
    """Why nothing is asked, without the word for a world's initial state."""
    note = note.removeprefix("every completion is bad: ")
    if note.startswith("it takes more than"):
        return f"no short question settles the verdict: {note}"
    return _not_found("what to ask", note) or f"no question helps: {note}"


def _beyond_asking(worlds: WorldsReport) -> str:
    """The kinds of choices that decide the verdict if the initial state is known; otherwise empty."""
    if worlds.open_facts + worlds.open_numbers:
        return ""
    kinds = ((worlds.choices, "outcomes"), (worlds.durations, "durations"), (worlds.unordered, "orders"))
    return _listed([kind for number, kind in kinds if number])


def _not_found(subject: str, note: str) -> str:
    return f"{subject} was {note}" if note.startswith("not found") else ""


def _shown_values(worlds: WorldsReport) -> Iterable[ShownValue]:
    for witness in worlds.witnesses:
        yield from witness.world.facts
    yield from worlds.cause or ()


def _left_open(report: Report, worlds: WorldsReport) -> str:
    kinds = (
        (worlds.open_facts, "fact"),
        (worlds.open_numbers, "number"),
        (worlds.choices, "outcome"),
        (worlds.durations, "duration"),
        (worlds.unordered, "pair"),
    )
    left = [_counted(number, kind) for number, kind in kinds if number]
    if worlds.unordered:
        left[-1] += " of steps in either order"
    total = sum([number for number, _ in kinds])
    if {report.executable, report.goal, report.safe} <= {Worlds.ALL, Worlds.NONE}:
        depends = "; the verdict does not depend on it"
    elif 0 < worlds.relevant < total:
        depends = f"; the verdict can depend on {worlds.relevant:,} of them"
    else:
        depends = ""
    return f"left open: {', '.join(left) or 'nothing'}{depends}"


def _distinct(witnesses: Iterable[Witness]) -> set[ShownWorld]:
    return {witness.world for witness in witnesses}


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
