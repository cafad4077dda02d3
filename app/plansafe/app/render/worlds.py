"""What a report says about worlds, in words: where the verdict holds, a world in which it fails, what to ask.

Loaded only where a description leaves something open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.app.system.terminal_text import pad, visible, width
from plansafe.verifier.reporting.report import Finding, Headline, Report, Worlds
from plansafe.verifier.reporting.worlds import ShownOutcome, ShownValue, ShownWorld, Witness, WorldsReport

_FACTS = 12
"""Facts of a world that are listed beside its cause; the others matter less and less."""
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
    """Whether there is more than one world, as far as the report tells."""
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
    said = [_ABOUT.get(about, f"rule `{about}` is violated") for about in scene.about]
    if "safe" in scene.about and len(said) > 1:  # the rules say more
        said = [s for about, s in zip(scene.about, said, strict=True) if about in _ABOUT]
    return f"world {scene.number}: {_listed(said)}, where:" if scene.number else f"{_listed(said)} in a world where:"


def lines(scene: Scene, worlds: WorldsReport) -> list[str]:
    """What is so in a world, the cause first."""
    world = scene.world
    out = []
    # An empty cause says that no completion is good; this failure may still depend on the facts below.
    cause = worlds.cause if worlds.cause and _shows_cause(scene, worlds) else ()
    if cause:
        out += _enough([_is(said) for said in cause], worlds)
    rest = [said for said in world.facts if said not in cause]
    shown = [_is(said) for said in rest[:_FACTS]]
    if len(rest) > _FACTS:
        shown.append(f"and {len(rest) - _FACTS} more {_MORE}")
    if not cause:
        out += shown
    elif shown:
        out += _hanging("beside it, in this world:", shown)
    out += [outcome(said) for said in world.outcomes]
    out += [f"{said.what} lasts {_value(said.value)}" for said in world.durations]
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


def _enough(cause: Sequence[str], worlds: WorldsReport) -> list[str]:
    """The cause, and what it is enough for."""
    chance = worlds.choices + worlds.durations + worlds.unordered
    what = "for the plan to be able to fail" if chance else "for the plan to fail"
    more = " (perhaps less is, too)" if worlds.cause_note else ""
    if len(cause) == 1:
        return [f"{cause[0]}: this is enough {what}, whatever else is so{more}"]
    return [*cause, f"these are enough {what}, whatever else is so{more}"]


def _hanging(title: str, items: Sequence[str]) -> list[str]:
    return [f"{title} {items[0]}"] if len(items) == 1 else [title, *(f"  {item}" for item in items)]


def _is(said: ShownValue) -> str:
    return f"{said.what} is {_value(said.value)}"


def _value(text: str) -> str:
    """A value as people write it: a fraction as a decimal, where that is exact and short."""
    over, _, below = text.partition("/")
    if not below.isdecimal() or not int(below) or len(text) > 30:
        return text
    from decimal import Decimal  # noqa: PLC0415 - for fractions alone

    rest = int(below)
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{Decimal(over) / Decimal(below):f}" if rest == 1 else text


def outcome(said: ShownOutcome) -> str:
    """``step 3 (drop glass): its outcome is (broken glass)``."""
    nothing = said.effect in ("", "()", "(and)")
    effect = said.effect.removeprefix("(and ")[:-1] if said.effect.startswith("(and ") else said.effect
    what = "nothing happens" if nothing else f"its outcome is {effect}"
    return f"step {said.step} {said.action}: {what}  [{said.alternative} of {said.alternatives}]"


def first_world(worlds: WorldsReport) -> str:
    """In which world the readings of a failed plan, and what is counted, are told: the first that is shown."""
    if not is_open(worlds):
        return ""
    shown = scenes(worlds)
    if not shown:
        return " (in one of the worlds)"
    return f" (in world {shown[0].number})" if shown[0].number else " (in the world above)"


def of_finding(finding: Finding, worlds: WorldsReport) -> str:
    """In which worlds a finding is there; empty with complete information."""
    if finding.worlds is None or not is_open(worlds):
        return ""
    if finding.worlds is Worlds.ALL:
        return "in every world"
    shown = scenes(worlds)
    mine = next((scene for scene in shown if finding.world in scene.witnesses), None)
    if mine is None:
        return "in some"
    example = f"such as world {mine.number}" if mine.number else "such as the one shown below"
    if finding.worlds is Worlds.SOME:
        return f"in some, {example}"
    return f"in some, {example}; whether in all was not decided"


def of_finding_alone(finding: Finding, worlds: WorldsReport) -> list[str]:
    """The same for a reader who sees the finding alone: the world in one line."""
    if finding.worlds is None or not is_open(worlds):
        return []
    if finding.worlds is Worlds.ALL:
        return ["in every world"]
    mine = next((scene for scene in scenes(worlds) if finding.world in scene.witnesses), None)
    if mine is None:
        return ["in some worlds"]
    said = [line.strip() for line in lines(mine, worlds)]
    return [f"in some worlds, such as one where {'; '.join(said).replace(':;', ':')}"]


def notes(report: Report) -> list[str]:
    """What the summary says about worlds: what to ask first, then why, how much is open, and what is assumed."""
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
        asked = asking(worlds)
        if asked:
            out.append(f"worth asking: {asked}")
        elif worlds.question_note:
            out.append(_no_question(worlds.question_note))
        elif Worlds.SOME in (report.executable, report.goal, report.safe):
            decides = _beyond_asking(worlds)
            if decides:
                out.append(f"no question helps: {decides} alone decide")
        if worlds.cause and not any([_agrees(worlds.cause, scene.world) for scene in scenes(worlds)]):
            out.append(f"enough, whatever else is so: {', '.join([_is(said) for said in worlds.cause])}")
        elif worlds.cause is None and worlds.cause_note:
            out.append(_not_found("a least cause", worlds.cause_note) or f"no cause: {worlds.cause_note}")
        out.append(_left_open(report, worlds))
        unreplayed = [w for w in worlds.witnesses if not w.replayed and any(w.world)]
        if unreplayed and all([finding.replayed for finding in report.findings]):  # else that is said of the findings
            out.append(f"not independently replayed: {_counted(len(_distinct(unreplayed)), 'world')}")
    if worlds.solver:
        out.append(f"decided by {worlds.solver}")
    out += [f"assumed: {invariant}" for invariant in worlds.invariants[:_INVARIANTS]]
    if len(worlds.invariants) > _INVARIANTS:
        more = len(worlds.invariants) - _INVARIANTS
        out.append(f"assumed: {more} more invariants {_MORE}")
    return out


def asking(worlds: WorldsReport) -> str:
    """The questions whose answers settle the verdict; empty if there are none."""
    if not worlds.question:
        return ""
    numbers = {said.what for said in _all_said(worlds) if said.value not in ("true", "false")}
    facts = [what for what in worlds.question if what not in numbers]
    if len(facts) > _FACTS:
        facts = [*facts[:_FACTS], f"and {len(facts) - _FACTS} more {_MORE}"]
    asked = [f"is {facts[0]} so?" if len(facts) == 1 else f"which are so: {', '.join(facts)}?"] if facts else []
    asked += [f"what is {what}?" for what in worlds.question if what in numbers]
    settled = "the answer settles" if len(worlds.question) == 1 else "the answers settle"
    more = " (perhaps fewer questions do, too)" if worlds.question_note else ""
    return f"{' '.join(asked)} {settled} the verdict{more}"


def _no_question(note: str) -> str:
    """Why nothing is asked, without the word for a world's initial state."""
    note = note.removeprefix("every completion is bad: ")
    if note.startswith("it takes more than"):
        return f"no short question settles the verdict: {note}"
    return _not_found("what to ask", note) or f"no question helps: {note}"


def _beyond_asking(worlds: WorldsReport) -> str:
    """What decides where nothing of the initial state is open; empty if something is."""
    if worlds.open_facts + worlds.open_numbers:
        return ""
    kinds = ((worlds.choices, "outcomes"), (worlds.durations, "durations"), (worlds.unordered, "orders"))
    return _listed([what for number, what in kinds if number])


def _not_found(what: str, note: str) -> str:
    return f"{what} was {note}" if note.startswith("not found") else ""


def _all_said(worlds: WorldsReport) -> Iterable[ShownValue]:
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
    left = [_counted(number, what) for number, what in kinds if number]
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


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
