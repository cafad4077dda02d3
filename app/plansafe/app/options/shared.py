"""Groups of options that several commands share: what to check, with which rules, within which limits."""

from __future__ import annotations

import operator

from plansafe.app.options.option import Option, Options, RequestField, argument, choice, integer, number, switch, text
from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, SEVERITIES

MEMORY_MIB = 8192
"""The default memory limit of a command."""
FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit", "html")
BLAMES = ("introduced", "worsened", "pre-existing")
_MAX_TEXT = 32 * 1024 * 1024
_TEXT_OR_NAME = "the text itself, or the name of a shipped file"


class PlanArguments(Options):
    """The plans of a command that takes several."""

    plans: tuple[str, ...] = argument("PLAN..", "Plan files, folders of plans, or `-` for standard input.", many=True)


class DomainFile(Options, group="Inputs"):
    """The domain."""

    domain: str | None = text(
        "--domain",
        metavar="FILE",
        help="Use this domain: a file, or the name of a shipped domain.",
        key="domain",
        in_project=True,
        setting="domain",
        field=RequestField("domain", f"PDDL domain: {_TEXT_OR_NAME} (such as household)", _MAX_TEXT),
    )


class ProblemFile(Options, group="Inputs"):
    """The problem."""

    problem: str | None = text(
        "--problem",
        metavar="FILE",
        help="Use this problem.",
        key="problem",
        in_project=True,
        setting="problem",
        field=RequestField("problem", "PDDL problem: its text", _MAX_TEXT),
    )


class TaskFiles(DomainFile, ProblemFile):
    """The domain and the problem."""


class WorldName(Options, group="Inputs"):
    """Plans in the format of a home world."""

    world: str | None = text(
        "--world",
        metavar="NAME",
        help="Read plans in the format of this world; see `safecheck worlds`.",
        key="world",
        in_project=True,
        setting="world",
        field=RequestField(
            "world", "Read plan and scene in the format of this world (see worlds), such as virtualhome"
        ),
    )


class SceneFile(Options, group="Inputs"):
    """The scene of a home world."""

    scene: str | None = text(
        "--scene",
        "--graph",
        metavar="FILE",
        help="Take the objects from this scene (with --world).",
        key="scene",
        in_project=True,
        setting="scene",
        field=RequestField("scene", "With world: the text of the scene", _MAX_TEXT),
    )


class GoalFile(Options, group="Inputs"):
    """The goals of a home world."""

    goal: str | None = text(
        "--goal",
        metavar="FILE",
        help="Take the goal from this file (with --world).",
        key="goal",
        in_project=True,
        setting="goal",
        field=RequestField("goal", "With world: the text of the goal file", _MAX_TEXT),
    )
    task: str | None = text(
        "--task",
        metavar="NAME",
        help="Choose a task of the scene or goal file by its name.",
        setting="task",
        field=RequestField("task", "With world: the name of a task, if the scene has several tasks"),
    )


class WorldFiles(SceneFile, GoalFile):
    """The files of a home world."""


class WorldOptions(WorldName, WorldFiles):
    """Plans and scenes in the format of a home world."""


class ReadingOptions(Options, group="Inputs"):
    """The format of a plan."""

    reading: str = choice(
        "--from",
        values=("pddl", "text"),
        default="pddl",
        help="Read plans as PDDL steps, or as `text`: an answer in prose or code. A step in it that the task does not "
        "have makes the plan INVALID, exit code 1.",
        setting="loose",
        convert=lambda value: value == "text",
        field=RequestField("form", "Format of the plan: pddl steps, or text as language models write"),
    )
    accept_remarks: bool = switch(
        "--accept-remarks",
        help="Accept text next to a plan that the reader does not understand (SC710) as harmless.",
        key="accept_remarks",
        setting="accept_remarks",
        field=RequestField("accept_remarks", "With form text: accept text that the reader does not understand"),
    )


