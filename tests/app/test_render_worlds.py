"""Verdicts over worlds as they are shown: golden files from hand-made reports, the schema, and the words one by one."""

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


def witness(about: str, *facts: ShownValue, **more: object) -> Witness:
    outcomes = more.get("outcomes", ())
    order, durations = more.get("order", ()), more.get("durations", ())
    return Witness(about, ShownWorld(facts, outcomes, order, durations), True)  # type: ignore[arg-type]


CASES: dict[str, Result] = {
    # One fact decides; there is something to ask.
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
    # The outcome of a step decides, whatever the facts are: nothing to ask.
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
    # Two ways to fail, in two worlds; one finding is there in all of them.
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
    # The order of unordered steps, and how long one lasts.
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
    # Safe, whatever is open.
    "worlds-safe": result(
        (ALL, ALL, ALL),
        Headline.SAFE,
        WorldsReport(1_200, 0, 3, 0, solver="constant folding"),
    ),
    # A solver was asked for although nothing is open: no words about worlds.
    "worlds-closed": result(
        (ALL, ALL, NONE),
        Headline.UNSAFE,
        WorldsReport(0, 0, 0, 0, (witness("safe"),), cause=(), solver="constant folding"),
        finding(3, "no-metal", None, None),
    ),
}


def rendered(form: str, one: Result, color: bool = False) -> str:
    view = renderer(form, Settings(), Style(color))
    return view.plan(one) + view.end()


@pytest.mark.parametrize("name", CASES)
def test_golden(golden: Golden, name: str) -> None:
    golden(f"{name}.txt", rendered("full", CASES[name]) + rendered("concise", CASES[name]))


def test_golden_colour(golden: Golden) -> None:
    golden("worlds-color.txt", rendered("full", CASES["worlds-two"], color=True))


def test_golden_json_and_its_schema(golden: Golden) -> None:
    text = "".join([rendered("json", one) for one in CASES.values()])
    assert len(json_lines(text, "report-1")) == len(CASES)
    golden("worlds-json.txt", text)


def test_golden_sarif(golden: Golden) -> None:
    view = renderer("sarif", Settings(), Style(False))
    for one in CASES.values():
        view.plan(one)
    text = view.end()
    worlds = [r["properties"].get("worlds") for r in json.loads(text)["runs"][0]["results"]]
    assert worlds == ["SOME", "SOME", "SOME", "ALL", "UNKNOWN", "SOME", None]
    golden("worlds-sarif.txt", text)


def test_complete_information_says_nothing_about_worlds(passing: Result) -> None:
    assert "world" not in rendered("full", passing) + rendered("concise", passing) + rendered("json", passing)
    closed = CASES["worlds-closed"].report
    assert closed.worlds is not None
    assert where(closed) == ""
    assert scenes(closed.worlds) == []


# -- the words


@pytest.mark.parametrize(
    ("headline", "values", "said"),
    [
        (Headline.SAFE, (ALL, ALL, ALL), "in all worlds"),
        (Headline.UNSAFE, (ALL, ALL, SOME), "in some worlds"),
        (Headline.UNSAFE, (ALL, ALL, NONE), "in every world"),
        (Headline.INVALID, (ALL, NONE, ALL), "in every world"),
        (Headline.INVALID, (SOME, SOME, NONE), "in some worlds"),
        (Headline.UNKNOWN, (ALL, ALL, UNKNOWN), ""),
    ],
)
def test_where_the_headline_holds(headline: Headline, values: tuple[Worlds, Worlds, Worlds], said: str) -> None:
    assert where(result(values, headline, WorldsReport(1, 0, 0, 1)).report) == said
    assert where(result(values, headline, None).report) == ""


def test_equal_worlds_are_shown_once_and_numbered_if_there_are_two() -> None:
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


