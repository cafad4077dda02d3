"""Test the rendering of verdicts over possible worlds: golden files, the schema, single sentences."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from format_checks import json_lines

from plansafe.app.project.inputs import Input
from plansafe.app.render import renderer
from plansafe.app.render.worlds import asking, lines, notes, of_finding, outcome, scenes, where
from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import Style
from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Reading, Report, RuleCount, Worlds
from plansafe.verifier.reporting.worlds import ShownOutcome, ShownValue, ShownWorld, Witness, WorldsReport

Golden = Callable[[str, str], None]
ALL, SOME, NONE, UNKNOWN = Worlds.ALL, Worlds.SOME, Worlds.NONE, Worlds.UNKNOWN

PLAN = Source(
    "milk.plan",
    """(put-in robot cup microwave kitchen)
(close robot microwave kitchen)
(switch-on robot microwave kitchen)
(drop robot glass kitchen)
(bake robot pie oven kitchen)
""",
)
RULES = (
    RuleCount("no-metal", "process", "kitchen.safe", 1, 1, 1, "violated"),
    RuleCount("no-shards", "process", "kitchen.safe", 1, 1, 0, "kept"),
)
METAL, WET = ShownValue("(metal cup)", "true"), ShownValue("(wet-floor kitchen)", "false")
TEMPERATURE = ShownValue("(temperature oven)", "17/2")
BROKEN = ShownOutcome(4, "(drop robot glass kitchen)", 2, 2, "(broken glass)")


def step(number: int) -> Span:
    text = PLAN.text.splitlines()[number - 1]
    start = PLAN.text.index(text)
    return Span(start, start + len(text))


def finding(
    number: int, rule: str, worlds: Worlds | None, world: int | None, kind: FindingClass = FindingClass.PROCESS
) -> Finding:
    return Finding(
        "SC201",
        kind,
        f"rule `{rule}` is violated at step {number}",
        number,
        rule=rule,
        source=PLAN.name,
        span=step(number),
        related=(Label(PLAN.name, step(number), "here", True),),
        help="do something else",
        replayed=True,
        worlds=worlds,
        world=world,
    )


def result(
    values: tuple[Worlds, Worlds, Worlds],
    headline: Headline,
    worlds: WorldsReport | None,
    *findings: Finding,
    assumptions: tuple[str, ...] = ("facts that are not listed in the initial state are false (closed world)",),
    limits: tuple[str, ...] = (),
) -> Result:
    report = Report(
        PLAN.name,
        headline,
        *values,
        5,
        findings=findings,
        rules=RULES,
        assumptions=assumptions,
        limits=limits,
        engine="sat",
        worlds=worlds,
    )
    return Result(PLAN.name, report, (Input("plan", PLAN.name, "given", PLAN),), {PLAN.name: PLAN})


def witness(about: str, *facts: ShownValue, **parts: object) -> Witness:
    outcomes = parts.get("outcomes", ())
    order, durations = parts.get("order", ()), parts.get("durations", ())
    return Witness(about, ShownWorld(facts, outcomes, order, durations), True)  # type: ignore[arg-type]


CASES: dict[str, Result] = {
    # One fact decides, and a question settles the verdict.
    "worlds-fact": result(
        (ALL, ALL, SOME),
        Headline.UNSAFE,
        WorldsReport(
            3,
            0,
            0,
            1,
            (witness("safe", METAL),),
            cause=(METAL,),
            question=("(metal cup)",),
            invariants=(
                "at most one of `(inside cup *)`, `(on cup *)` is true (no action can break it; assumed of S0)",
            ),
            solver="cadical195",
        ),
        finding(3, "no-metal", SOME, 0),
    ),
    # The outcome of a step decides for all facts: no question helps.
    "worlds-outcome": result(
        (ALL, SOME, SOME),
        Headline.INVALID,
        WorldsReport(
            0,
            0,
            1,
            1,
            (witness("goal", outcomes=(BROKEN,)), witness("safe", outcomes=(BROKEN,))),
            cause=(),
            question_note="every completion is bad: outcomes alone decide",
            solver="cadical195",
        ),
        finding(4, "no-shards", SOME, 1),
    ),
    # Two failures in two worlds, and one finding in all worlds.
    "worlds-two": result(
        (SOME, SOME, NONE),
        Headline.INVALID,
        WorldsReport(
            2,
            1,
            1,
            4,
            (
                witness("executable", METAL, WET, TEMPERATURE),
                witness("goal", METAL, WET, TEMPERATURE),
                witness("safe", METAL, ShownValue("(wet-floor kitchen)", "true"), outcomes=(BROKEN,)),
            ),
            cause=(METAL, TEMPERATURE),
            question=("(metal cup)", "(temperature oven)"),
            solver="z3 5.4.0",
        ),
        finding(2, "doors", SOME, 0, FindingClass.INEXECUTABLE),
        finding(3, "no-metal", ALL, 0),
        finding(4, "no-shards", UNKNOWN, 2),
    ),
    # The order of unordered steps, and the duration of a step.
    "worlds-order": result(
        (SOME, ALL, ALL),
        Headline.INVALID,
        WorldsReport(
            0,
            0,
            0,
            3,
            (
                witness(
                    "executable",
                    order=("b (close robot microwave kitchen)", "a (put-in robot cup microwave kitchen)"),
                    durations=(ShownValue("step 5 (bake robot pie oven kitchen)", "31"),),
                ),
            ),
            cause=(),
            question_note="every completion is bad: order and durations alone decide",
            solver="z3 5.4.0",
            durations=1,
            unordered=2,
        ),
        finding(1, "doors", SOME, 0, FindingClass.INEXECUTABLE),
    ),
    # Not decided.
    "worlds-unknown": result(
        (ALL, ALL, UNKNOWN),
        Headline.UNKNOWN,
        WorldsReport(
            0,
            2,
            0,
            2,
            cause_note="not found: out of time",
            question_note="not found: out of time",
            solver="z3 5.4.0",
            advice="raise --time-limit, or give (temperature oven) a value",
        ),
        limits=("time limit of 2 s",),
    ),
    # Safe in all worlds.
    "worlds-safe": result(
        (ALL, ALL, ALL),
        Headline.SAFE,
        WorldsReport(1_200, 0, 3, 0, solver="constant folding"),
    ),
    # A solver was requested for a task with complete information: worlds are not mentioned.
    "worlds-closed": result(
        (ALL, ALL, NONE),
        Headline.UNSAFE,
        WorldsReport(0, 0, 0, 0, (witness("safe"),), cause=(), solver="constant folding"),
        finding(3, "no-metal", None, None),
    ),
}


def rendered(form: str, audit_result: Result, color: bool = False) -> str:
    view = renderer(form, Settings(), Style(color))
    return view.plan(audit_result) + view.end()


@pytest.mark.parametrize("name", CASES)
def test_golden(golden: Golden, name: str) -> None:
    golden(f"{name}.txt", rendered("full", CASES[name]) + rendered("concise", CASES[name]))


def test_golden_colour(golden: Golden) -> None:
    golden("worlds-color.txt", rendered("full", CASES["worlds-two"], color=True))


def test_golden_json_and_its_schema(golden: Golden) -> None:
    text = "".join([rendered("json", case) for case in CASES.values()])
    assert len(json_lines(text, "report-1")) == len(CASES)
    golden("worlds-json.txt", text)


def test_golden_sarif(golden: Golden) -> None:
    view = renderer("sarif", Settings(), Style(False))
    for case in CASES.values():
        view.plan(case)
    text = view.end()
    worlds = [r["properties"].get("worlds") for r in json.loads(text)["runs"][0]["results"]]
    assert worlds == ["SOME", "SOME", "SOME", "ALL", "UNKNOWN", "SOME", None]
    golden("worlds-sarif.txt", text)


def test_report_with_complete_information_does_not_mention_worlds(passing: Result) -> None:
    assert "world" not in rendered("full", passing) + rendered("concise", passing) + rendered("json", passing)
    closed = CASES["worlds-closed"].report
    assert closed.worlds is not None
    assert where(closed) == ""
    assert scenes(closed.worlds) == []


# -- single sentences


@pytest.mark.parametrize(
    ("headline", "values", "phrase"),
    [
        (Headline.SAFE, (ALL, ALL, ALL), "in all worlds"),
        (Headline.UNSAFE, (ALL, ALL, SOME), "in some worlds"),
        (Headline.UNSAFE, (ALL, ALL, NONE), "in every world"),
        (Headline.INVALID, (ALL, NONE, ALL), "in every world"),
        (Headline.INVALID, (SOME, SOME, NONE), "in some worlds"),
        (Headline.UNKNOWN, (ALL, ALL, UNKNOWN), ""),
    ],
)
def test_where_the_headline_holds(headline: Headline, values: tuple[Worlds, Worlds, Worlds], phrase: str) -> None:
    assert where(result(values, headline, WorldsReport(1, 0, 0, 1)).report) == phrase
    assert where(result(values, headline, None).report) == ""


def test_equal_worlds_are_shown_once_and_different_ones_numbered() -> None:
    worlds = CASES["worlds-two"].report.worlds
    assert worlds is not None
    assert [(s.number, s.about, s.witnesses) for s in scenes(worlds)] == [
        (1, ("executable", "goal"), (0, 1)),
        (2, ("safe",), (2,)),
    ]
    findings = CASES["worlds-two"].report.findings
    assert [of_finding(f, worlds) for f in findings] == [
        "in some, such as world 1",
        "in every world",
        "in some, such as world 2; whether in all was not decided",
    ]


def test_cause_is_shown_in_its_world_or_separately() -> None:
    unsafe_world = witness("safe", METAL, WET)
    world = scenes(WorldsReport(2, 0, 0, 2, (unsafe_world,), cause=(METAL,)))[0]
    assert lines(world, WorldsReport(2, 0, 0, 2, (unsafe_world,), cause=(METAL,))) == [
        "(metal cup) is true: this is enough for the plan to fail, whatever else is so",
        "also, in this world: (wet-floor kitchen) is false",
    ]
    contrary = WorldsReport(2, 0, 0, 2, (unsafe_world,), cause=(ShownValue("(metal cup)", "false"),))
    assert lines(world, contrary) == ["(metal cup) is true", "(wet-floor kitchen) is false"]
    text = rendered("full", result((ALL, ALL, SOME), Headline.UNSAFE, contrary))
    assert "enough, whatever else is so: (metal cup) is false" in text
    empty = WorldsReport(2, 0, 0, 2, (unsafe_world,), cause=())
    assert lines(world, empty) == ["(metal cup) is true", "(wet-floor kitchen) is false"]


def test_cause_is_shown_once() -> None:
    dry = ShownValue("(wet-floor kitchen)", "true")
    two = WorldsReport(2, 0, 0, 2, (witness("safe", METAL, WET), witness("goal", METAL, dry)), cause=(METAL,))
    assert [line for scene in scenes(two) for line in lines(scene, two)] == [
        "(metal cup) is true: this is enough for the plan to fail, whatever else is so",
        "also, in this world: (wet-floor kitchen) is false",
        "(metal cup) is true",
        "(wet-floor kitchen) is true",
    ]
    with_choice = two._replace(choices=1)
    assert lines(scenes(with_choice)[0], with_choice)[0] == (
        "(metal cup) is true: this is enough for the plan to be able to fail, whatever else is so"
    )


def test_order_is_a_numbered_list_of_limited_length() -> None:
    steps = ("b (open fridge)", "10 (take milk fridge)", "a (close fridge)")
    worlds = WorldsReport(0, 0, 0, 3, (witness("safe", order=steps),), unordered=3)
    assert lines(scenes(worlds)[0], worlds) == [
        "the steps are taken in this order:",
        "  1  b   (open fridge)",
        "  2  10  (take milk fridge)",
        "  3  a   (close fridge)",
    ]
    worlds = worlds._replace(witnesses=(witness("safe", order=tuple([f"s{n} (go)" for n in range(100)])),))
    order = lines(scenes(worlds)[0], worlds)
    assert (len(order), order[-1]) == (62, "  and 40 more (all with --format json)")


def test_long_worlds_and_lists_of_invariants_are_cut() -> None:
    facts = [ShownValue(f"(wet place-{n})", "true") for n in range(40)]
    worlds = WorldsReport(40, 0, 0, 40, (witness("safe", *facts),), invariants=tuple([f"i{n}" for n in range(9)]))
    text = rendered("full", result((ALL, ALL, SOME), Headline.UNSAFE, worlds))
    assert "(wet place-11) is true" in text
    assert "(wet place-12)" not in text
    assert "  and 28 more (all with --format json)" in text
    assert "assumed: 3 more invariants (all with --format json)" in text
    document = json.loads(rendered("json", result((ALL, ALL, SOME), Headline.UNSAFE, worlds)))
    assert len(document["worlds"]["witnesses"][0]["facts"]) == 40


def test_readings_name_their_world() -> None:
    readings = (Reading("halt", 1, NONE, ALL), Reading("skip", 4, ALL, ALL))
    for name, place in (
        ("worlds-order", "the world above"),
        ("worlds-two", "world 1"),
        ("worlds-safe", "one of the wor"),
    ):
        case = CASES[name]
        failed = case._replace(report=case.report._replace(readings=readings))
        assert f"reading skip  4 steps executed, goal ALL, safe ALL (in {place}" in rendered("full", failed)


def test_questions() -> None:
    worlds = WorldsReport(1, 1, 0, 2, (witness("safe", METAL, TEMPERATURE),))
    assert asking(worlds) == ""
    assert asking(worlds._replace(question=())) == ""
    assert asking(worlds._replace(question=("(metal cup)",))) == "is (metal cup) so? the answer settles the verdict"
    assert asking(worlds._replace(question=("(temperature oven)", "(metal cup)"))) == (
        "is (metal cup) so? what is (temperature oven)? the answers settle the verdict"
    )
    assert asking(worlds._replace(question=("(metal cup)", "(wet-floor kitchen)"))) == (
        "which are so: (metal cup), (wet-floor kitchen)? the answers settle the verdict"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [("17/2", "8.5"), ("-7/40", "-0.175"), ("1/3", "1/3"), ("12", "12"), ("true", "true"), ("1/0", "1/0"), ("/", "/")],
)
def test_fractions_are_decimals_if_exact(value: str, text: str) -> None:
    worlds = WorldsReport(0, 1, 0, 1, (witness("safe", ShownValue("(f)", value)),))
    assert lines(scenes(worlds)[0], worlds) == [f"(f) is {text}"]


def test_note_says_what_decides_if_no_question_helps() -> None:
    worlds = WorldsReport(0, 0, 2, 1, unordered=3)
    unsafe_in_some = result((ALL, ALL, SOME), Headline.UNSAFE, worlds).report
    assert "no question helps: outcomes and orders alone decide" in notes(unsafe_in_some)
    unsafe_in_all = result((ALL, ALL, NONE), Headline.UNSAFE, worlds).report
    with_open_fact = unsafe_in_some._replace(worlds=worlds._replace(open_facts=1))
    assert not [line for report in (unsafe_in_all, with_open_fact) for line in notes(report) if "question" in line]


def test_an_outcome_without_effect() -> None:
    goal_witness = witness("goal", outcomes=(BROKEN._replace(alternative=1, effect="(and)"),))
    worlds = WorldsReport(0, 0, 1, 1, (goal_witness,))
    assert lines(scenes(worlds)[0], worlds) == ["step 4 (drop robot glass kitchen): nothing happens  [1 of 2]"]


def test_an_outcome_of_several_effects() -> None:
    effect = "(and (broken glass) (when (wet (floor)) (shards kitchen)))"
    text = outcome(BROKEN._replace(effect=effect))
    assert text.endswith(": its outcome is (broken glass) (when (wet (floor)) (shards kitchen))  [2 of 2]")


def test_cause_and_question_are_marked_if_not_proved_minimal() -> None:
    worlds = WorldsReport(
        2, 0, 0, 2, (witness("safe", METAL),), (METAL,), "not minimal: out of time", ("(metal cup)",), "not minimal: .."
    )
    assert lines(scenes(worlds)[0], worlds) == [
        "(metal cup) is true: this is enough for the plan to fail, whatever else is so (fewer facts may also be enough)"
    ]
    assert asking(worlds).endswith("settles the verdict (fewer questions may also settle it)")


@pytest.mark.parametrize(
    ("values", "relevant", "note"),
    [
        ((ALL, ALL, ALL), 0, "left open: 2 facts; the verdict does not depend on it"),
        ((ALL, NONE, ALL), 2, "left open: 2 facts; the verdict does not depend on it"),
        ((ALL, ALL, SOME), 1, "left open: 2 facts; the verdict can depend on 1 of them"),
        ((ALL, ALL, SOME), 2, "left open: 2 facts"),
        ((ALL, ALL, UNKNOWN), 0, "left open: 2 facts"),
    ],
)
def test_note_counts_the_decisive_facts(values: tuple[Worlds, Worlds, Worlds], relevant: int, note: str) -> None:
    report = result(values, Headline.UNKNOWN, WorldsReport(2, 0, 0, relevant)).report
    assert note in notes(report)


def test_witness_that_the_kernel_did_not_replay_is_reported() -> None:
    unreplayed = witness("safe", METAL)._replace(replayed=None)
    unconfirmed = result((ALL, ALL, SOME), Headline.UNSAFE, WorldsReport(1, 0, 0, 1, (unreplayed, unreplayed)))
    assert "not independently replayed: 1 world" in rendered("full", unconfirmed)
    assert "not independently replayed" not in rendered("full", CASES["worlds-fact"])


NASTY = "\x1b[31m\x07\x9b2J\u202e\udc80"


def test_untrusted_text_cannot_control_the_terminal() -> None:
    value = ShownValue(NASTY, NASTY)
    world = ShownWorld((value,), (ShownOutcome(1, NASTY, 1, 2, NASTY),), (NASTY,), (value,))
    worlds = WorldsReport(
        1,
        0,
        0,
        1,
        (Witness(NASTY, world, None),),
        (value,),
        NASTY,
        (NASTY,),
        NASTY,
        (NASTY,),
        NASTY,
        advice=NASTY,
    )
    nasty_result = result((ALL, ALL, SOME), Headline.UNSAFE, worlds, finding(1, "r", SOME, 0))
    for form in ("full", "concise"):
        text = rendered(form, nasty_result)
        assert not any(ord(c) < 32 and c != "\n" for c in text)
        assert not any(c in text for c in "\x9b\u202e\udc80")
    for form in ("json", "sarif"):
        json.dumps(json.loads(rendered(form, nasty_result)), ensure_ascii=False).encode()