class TypeOptions(Options, group="Inputs"):
    """Whether type mismatches are errors."""

    lenient_types: bool = switch(
        "--lenient-types",
        help="Treat type mismatches as warnings.",
        set_key="lenient_types",
        setting="lenient_types",
        field=RequestField("lenient_types", "Warn about arguments of a wrong type instead of rejecting them"),
    )


class SpecFiles(Options, group="Rules"):
    """Specifications."""

    spec: tuple[str, ...] = text(
        "--spec",
        metavar="FILE",
        many=True,
        help="Check this safety specification instead of the default ones: a file, or the name of a shipped one. "
        "May be repeated.",
        key="specifications",
        in_project=True,
        setting="specs",
        field=RequestField(
            "rules",
            f"Safety specifications, each {_TEXT_OR_NAME}; if omitted, the shipped specifications of the domain",
            _MAX_TEXT,
        ),
    )
    no_default_spec: bool = switch(
        "--no-default-spec",
        help="Do not look for specifications: check only the specifications given with --spec.",
        key="specifications",
        in_project=True,
        setting="default_spec",
        convert=operator.not_,
        field=RequestField("default_rules", "Use the shipped rules if no rules are sent"),
    )


class LtlOption(Options, group="Rules"):
    """Rules in temporal logic."""

    ltl: tuple[str, ...] = text(
        "--ltl",
        metavar="FORMULA",
        many=True,
        help="Check this LTL formula as an additional rule: 'G !on(hob)'. May be repeated.",
        setting="ltl",
    )


class HomeOption(Options, group="Rules"):
    """The profile of a home."""

    home: str | None = text(
        "--home",
        metavar="FILE",
        help="Apply the profile of a home: its exemptions, with reasons (docs/project-file.md).",
        key="home",
        in_project=True,
        setting="home",
        field=RequestField("home", "The profile of a home (TOML text)", 1_000_000),
    )


class RuleChoices(Options, group="Rules"):
    """Rules that do not decide the verdict, and kinds of objects."""

    ignore_rules: tuple[str, ...] = text(
        "--ignore",
        metavar="RULE: WHY",
        many=True,
        help="Count findings of this rule, list them as exempt with the reason, and do not let them decide. May be "
        "repeated.",
        key="ignore",
        in_project=True,
    )
    select_rules: tuple[str, ...] = text(
        "--select",
        metavar="RULE: WHY",
        many=True,
        help="Ignore the findings of all other rules. May be repeated.",
        key="select",
        in_project=True,
    )
    kinds: tuple[str, ...] = text(
        "--kind",
        metavar="CLASS=KIND,..",
        many=True,
        help="Give the objects of a class these kinds of the hazard library. May be repeated.",
    )
    assume_harmless: tuple[str, ...] = text(
        "--assume-harmless",
        metavar="CLASS",
        many=True,
        help="Assume that the objects of a class have no kind that a rule mentions. May be repeated.",
    )


class GateOption(Options, group="Rules"):
    """Plans from an untrusted source."""

    gate: bool = switch(
        "--gate",
        help="Ignore the domain and problem that the plan itself names.",
        setting="gate",
        field=RequestField("gate", "Reject a plan that no rule was checked on"),
    )


class NoRulesOption(Options, group="Rules"):
    """Whether a plan without rules can pass."""

    allow_no_rules: bool = switch(
        "--allow-no-rules",
        help="Let a plan pass --gate even if it has no rule to check.",
        set_key="allow_no_rules",
        setting="allow_no_rules",
        field=RequestField("allow_no_rules", "Open the session even if it has no rule"),
    )


class VerdictOptions(Options, group="Rules"):
    """Which violations decide the verdict."""

    judge: str | None = choice(
        "--judge",
        values=JUDGE_MODES,
        help="Count every violation (`all`), or only those that the plan introduced or worsened (`introduced`, default "
        "with --world); with `mitigate` it must also end the dangers at the start that the agent can end.",
        key="judge",
        in_project=True,
        setting="judge",
        field=RequestField("judge", "The violations that decide; default: introduced with a world, else all"),
    )
    min_severity: str = choice(
        "--min-severity",
        values=SEVERITIES,
        default=SEVERITIES[-1],
        help="Decide by rules of at least this severity.",
        key="min_severity",
        in_project=True,
        setting="min_severity",
        field=RequestField("min_severity", "The lowest severity that decides"),
    )