def test_a_cause_is_told_in_a_world_that_has_it_and_else_beside_it() -> None:
    seen = witness("safe", METAL, WET)
    world = scenes(WorldsReport(2, 0, 0, 2, (seen,), cause=(METAL,)))[0]
    assert lines(world, WorldsReport(2, 0, 0, 2, (seen,), cause=(METAL,))) == [
        "(metal cup) is true: this is enough for the plan to fail, whatever else is so",
        "also, in this world: (wet-floor kitchen) is false",
    ]
    other = WorldsReport(2, 0, 0, 2, (seen,), cause=(ShownValue("(metal cup)", "false"),))
    assert lines(world, other) == ["(metal cup) is true", "(wet-floor kitchen) is false"]
    text = rendered("full", result((ALL, ALL, SOME), Headline.UNSAFE, other))
    assert "enough, whatever else is so: (metal cup) is false" in text
    empty = WorldsReport(2, 0, 0, 2, (seen,), cause=())
    assert lines(world, empty) == ["(metal cup) is true", "(wet-floor kitchen) is false"]


def test_a_cause_is_told_once_and_promises_no_more_than_it_says() -> None:
    dry = ShownValue("(wet-floor kitchen)", "true")
    two = WorldsReport(2, 0, 0, 2, (witness("safe", METAL, WET), witness("goal", METAL, dry)), cause=(METAL,))
    assert [line for scene in scenes(two) for line in lines(scene, two)] == [
        "(metal cup) is true: this is enough for the plan to fail, whatever else is so",
        "also, in this world: (wet-floor kitchen) is false",
        "(metal cup) is true",
        "(wet-floor kitchen) is true",
    ]
    chance = two._replace(choices=1)
    assert lines(scenes(chance)[0], chance)[0] == (
        "(metal cup) is true: this is enough for the plan to be able to fail, whatever else is so"
    )


def test_an_order_is_a_list_with_labels_and_long_ones_are_cut() -> None:
    steps = ("b (open fridge)", "10 (take milk fridge)", "a (close fridge)")
    worlds = WorldsReport(0, 0, 0, 3, (witness("safe", order=steps),), unordered=3)
    assert lines(scenes(worlds)[0], worlds) == [
        "the steps are taken in this order:",
        "  1  b   (open fridge)",
        "  2  10  (take milk fridge)",
        "  3  a   (close fridge)",
    ]
    worlds = worlds._replace(witnesses=(witness("safe", order=tuple([f"s{n} (go)" for n in range(100)])),))
    shown = lines(scenes(worlds)[0], worlds)
    assert (len(shown), shown[-1]) == (62, "  and 40 more (all with --format json)")


def test_a_long_world_is_cut_and_a_long_list_of_invariants_too() -> None:
    facts = [ShownValue(f"(wet place-{n})", "true") for n in range(40)]
    worlds = WorldsReport(40, 0, 0, 40, (witness("safe", *facts),), invariants=tuple([f"i{n}" for n in range(9)]))
    text = rendered("full", result((ALL, ALL, SOME), Headline.UNSAFE, worlds))
    assert "(wet place-11) is true" in text
    assert "(wet place-12)" not in text
    assert "  and 28 more (all with --format json)" in text
    assert "assumed: 3 more invariants (all with --format json)" in text
    object_ = json.loads(rendered("json", result((ALL, ALL, SOME), Headline.UNSAFE, worlds)))
    assert len(object_["worlds"]["witnesses"][0]["facts"]) == 40


def test_readings_are_those_of_the_first_world() -> None:
    readings = (Reading("halt", 1, NONE, ALL), Reading("skip", 4, ALL, ALL))
    for name, said in (
        ("worlds-order", "the world above"),
        ("worlds-two", "world 1"),
        ("worlds-safe", "one of the wor"),
    ):
        one = CASES[name]
        failed = one._replace(report=one.report._replace(readings=readings))
        assert f"reading skip  4 steps executed, goal ALL, safe ALL (in {said}" in rendered("full", failed)


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
    ("value", "shown"),
    [("17/2", "8.5"), ("-7/40", "-0.175"), ("1/3", "1/3"), ("12", "12"), ("true", "true"), ("1/0", "1/0"), ("/", "/")],
)
def test_fractions_are_decimals_where_that_is_exact(value: str, shown: str) -> None:
    worlds = WorldsReport(0, 1, 0, 1, (witness("safe", ShownValue("(f)", value)),))
    assert lines(scenes(worlds)[0], worlds) == [f"(f) is {shown}"]


