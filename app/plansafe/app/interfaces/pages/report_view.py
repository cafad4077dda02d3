"""The page data of one plan: its report, timeline, causal graph, root causes and repairs.

The verifier computes all of these; this module only converts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.app.interfaces.pages.compact import compact_repair_rows
from plansafe.app.render.difference import cost_text, lines, sentence
from plansafe.app.render.repair_json import because_object, where_object, witness_object
from plansafe.app.render.worlds import asking, heading, notes, of_finding, scenes
from plansafe.app.render.worlds import lines as world_lines
from plansafe.app.session.audit import Session
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.model import Prepared, Result
from plansafe.app.session.repair import ExaminationOptions, examined
from plansafe.verifier.execution.continuous.just_after import JustAfter
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import BOUNDED_WORK, Repair, RepairOptions, RepairStatus
from plansafe.verifier.reporting.fluent_courses import FluentCourse, approximate
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.reporting.timeline import (
    RuleStatusSpan,
    StepFailure,
    Timeline,
    TimelineLetter,
    TimelineRecorder,
    record_timeline,
)

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.plan_steps import ResolvedPlan

TIMELINE_S = 20.0
"""Time limit for the timeline of one plan in one possible world."""
_MANY_WORLDS = "The task has several possible worlds, and no possible world with a finding is known."
MOST_WORLDS = 6
MOST_REPAIRS = 6
MOST_CLASSES = 50
"""Maximum number of error classes with a text."""
MOST_EXPLAINED = 2_000
"""Maximum number of steps of a plan with a causal graph, causes and a repair."""
MOST_LINKS = 20_000
"""Maximum number of edges of a causal graph with all its edges; a larger one has only the needed ones."""
MOST_STATE = 20_000
"""Maximum number of facts and numbers of the initial state on the page."""
MOST_COURSES = 6
"""Maximum number of fluents with a plot."""
LAST_PLACE = 1e300
"""Later times are drawn here, because they are too large for a browser."""
LONGEST_RULE = 4_000
_TOO_LONG = "The time limit has passed after the verdict was known: steps, causes and repairs are not shown."


class PlanView(NamedTuple):
    """The audit of a plan and its page data."""

    result: Result
    detail: dict[str, Any]


def build_plan_view(
    session: Session,
    prepared: Prepared,
    encode: Callable[[Result], dict[str, Any]],
    search_s: float,
    on_verdict: Callable[[PlanView], None],
) -> PlanView:
    """Audit a plan and collect its page data, with up to ``search_s`` seconds for a repair (0: no repair).

    ``encode`` converts a result to an object of ``report-1.json``. ``on_verdict`` receives the page data with the
    verdict alone, for use if the time limit passes later.
    """
    checker = prepared.checker
    recorder = _make_recorder(checker)
    result = session.audit(prepared, recorder=recorder)
    detail: dict[str, Any] = {"timelines": [], "rules": _rules(checker)}
    on_verdict(PlanView(result, {"report": encode(result), **detail, "steps_note": _TOO_LONG}))
    read = checker.read(prepared.plan)
    if result.report.headline is not None and not read.text.diagnostics:
        is_continuous = checker.engine.task.is_continuous
        has_many_worlds = checker.is_open or read.is_open
        detail["timelines"] = list(_timelines(prepared, result, read, recorder, has_many_worlds))
        detail["worlds"] = _worlds(result.report)
        if has_many_worlds:
            detail["steps_note"] = _MANY_WORLDS
        elif result.failure is None and not is_continuous:
            detail |= _explanation(session, prepared, result, read, search_s)
    return PlanView(result, {"report": encode(result), **detail})


def _rules(checker: Checker) -> dict[str, dict[str, Any]]:
    """Return the applicable rules with their texts, by name."""
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
            "rationale_source": rule.rationale_source,
            "fix": rule.fix,
            "text": text[:LONGEST_RULE],
        }
    return out


# -- steps ------------------------------------------------------------------------------------------------------------


def _make_recorder(checker: Checker) -> TimelineRecorder | None:
    """Return the recorder of the timeline during the audit; it leaves two thirds of the time limit to the verdict."""
    if not checker.ok or checker.is_open:
        return None
    limit = checker.options.time_limit_s
    return TimelineRecorder(checker.engine, monotonic() + (TIMELINE_S if limit is None else min(TIMELINE_S, limit / 3)))


def _timelines(
    prepared: Prepared, result: Result, read: ResolvedPlan, recorder: TimelineRecorder | None, has_many_worlds: bool
) -> Iterator[dict[str, Any]]:
    """Yield the timelines of a plan: in its single world, or in each witness of a finding.

    The timeline that the audit recorded is used, unless the time did not suffice for it.
    """
    checker = prepared.checker
    source_texts = _source_texts(prepared, read)
    if not has_many_worlds:
        tables = [finding.table for finding in result.report.findings if finding.table is not None]
        first_fluents = list(dict.fromkeys([column for table in tables for column in table.columns]))
        if recorder is None or recorder.run is None or recorder.is_late or result.report.limits:
            line = record_timeline(checker.compiled, read, monotonic() + TIMELINE_S, first_fluents)
        else:
            line = recorder.make_timeline(read, first_fluents)
        yield _line(checker, line, source_texts)
        return
    from plansafe.verifier.symbolic.worlds.world_replay import close_task_and_plan  # noqa: PLC0415 - only for several worlds

    worlds = result.report.worlds
    if worlds is None:
        return
    for scene in scenes(worlds)[:MOST_WORLDS]:
        completion = worlds.witnesses[scene.witnesses[0]].completion
        if completion is not None:
            line = record_timeline(*close_task_and_plan(checker.compiled, read, completion), monotonic() + TIMELINE_S)
            name = f"world {scene.number}" if scene.number else "the world with the finding"
            yield {**_line(checker, line, ()), "name": name, "worlds": scene.witnesses}


def _worlds(report: Report) -> dict[str, Any]:
    """Return the texts about possible worlds that the terminal report shows."""
    worlds = report.worlds
    if worlds is None:
        return {}
    scene_objects = [
        {"heading": heading(scene), "lines": world_lines(scene, worlds), **scene._asdict()} for scene in scenes(worlds)
    ]
    return {
        "scenes": [{**scene, "world": None} for scene in scene_objects],
        "asking": asking(worlds),
        "notes": [note for note in notes(report) if not note.startswith("worth asking")],
        "about": [of_finding(finding, worlds) for finding in report.findings],
    }


def _source_texts(prepared: Prepared, read: ResolvedPlan) -> Sequence[str]:
    """Return each step as the author wrote it, or nothing if the plan is PDDL."""
    if not prepared.places or len(prepared.places) != len(read.steps):
        return ()
    text = prepared.inputs[0].source.text
    places = [step.source_index for step in read.timed] if read.timed is not None else range(len(read.steps))
    return [text[prepared.places[place].start : prepared.places[place].end].strip() for place in places]


def _line(checker: Checker, line: Timeline, source_texts: Sequence[str]) -> dict[str, Any]:
    rules = checker.rules
    return {
        "name": "",
        "steps": [
            {
                "text": step.text,
                "source": source_texts[step.number - 1] if source_texts else "",
                "time": _number(step.time),
                "duration": _number(step.duration),
                "at": _place(step.time),
                "lasts": _place(step.duration),
            }
            for step in line.steps
        ],
        "initial": line.initial if len(line.initial) <= MOST_STATE else None,
        "moments": [_moment(moment) for moment in line.letters],
        "tracks": [
            {"rule": rules[track.rule].name, "looks": [_look(look) for look in track.spans]} for track in line.tracks
        ],
        "mishaps": [
            {**failure._asdict(), "time": _number(failure.time), "at": _place(failure.time)}
            for failure in _first_failures(line)
        ],
        "whole": line.complete,
        "courses": [_course(checker, course) for course in line.courses[:MOST_COURSES]],
        "more_courses": max(0, len(line.courses) - MOST_COURSES),
    }


def _first_failures(line: Timeline) -> list[StepFailure]:
    """Return the first occurrence of each repeated problem of a step."""
    first_failures = {(failure.step, failure.code, failure.other): failure for failure in reversed(line.failures)}
    return list(first_failures.values())[::-1]


def _moment(moment: TimelineLetter) -> dict[str, Any]:
    time, cause = moment.time, moment.cause
    fields = {**moment._asdict(), "time": _number(time), "at": _place(time)}
    return {**fields, "cause": cause and {"event": cause.event.replace("`", ""), "interval": cause.is_interval}}


def _look(look: RuleStatusSpan) -> dict[str, Any]:
    return look._asdict()


def _course(checker: Checker, course: FluentCourse) -> dict[str, Any]:
    """Return a curve: points of ``[time, value, exact time, exact value]``, samples without the exact numbers."""
    return {
        "fluent": course.fluent,
        "points": [point if point.when else point[:2] for point in course.points],
        "bounds": [
            {**bound._asdict(), "rules": [checker.rules[rule].name for rule in bound.rules]} for bound in course.bounds
        ],
    }


def _number(number: Number | None) -> str | None:
    """Format a time for people."""
    if isinstance(number, JustAfter):
        return f"just after {cost_text(number.moment)}"
    return None if number is None else cost_text(number)


def _place(number: Number | None) -> float | None:
    """Return the position of a time on the axis."""
    if isinstance(number, JustAfter):
        number = number.moment
    return None if number is None else min(approximate(number), LAST_PLACE)


# -- causes and repairs ------------------------------------------------------------------------------------------------


def _explanation(
    session: Session, prepared: Prepared, result: Result, read: ResolvedPlan, search_s: float
) -> dict[str, Any]:
    """Return the causal graph and, for an unsafe plan, the error classes, root causes and repairs."""
    explanation: dict[str, Any] = {}
    examination = Examined(result)
    is_short = len(read.steps) <= MOST_EXPLAINED
    if result.exit_code and search_s and read.timed is None and is_short:
        options = RepairOptions(time_limit_s=search_s, max_work=BOUNDED_WORK, max_repairs=MOST_REPAIRS)
        examination = examined(session, prepared, ExaminationOptions(options, where=True, causes=True))
    if examination.repair is not None and examination.repair.status is not RepairStatus.ALREADY_SAFE:
        explanation["classes"] = [witness_object(witness) for witness in examination.witnesses[:MOST_CLASSES]]
        explanation["more_classes"] = max(0, len(examination.witnesses) - MOST_CLASSES)
        explanation["where"] = where_object(examination.where) if examination.where is not None else None
        explanation["causes"] = [because_object(cause) for cause in examination.causes]
        explanation["repair"] = {
            "original": examination.original,
            "repairs": [_repair(examination.original, repair) for repair in examination.repair.repairs],
            "outcome": None if examination.outcome is None else _outcome(examination),
        }
    elif result.exit_code == 1 and read.timed is None:
        reason = "" if is_short else f": the plan has more than {MOST_EXPLAINED:,} steps"
        outcome: dict[str, Any] = {"message": f"The repair search did not run{reason}.", "notes": [], "help": None}
        explanation["repair"] = {"repairs": [], "outcome": outcome}
    return {**explanation, **_graph(prepared, read, examination)}


def _outcome(examination: Examined) -> Mapping[str, Any]:
    assert examination.outcome is not None
    return {
        "message": examination.outcome.message,
        "notes": examination.outcome.notes,
        "help": examination.outcome.help,
    }


def _repair(original: Sequence[str], repair: Repair) -> dict[str, Any]:
    return {
        "cost": cost_text(repair.cost),
        "headline": repair.report.headline.value if repair.report.headline else None,
        "words": sentence(original, repair),
        "rows": compact_repair_rows(
            [
                [row.mark, row.old, row.new, row.text, row.remarks, original[row.old - 1] if row.old else ""]
                for row in lines(original, repair)
            ]
        ),
    }


def _graph(prepared: Prepared, read: ResolvedPlan, examination: Examined) -> dict[str, Any]:
    from plansafe.verifier.diagnose.causal_structure import find_causal_structure  # noqa: PLC0415 - loads the search
    from plansafe.verifier.diagnose.graph import make_plan_graph  # noqa: PLC0415
    from plansafe.verifier.diagnose.model import Diagnosis  # noqa: PLC0415
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

    if len(read.steps) > MOST_EXPLAINED:
        return {"graph_note": f"The plan has more than {MOST_EXPLAINED:,} steps, so its causal graph is not drawn."}
    try:
        structure = find_causal_structure(prepared.checker, read.steps, MOST_LINKS)
    except NotCovered as reason:
        return {"graph_note": f"The causal graph cannot be computed: {reason}."}
    diagnosis = None
    if examination.repair is not None:
        diagnosis = Diagnosis(prepared.plan.name, examination.result.report, examination.witnesses, examination.repair)
    graph = make_plan_graph(structure, diagnosis)
    redundant = {f"step {number}" for number in structure.redundant}
    offsets = {"rule": 0.5, "inserted": -0.5}
    nodes = [
        {**node._asdict(), "at": node.step + offsets.get(node.kind, 0), "redundant": node.name in redundant}
        for node in graph.nodes
    ]
    edges, note = graph.edges, {}
    if len(edges) > MOST_LINKS or not structure.has_all_links:
        edges = tuple([edge for edge in edges if edge.needed])[:MOST_LINKS]
        note = {
            "graph_note": f"The plan has more than {MOST_LINKS:,} links. The page has {len(edges):,} necessary ones."
        }
    return {"graph": {"nodes": nodes, "edges": [edge._asdict() for edge in edges]}, **note}


def build_report_view(result: Result, encode: Callable[[Result], dict[str, Any]]) -> PlanView:
    """Return the page data of a plan that could not be audited: only its report."""
    return PlanView(result, {"report": encode(result), "timelines": []})
