"""What a page says of one plan, as data: the report, the steps as they happen, why, and how to mend it.

Everything here is asked of the engine: the timeline, the causal graph, the causes and the repairs. Nothing is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.app.render.difference import cost_text, lines, sentence
from plansafe.app.render.repair_json import because_object, where_object, witness_object
from plansafe.app.render.worlds import asking, heading, notes, of_finding, scenes
from plansafe.app.render.worlds import lines as world_lines
from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Result
from plansafe.app.session.repair import ExaminationOptions, Examined, examined
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import BOUNDED_WORK, Repair, RepairOptions, RepairStatus
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.reporting.timeline import Look, Mishap, Moment, Timeline, timeline

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.reading import ReadSteps

TIMELINE_S = 20.0
"""Seconds for the steps of one plan, in one world."""
MOST_WORLDS = 6
MOST_REPAIRS = 6
MOST_DRAWN = 2_000
"""Steps of a plan whose causal graph is drawn."""
MOST_STATE = 20_000
"""Facts and numbers of a state before the plan that are kept for the page."""
LONGEST_RULE = 4_000
_TOO_LONG = "The time limit has passed before more than the verdict was known: steps, causes and repairs are not shown."


class Told(NamedTuple):
    """The audit of a plan, and what its page says."""

    result: Result
    detail: dict[str, Any]


def told(
    session: Session,
    prepared: Prepared,
    encoded: Callable[[Result], dict[str, Any]],
    search_s: float,
    judged: Callable[[Told], None],
) -> Told:
    """Judge a plan, and find out what its page says; up to ``search_s`` seconds for a repair (0: none is looked for).

    ``encoded`` makes an object of ``report-1.json`` of a result. ``judged`` is given what there is to say once the
    verdict is there: that stays true where the rest comes to a limit.
    """
    checker = prepared.checker
    result = session.audit(prepared)
    detail: dict[str, Any] = {"timelines": [], "rules": _rules(checker)}
    judged(Told(result, {"report": encoded(result), **detail, "steps_note": _TOO_LONG}))
    read = checker.read(prepared.plan)
    if result.report.headline is not None and not read.text.diagnostics:
        many = checker.open or read.open
        detail["timelines"] = list(_timelines(prepared, result, read, many))
        detail["worlds"] = _worlds(result.report)
        if many:
            detail["steps_note"] = "Something is left open, and no world was found in which anything goes wrong."
        elif result.failure is None:
            detail |= _why(session, prepared, result, read, search_s)
    return Told(result, {"report": encoded(result), **detail})


def _rules(checker: Checker) -> dict[str, dict[str, Any]]:
    """The rules that apply, with their texts."""
    out = {}
    for rule in checker.rules if checker.ok else ():
        if not rule.applicable:
            continue
        label = checker.compiled.context.label(rule.at)
        source = checker.sources.get(label.source)
        text = "" if source is None else source.text[label.span.start : label.span.end]
        out[rule.name] = {
            "kind": "preference" if rule.preference else rule.kind,
            "severity": rule.severity,
            "hazard": rule.hazard,
            "targets": rule.targets,
            "source": rule.source,
            "message": rule.message,
            "rationale": rule.rationale,
            "fix": rule.fix,
            "text": text[:LONGEST_RULE],
        }
    return out


# -- steps ------------------------------------------------------------------------------------------------------------


def _timelines(prepared: Prepared, result: Result, read: ReadSteps, many: bool) -> Iterator[dict[str, Any]]:
    """The plan step by step: in its world, or in those in which something goes wrong."""
    checker = prepared.checker
    written = _written(prepared, read)
    if not many:
        yield _line(checker, timeline(checker.compiled, read, monotonic() + TIMELINE_S), written)
        return
    from plansafe.verifier.symbolic.worlds.replaying import made_certain  # noqa: PLC0415 - for open descriptions

    worlds = result.report.worlds
    if worlds is None:
        return
    for scene in scenes(worlds)[:MOST_WORLDS]:
        completion = worlds.witnesses[scene.witnesses[0]].completion
        if completion is not None:
            line = timeline(*made_certain(checker.compiled, read, completion), monotonic() + TIMELINE_S)
            name = f"world {scene.number}" if scene.number else "the world in which it goes wrong"
            yield {**_line(checker, line, ()), "name": name, "worlds": scene.witnesses}


def _worlds(report: Report) -> dict[str, Any]:
    """What the terminal says of worlds, in its words."""
    worlds = report.worlds
    if worlds is None:
        return {}
    found = [{"heading": heading(one), "lines": world_lines(one, worlds), **one._asdict()} for one in scenes(worlds)]
    return {
        "scenes": [{**one, "world": None} for one in found],
        "asking": asking(worlds),
        "notes": [note for note in notes(report) if not note.startswith("worth asking")],
        "about": [of_finding(finding, worlds) for finding in report.findings],
    }


def _written(prepared: Prepared, read: ReadSteps) -> Sequence[str]:
    """Each step as the author wrote it, where that is another text."""
    if not prepared.places or len(prepared.places) != len(read.steps):
        return ()
    text = prepared.inputs[0].source.text
    places = [step.written for step in read.timed] if read.timed is not None else range(len(read.steps))
    return [text[prepared.places[place].start : prepared.places[place].end].strip() for place in places]


def _line(checker: Checker, line: Timeline, written: Sequence[str]) -> dict[str, Any]:
    rules = checker.rules
    return {
        "name": "",
        "steps": [
            {
                "text": step.text,
                "source": written[step.number - 1] if written else "",
                "time": _number(step.time),
                "duration": _number(step.duration),
                "at": _place(step.time),
                "lasts": _place(step.duration),
            }
            for step in line.steps
        ],
        "initial": line.initial if len(line.initial) <= MOST_STATE else None,
        "moments": [_moment(moment) for moment in line.moments],
        "tracks": [
            {"rule": rules[track.rule].name, "looks": [_look(look) for look in track.looks]} for track in line.tracks
        ],
        "mishaps": [{**one._asdict(), "time": _number(one.time), "at": _place(one.time)} for one in _firsts(line)],
        "whole": line.whole,
    }


def _firsts(line: Timeline) -> list[Mishap]:
    """Of what goes wrong with a step again and again, the first time."""
    return list({(one.step, one.code, one.other): one for one in reversed(line.mishaps)}.values())[::-1]


def _moment(moment: Moment) -> dict[str, Any]:
    time = moment.time
    return {**moment._asdict(), "time": _number(time), "at": _place(time)}


def _look(look: Look) -> dict[str, Any]:
    return look._asdict()


def _number(number: Number | None) -> str | None:
    """A time as people write it."""
    return None if number is None else cost_text(number)


def _place(number: Number | None) -> float | None:
    """Where a time is drawn."""
    return None if number is None else float(number)


# -- why, and what helps ----------------------------------------------------------------------------------------------


def _why(session: Session, prepared: Prepared, result: Result, read: ReadSteps, search_s: float) -> dict[str, Any]:
    """The causal graph, and of a plan that is not safe the classes of error, the causes and the repairs."""
    found: dict[str, Any] = {}
    done = Examined(result)
    if result.exit_code and search_s and read.timed is None:
        options = RepairOptions(time_limit_s=search_s, max_work=BOUNDED_WORK, max_repairs=MOST_REPAIRS)
        done = examined(session, prepared, ExaminationOptions(options, where=True, causes=True))
    if done.repair is not None and done.repair.status is not RepairStatus.ALREADY_SAFE:
        found["classes"] = [witness_object(one) for one in done.witnesses]
        found["where"] = where_object(done.where) if done.where is not None else None
        found["causes"] = [because_object(one) for one in done.causes]
        found["repair"] = {
            "repairs": [_repair(done.original, one) for one in done.repair.repairs],
            "outcome": None if done.outcome is None else _outcome(done),
        }
    elif result.exit_code == 1 and read.timed is None:
        said: dict[str, Any] = {"message": "No repair was looked for.", "notes": [], "help": None}
        found["repair"] = {"repairs": [], "outcome": said}
    return {**found, **_graph(prepared, read, done)}


def _outcome(done: Examined) -> Mapping[str, Any]:
    assert done.outcome is not None
    return {"message": done.outcome.message, "notes": done.outcome.notes, "help": done.outcome.help}


def _repair(original: Sequence[str], repair: Repair) -> dict[str, Any]:
    return {
        "cost": cost_text(repair.cost),
        "headline": repair.report.headline.value if repair.report.headline else None,
        "words": sentence(original, repair),
        "rows": [
            [row.mark, row.old, row.new, row.text, row.remarks, original[row.old - 1] if row.old else ""]
            for row in lines(original, repair)
        ],
    }


def _graph(prepared: Prepared, read: ReadSteps, done: Examined) -> dict[str, Any]:
    from plansafe.verifier.diagnose.causal import causal_structure  # noqa: PLC0415 - loads the search
    from plansafe.verifier.diagnose.graph import picture  # noqa: PLC0415
    from plansafe.verifier.diagnose.model import Diagnosis  # noqa: PLC0415
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

    if len(read.steps) > MOST_DRAWN:
        return {"graph_note": f"The causal graph of a plan of more than {MOST_DRAWN:,} steps is not drawn."}
    try:
        structure = causal_structure(prepared.checker, read.steps)
    except NotCovered as reason:
        return {"graph_note": f"There is no causal graph: {reason}."}
    diagnosis = None
    if done.repair is not None:
        diagnosis = Diagnosis(prepared.plan.name, done.result.report, done.witnesses, done.repair)
    drawn = picture(structure, diagnosis)
    redundant = {f"step {number}" for number in structure.redundant}
    at = {"rule": 0.5, "inserted": -0.5}
    nodes = [
        {**node._asdict(), "at": node.step + at.get(node.kind, 0), "redundant": node.name in redundant}
        for node in drawn.nodes
    ]
    return {"graph": {"nodes": nodes, "edges": [edge._asdict() for edge in drawn.edges]}}


def unprepared(result: Result, encoded: Callable[[Result], dict[str, Any]]) -> Told:
    """A plan that could not be judged: its report alone."""
    return Told(result, {"report": encoded(result), "timelines": []})