def test_where_nothing_can_be_asked_it_says_what_decides() -> None:
    worlds = WorldsReport(0, 0, 2, 1, unordered=3)
    some = result((ALL, ALL, SOME), Headline.UNSAFE, worlds).report
    assert "no question helps: outcomes and orders alone decide" in notes(some)
    none = result((ALL, ALL, NONE), Headline.UNSAFE, worlds).report
    asked = some._replace(worlds=worlds._replace(open_facts=1))
    assert not [line for report in (none, asked) for line in notes(report) if "question" in line]


def test_an_outcome_without_effect() -> None:
    said = witness("goal", outcomes=(BROKEN._replace(alternative=1, effect="(and)"),))
    worlds = WorldsReport(0, 0, 1, 1, (said,))
    assert lines(scenes(worlds)[0], worlds) == ["step 4 (drop robot glass kitchen): nothing happens  [1 of 2]"]


def test_an_outcome_of_several_effects() -> None:
    effect = "(and (broken glass) (when (wet (floor)) (shards kitchen)))"
    shown = outcome(BROKEN._replace(effect=effect))
    assert shown.endswith(": its outcome is (broken glass) (when (wet (floor)) (shards kitchen))  [2 of 2]")


def test_what_may_not_be_minimal_is_said() -> None:
    worlds = WorldsReport(
        2, 0, 0, 2, (witness("safe", METAL),), (METAL,), "not minimal: out of time", ("(metal cup)",), "not minimal: .."
    )
    assert lines(scenes(worlds)[0], worlds) == [
        "(metal cup) is true: this is enough for the plan to fail, whatever else is so (fewer facts may also be enough)"
    ]
    assert asking(worlds).endswith("settles the verdict (fewer questions may also settle it)")


@pytest.mark.parametrize(
    ("values", "relevant", "said"),
    [
        ((ALL, ALL, ALL), 0, "left open: 2 facts; the verdict does not depend on it"),
        ((ALL, NONE, ALL), 2, "left open: 2 facts; the verdict does not depend on it"),
        ((ALL, ALL, SOME), 1, "left open: 2 facts; the verdict can depend on 1 of them"),
        ((ALL, ALL, SOME), 2, "left open: 2 facts"),
        ((ALL, ALL, UNKNOWN), 0, "left open: 2 facts"),
    ],
)
def test_how_much_the_verdict_depends_on(values: tuple[Worlds, Worlds, Worlds], relevant: int, said: str) -> None:
    report = result(values, Headline.UNKNOWN, WorldsReport(2, 0, 0, relevant)).report
    assert said in notes(report)


def test_a_witness_that_the_kernel_did_not_replay_is_said() -> None:
    unreplayed = witness("safe", METAL)._replace(replayed=None)
    one = result((ALL, ALL, SOME), Headline.UNSAFE, WorldsReport(1, 0, 0, 1, (unreplayed, unreplayed)))
    assert "not independently replayed: 1 world" in rendered("full", one)
    assert "not independently replayed" not in rendered("full", CASES["worlds-fact"])


NASTY = "\x1b[31m\x07\x9b2J\u202e\udc80"


def test_untrusted_text_cannot_drive_the_terminal() -> None:
    said = ShownValue(NASTY, NASTY)
    world = ShownWorld((said,), (ShownOutcome(1, NASTY, 1, 2, NASTY),), (NASTY,), (said,))
    worlds = WorldsReport(
        1, 0, 0, 1, (Witness(NASTY, world, None),), (said,), NASTY, (NASTY,), NASTY, (NASTY,), NASTY, advice=NASTY
    )
    one = result((ALL, ALL, SOME), Headline.UNSAFE, worlds, finding(1, "r", SOME, 0))
    for form in ("full", "concise"):
        text = rendered(form, one)
        assert not any(ord(c) < 32 and c != "\n" for c in text)
        assert not any(c in text for c in "\x9b\u202e\udc80")
    for form in ("json", "sarif"):
        json.dumps(json.loads(rendered(form, one)), ensure_ascii=False).encode()
