"""The operations of HTTP and MCP: name, description, fields of the request, schema of the answer."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.app.interfaces.agents.request_fields import LONGEST_TEXT, Field, field_for
from plansafe.app.options.shared import (
    DomainFile,
    FindingLimits,
    GateOption,
    GoalFile,
    HomeOption,
    NoRulesOption,
    ProblemFile,
    ReadingOptions,
    SceneFile,
    SpecFiles,
    TypeOptions,
    VerdictOptions,
    WorldName,
)


class Operation(NamedTuple):
    """An operation. ``about`` describes it to a model or a programmer; ``answer`` names the schema of the answer."""

    name: str
    about: str
    fields: tuple[Field, ...]
    answer: str


TASK = (
    field_for(DomainFile.domain),
    field_for(ProblemFile.problem),
    field_for(SpecFiles.spec, items=100),
    field_for(SpecFiles.no_default_spec),
    field_for(WorldName.world),
    field_for(SceneFile.scene),
    field_for(GoalFile.goal),
    field_for(GoalFile.task),
    field_for(HomeOption.home),
    field_for(VerdictOptions.judge),
    field_for(VerdictOptions.min_severity),
    field_for(TypeOptions.lenient_types),
)
_PLAN = (
    Field("plan", "The text of the plan", max_length=LONGEST_TEXT, required=True),
    Field("name", "The name of the plan in the answer", default="plan"),
    field_for(ReadingOptions.reading, default=None),
    field_for(ReadingOptions.accept_remarks),
    field_for(GateOption.gate),
)
_SEARCH = (
    Field("protect", "Numbers of the steps to keep", "integer", many=True, low=1, items=10_000),
    Field("max_cost", "Maximum cost of a repair; if omitted, search until a limit of work", "number", high=1000),
)
_SESSION = Field("session", "The session: its name from open_session", required=True)
_ACTION = Field("action", "The action in PDDL, such as (go robot kitchen hall)", max_length=10_000, required=True)
_POSITION = Field("position", "Refuse unless the session is at this position", "integer", high=2**53)

AUDIT = Operation(
    "audit",
    "Audit a plan: is it executable, does it reach the goal, does it keep the safety rules? The headline is SAFE, "
    "VALID (no rules), UNSAFE, INVALID or UNKNOWN, with a finding for each violation. UNKNOWN is not safe.",
    (*TASK, *_PLAN, field_for(FindingLimits.max_findings, high=1000)),
    "report",
)
REPAIR = Operation(
    "repair",
    "Find the nearest safe plan: the fewest steps to insert, delete, replace or move. Each repair was audited as SAFE.",
    (*TASK, *_PLAN, *_SEARCH),
    "repair",
)
DIAGNOSE = Operation(
    "diagnose",
    "Find the mistakes of a plan: error classes with witnesses, the nearest safe plan, where the plan went wrong "
    "(where), and the minimal set of steps and initial facts that causes each finding (causes).",
    (
        *TASK,
        *_PLAN,
        *_SEARCH,
        Field("where", "Locate where the plan went wrong", "boolean", default=False),
        Field("regret", "With where: the cost of each step", "boolean", default=False),
        Field("causes", "The minimal cause of each finding", "boolean", default=False),
    ),
    "repair",
)
EXPLAIN = Operation(
    "explain",
    "Explain a code of a diagnostic or finding, such as SC201.",
    (Field("code", "The code", max_length=20, required=True),),
    "page",
)
FORMALISE = Operation(
    "formalise",
    "Turn a sentence into a safety rule. Give several drafts of the rule (answers): they are compiled, linted and "
    "grouped by meaning. The answer shows the draft with the most votes in words, with a plan that breaks it and a "
    "plan that keeps it. Without drafts, the model of the server writes them, if it has a model.",
    (
        *TASK[:2],
        Field("sentence", "What the robot must do, or never do", max_length=2000, required=True),
        Field("answers", "Drafts of one rule: (:process r :parameters ..)", many=True, max_length=20_000, items=50),
        Field("language", "The language of the drafts", choices=("rules", "ltl"), default="rules"),
    ),
    "formalise",
)
HAZARDS = Operation(
    "hazards",
    "List which hazards the shipped rules cover in a domain, by category of published taxonomies, and which categories "
    "have no rule.",
    (
        Field("domain", "A shipped domain with a mapping, such as virtualhome", default="virtualhome"),
        Field("taxonomy", "Only this taxonomy: safel, safeplan-bench, .."),
    ),
    "hazards",
)
CATALOGUE = Operation(
    "catalogue", "List the shipped rules (specifications), worlds and domains by name.", (), "catalogue"
)
SHOW = Operation(
    "show",
    "Show a shipped specification, domain or world: its text, or the formats that a world reads.",
    (
        Field(
            "what", "The kind of content", choices=("rules", "domain", "world", "example", "reference"), required=True
        ),
        Field("name", "Its name in the catalogue", required=True),
    ),
    "page",
)
OPEN = Operation(
    "open_session",
    "Open a session for a robot or an agent that acts step by step: a monitor that tracks the state and the rules. "
    "Ask `allowed` before each action, report it with `take`, and report sensor data with `observe`; `next` lists the "
    "possible actions. A session needs at least one rule, unless allow_no_rules is set.",
    (*TASK, field_for(NoRulesOption.allow_no_rules)),
    "session",
)
ALLOWED = Operation(
    "allowed",
    "Check whether this action may be taken now. Looks one step ahead and changes nothing. The answer has the reasons "
    "why the action cannot be executed, or the rules that it would break.",
    (_SESSION, _ACTION, _POSITION),
    "advice",
)
TAKE = Operation(
    "take",
    "Record that the action was taken: the predicted state becomes the current state. Refused unless the action is "
    "allowed; `despite` records an action that was taken although it breaks a rule. An action that cannot be executed "
    "changes nothing.",
    (
        _SESSION,
        _ACTION,
        _POSITION,
        Field("despite", "Record the action even if it breaks a rule", "boolean", default=False),
    ),
    "advice",
)
OBSERVE = Operation(
    "observe",
    "Report what the sensors see, as literals. The state is corrected; the answer has the difference to the prediction "
    "and the rules that the observed state breaks. Facts that are not mentioned stay as predicted.",
    (
        _SESSION,
        Field("facts", "(p a), (not (p a)), (= (f a) 3)", many=True, max_length=2000, items=100_000),
        Field("complete", "Facts of the mentioned predicates that are not listed are false", "boolean", default=False),
        _POSITION,
    ),
    "difference",
)
NEXT = Operation(
    "next",
    "List the legal steps of a session, each with the rules that it would break; `safe` lists the steps that break no "
    "rule. With ahead, the answer also says whether the goal can be reached safely after each safe step.",
    (
        _SESSION,
        Field("most", "List at most this number of steps", "integer", low=1, high=10_000, default=200),
        Field(
            "ahead",
            "Check for the first safe steps whether the goal can still be reached safely",
            "boolean",
            default=False,
        ),
        Field("unsafe", "Also list unsafe steps", "boolean", default=True),
    ),
    "steps",
)
STATE = Operation(
    "state",
    "Show the state of a session: the verdict of each rule until now, the true facts, whether the plan may end here.",
    (_SESSION, Field("facts", "Include the facts", "boolean", default=True)),
    "state",
)
CLOSE = Operation("close_session", "End a session.", (_SESSION,), "closed")
DETAILS = Operation(
    "details",
    "Show a part of the full answer of an earlier audit, repair or diagnose call.",
    (
        Field("answer", "`answer` of the earlier call", max_length=20, required=True),
        Field(
            "part",
            "findings (with causes, tables, places), rules, diagnostics, coverage, worlds, repairs (all of equal cost),"
            " text (the repaired plan), classes, causes, limits, ..",
            default="findings",
        ),
        Field("rule", "Only entries of this rule"),
        Field("start", "Number of the first entry, from 0", "integer", default=0),
    ),
    "details",
)

STATELESS_OPERATIONS = (AUDIT, REPAIR, DIAGNOSE, EXPLAIN, FORMALISE, HAZARDS, CATALOGUE, SHOW)
"""Operations without a session."""
SESSION_OPERATIONS = (ALLOWED, TAKE, OBSERVE, NEXT, STATE)
"""Operations of an open session."""