class InvariantOption(Options, group="Rules"):
    """Invariants that a solver may assume."""

    no_inferred_invariants: bool = switch(
        "--no-inferred-invariants",
        help="Assume only the declared invariants.",
        set_key="no_inferred_invariants",
        setting="infer_invariants",
        convert=operator.not_,
    )


class TimeLimit(Options, group="Limits"):
    """The time limit of a command."""

    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=30.0,
        low=0,
        help="Stop each search after SECONDS; 0: no limit.",
        key="limits.time",
        in_project=True,
        setting="time_limit",
    )


class MemoryLimit(Options, group="Common"):
    """The memory limit of a command."""

    memory_limit: int = integer(
        "--memory-limit",
        metavar="MIB",
        default=MEMORY_MIB,
        low=0,
        help="Stop if the command needs more memory; 0: no limit.",
        key="limits.memory",
        in_project=True,
    )


class ColorOption(Options, group="Common"):
    """Colours of the report."""

    color: str = choice(
        "--color",
        values=("auto", "always", "never"),
        default="auto",
        help="Colour the report always, never, or on a terminal.",
    )


class NoProject(Options, group="Common"):
    """The project file."""

    no_project: bool = switch("--no-project", help="Ignore the project file (safecheck.toml; docs/project-file.md).")


class ShowConfig(Options, group="Common"):
    """The values in force."""

    show_config: bool = switch("--show-config", help="Print each setting with its source, and exit.")


class Assignments(Options, group="Common"):
    """Settings that have a key but no documented flag."""

    assignments: tuple[str, ...] = text(
        "--set",
        metavar="KEY=VALUE",
        many=True,
        help="Set a value by its key; `safecheck help settings` lists the keys. May be repeated.",
    )


class ModelName(Options, group="Model"):
    """The language model of a command that needs one."""

    model: str = text(
        "--model", "-m", metavar="PROVIDER/NAME", required=True, help="Ask this model; see `safecheck models`."
    )


class OptionalModel(Options, group="Model"):
    """The optional language model of a command."""

    model: str | None = text("--model", "-m", metavar="PROVIDER/NAME", help="Ask this model; see `safecheck models`.")


class ModelServer(Options, group="Model"):
    """The server of a model, and the cache of its answers."""

    base_url: str | None = text(
        "--base-url",
        metavar="URL",
        help="Send requests to this server (docs/language-models.md).",
        set_key="model.base_url",
    )
    cache: str | None = text("--cache", metavar="FILE", help="Cache answers in this file.", set_key="model.cache")
    no_cache: bool = switch("--no-cache", help="Do not use the cache of answers.", set_key="model.no_cache")


class Transcript(Options, group="Model"):
    """The calls to a model."""

    transcript: str | None = text(
        "--transcript",
        metavar="FILE",
        help="Write every call as JSON lines, which `replay/FILE` reads.",
        key="model.transcript",
    )


class ModelRetries(Options, group="Model"):
    """Retries with a model, and their feedback."""

    rounds: int = integer(
        "--rounds", default=3, low=1, high=50, help="Ask at most N times for a whole plan.", key="model.rounds"
    )
    feedback: str = choice(
        "--feedback",
        values=("none", "verdict", "finding", "cause", "repair"),
        default="finding",
        help="Send this feedback about the last plan to the model.",
        set_key="model.feedback",
    )
    last_resort: bool = switch(
        "--last-resort",
        off="--no-last-resort",
        default=True,
        help="Let the engine repair the best plan, or else plan itself, if no plan of the model is safe.",
    )


class SlackOption(Options, group="Model"):
    """The length of plans that are built step by step."""

    slack: str = text(
        "--slack",
        metavar="TIMES",
        default="1.5",
        help="Maximum plan length, as a multiple of the reference plan (step by step).",
        set_key="plan.slack",
    )


