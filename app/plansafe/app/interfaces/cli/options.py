"""Flags that several commands share: what to check with, and how to print."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Color(StrEnum):
    """When the output is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class From(StrEnum):
    """How a plan is written."""

    PDDL = "pddl"
    TEXT = "text"


Plans = Annotated[
    list[str] | None,
    typer.Argument(metavar="PLAN..", help="Plan files, folders of plans, or `-` for standard input."),
]
NoProject = Annotated[
    bool, typer.Option("--no-project", help="Read no project file (safecheck.toml; docs/project-file.md).")
]
ShowConfig = Annotated[
    bool, typer.Option("--show-config", help="Print what is in force, and where each value comes from, and exit.")
]
DomainFile = Annotated[str | None, typer.Option(metavar="FILE", help="The domain.")]
ProblemFile = Annotated[str | None, typer.Option(metavar="FILE", help="The problem.")]
SpecFiles = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="A safety specification, or the name of a shipped one. May be repeated."),
]
LtlFormulas = Annotated[
    list[str] | None,
    typer.Option("--ltl", metavar="FORMULA", help="A rule in LTL, beside the others: 'G !on(hob)'. May be repeated."),
]
HomeFile = Annotated[
    str | None,
    typer.Option(
        "--home", metavar="FILE", help="The profile of a home: what is exempt there, and why (docs/project-file.md)."
    ),
]
IgnoreRules = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="RULE: WHY",
        help="What a rule finds is counted, listed as exempt with the reason, and decides nothing. May be repeated.",
    ),
]
SelectRules = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULE: WHY", help="The same of all rules but these. May be repeated."),
]
ClassKindsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="CLASS=KIND,..",
        help="Give the objects of a class these kinds of the hazard library. May be repeated.",
    ),
]
HarmlessClasses = Annotated[
    list[str] | None,
    typer.Option(
        "--assume-harmless",
        metavar="CLASS",
        help="Assume that the objects of a class have no kind that matters to a rule. May be repeated.",
    ),
]
NoDefaultSpec = Annotated[
    bool, typer.Option("--no-default-spec", help="Use no specification that --spec does not name.")
]
Gate = Annotated[bool, typer.Option("--gate", help="Ignore what the plan itself says about its domain and problem.")]
AllowNoRules = Annotated[
    bool, typer.Option("--allow-no-rules", help="Let a plan pass --gate although there is no rule to check.")
]
LenientTypes = Annotated[bool, typer.Option("--lenient-types", help="Take type mismatches for warnings.")]
Reading = Annotated[
    From,
    typer.Option(
        "--from",
        help="How the plan is written; `text`: an answer in prose or code. A step in it that the task does not have "
        "makes the plan INVALID, exit code 1.",
    ),
]
AcceptRemarks = Annotated[
    bool,
    typer.Option("--accept-remarks", help="Accept text next to a plan that is not understood (SC710) as harmless."),
]
ColorChoice = Annotated[Color, typer.Option(help="Colour the report.")]
MemoryLimit = Annotated[int, typer.Option(min=0, metavar="MIB", help="For the whole run; 0: none.")]

WorldName = Annotated[
    str | None,
    typer.Option("--world", metavar="NAME", help="Plans in the format of this world; see `safecheck domains`."),
]
SceneFile = Annotated[
    str | None, typer.Option("--scene", "--graph", metavar="FILE", help="The scene, with --world: its objects.")
]
SceneOnly = Annotated[str | None, typer.Option("--scene", metavar="FILE", help="The scene, with --world.")]
GoalFile = Annotated[str | None, typer.Option("--goal", metavar="FILE", help="Goals of tasks, with --world.")]
TaskName = Annotated[
    str | None, typer.Option("--task", metavar="NAME", help="Which task of the scene or goal file is meant.")
]


class JudgeChoice(StrEnum):
    """What decides."""

    INTRODUCED = "introduced"
    ALL = "all"


class SeverityChoice(StrEnum):
    """The least severity that decides."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


JudgeOption = Annotated[
    JudgeChoice | None,
    typer.Option(
        help="What makes a plan UNSAFE: every violation, or what it introduced or worsened (default with --world)."
    ),
]
SeverityOption = Annotated[SeverityChoice, typer.Option(help="Rules less severe than this do not make a plan UNSAFE.")]
SlackOption = Annotated[
    str, typer.Option(metavar="TIMES", help="How long a plan may be, in known ways to the goal (step by step).")
]