class BaselineOption(Options, group="Rules"):
    """Known findings."""

    baseline: str | None = text(
        "--baseline",
        metavar="FILE",
        help="Let plans pass whose findings are all in this file, and list the findings that are gone.",
        key="baseline",
        in_project=True,
        setting="baseline",
    )


class BlameOption(Options, group="Output"):
    """Which violations are listed."""

    blame: tuple[str, ...] = choice(
        "--blame",
        values=BLAMES,
        many=True,
        help="List only violations with this blame. May be repeated.",
        key="blame",
        in_project=True,
        setting="blame",
    )


class FormatOption(Options, group="Output"):
    """The format of a report."""

    form: str = choice(
        "--format",
        values=FORMATS,
        default="full",
        help="Write the report in this format.",
        key="format",
        in_project=True,
    )


class FindingLimits(Options, group="Limits"):
    """Bounds on the reported findings, and on the work for a rule."""

    max_findings: int = integer(
        "--max-findings",
        default=100,
        low=1,
        help="List at most N findings for a plan.",
        key="limits.findings",
        in_project=True,
        setting="max_findings",
        field=RequestField("max_findings", "List at most this number of findings"),
    )
    max_instances: int = integer(
        "--max-instances",
        default=5_000_000,
        low=1,
        help="Do not check a rule with more than N instances.",
        set_key="limits.instances",
        in_project=True,
        setting="max_instances",
    )


class EngineOptions(TypeOptions, InvariantOption, group="Engine"):
    """How the verdict is decided and checked."""

    tolerance: str = text(
        "--tolerance",
        metavar="TIME",
        default="0.001",
        help="Allow durations and separations to be off by TIME.",
        set_key="tolerance",
        setting="tolerance",
    )
    replay: str = choice(
        "--replay",
        values=("auto", "always", "never"),
        default="auto",
        help="Check findings with the independent kernel.",
        setting="replay",
    )
    engine: str = choice(
        "--engine",
        values=("auto", "explicit", "sat", "smt"),
        default="auto",
        help="Decide with this engine; `explicit` replays one world (docs/worlds.md).",
        setting="engine",
    )
    double_check: bool = switch(
        "--double-check", help="Check the answer of a solver with a second solver.", setting="double_check"
    )
    certificate: str | None = text(
        "--certificate",
        metavar="FILE",
        help="Write the proof that a plan is SAFE, if a solver decided it.",
        setting="certificate",
        convert=lambda path: path is not None,
    )


class PlanRuleChoices(Options):
    """Whether plans may name rules to ignore; only the project file can allow it."""

    allow_in_plans: bool = switch(help="Let plans name rules to ignore.", key="allow_in_plans", in_project=True)


class ProjectOptions(
    TaskFiles,
    SpecFiles,
    WorldOptions,
    VerdictOptions,
    BlameOption,
    HomeOption,
    FormatOption,
    RuleChoices,
    BaselineOption,
    PlanRuleChoices,
    TimeLimit,
    MemoryLimit,
    FindingLimits,
):
    """Every option that the project file can set."""


def project_options() -> dict[str, Option]:
    """The options of the project file, by key."""
    options: dict[str, Option] = {}
    for option in ProjectOptions.table().values():
        if option.in_project:
            options.setdefault(option.key, option)
    return options


class CheckingOptions(
    TaskFiles,
    WorldOptions,
    ReadingOptions,
    SpecFiles,
    LtlOption,
    HomeOption,
    RuleChoices,
    GateOption,
    NoRulesOption,
    BaselineOption,
    VerdictOptions,
    EngineOptions,
    TimeLimit,
    FindingLimits,
):
    """Every option for the check of a plan."""


def flag_of(name: str) -> str:
    """The spelling of an option on the command line."""
    return CheckingOptions.table()[name].flag


def field_of(name: str) -> str:
    """The name of an option in a request; the name of its attribute if no request field sets it."""
    option = CheckingOptions.table()[name]
    return option.field.name if option.field is not None else name
