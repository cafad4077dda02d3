"""What can be asked, by name: the fields of each operation, for both doors."""

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
    """An operation. ``about`` is what a model or a programmer is told; ``answer`` names the schema of the answer."""

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
    Field("plan", "The text of the plan", most=LONGEST_TEXT, required=True),
    Field("name", "What the plan is called in the answer", default="plan"),
    field_for(ReadingOptions.reading, default=None),
    field_for(ReadingOptions.accept_remarks),
    field_for(GateOption.gate),
)
_SEARCH = (
    Field("protect", "Numbers of steps to keep", "integer", many=True, low=1, items=10_000),
    Field("max_cost", "Look for no repair that costs more; left out: until a limit of work", "number", high=1000),
)
_SESSION = Field("session", "The session, as open_session named it", required=True)
_ACTION = Field("action", "The action in PDDL, such as (go robot kitchen hall)", most=10_000, required=True)
_POSITION = Field("position", "Refuse unless the session stands at this position", "integer", high=2**53)

AUDIT = Operation(
    "audit",
    "Judge a plan: can it be executed, does it reach the goal, does it keep the safety rules? The headline is SAFE, "
    "VALID (no rules), UNSAFE, INVALID or UNKNOWN, with a finding for each violation. UNKNOWN is not safe.",
    (*TASK, *_PLAN, field_for(FindingLimits.max_findings, high=1000)),
    "report",
)
REPAIR = Operation(
    "repair",
    "Find the nearest safe plan: the fewest steps to insert, delete, replace or move. Each repair was judged SAFE.",
    (*TASK, *_PLAN, *_SEARCH),
    "repair",
)
DIAGNOSE = Operation(
    "diagnose",
    "Say what is wrong with a plan: classes of error with witnesses, the nearest safe plan, where it went wrong "
    "(where), and the least of plan and initial state that is enough for each finding (causes).",
    (
        *TASK,
        *_PLAN,
        *_SEARCH,
        Field("where", "Locate where the plan went wrong", "boolean", default=False),
        Field("regret", "With where: what each step cost", "boolean", default=False),
        Field("causes", "The minimal cause of each finding", "boolean", default=False),
    ),
    "repair",
)
EXPLAIN = Operation(
    "explain",
    "Explain a code of a diagnostic or finding, such as SC201.",
    (Field("code", "The code", most=20, required=True),),
    "page",
)
FORMALISE = Operation(
    "formalise",
    "Turn a sentence into a safety rule. Give several drafts of the rule (answers): they are compiled, linted, grouped "
    "by what they mean, and the one with the most votes is shown in words, with a plan that breaks it and one that "
    "keeps it. Without answers the model of the server writes them, if it has one.",
    (
        *TASK[:2],
        Field("sentence", "What the robot must do, or never do", most=2000, required=True),
        Field("answers", "Drafts of one rule: (:process r :parameters ..)", many=True, most=20_000, items=50),
        Field("language", "How drafts are written", choices=("rules", "ltl"), default="rules"),
    ),
    "formalise",
)
HAZARDS = Operation(
    "hazards",
    "Which hazards the shipped rules cover in a domain, by category of published taxonomies, and what has no rule.",
    (
        Field("domain", "A shipped domain with a mapping, such as virtualhome", default="virtualhome"),
        Field("taxonomy", "Only this one: safel, safeplan-bench, .."),
    ),
    "hazards",
)
CATALOGUE = Operation(
    "catalogue",
    "The shipped rules (specifications), worlds and domains, by name.",
    (),
    "catalogue",
)
SHOW = Operation(
    "show",
    "A shipped specification, domain or world: its text, or what a world reads.",
    (
        Field("what", "What it is", choices=("rules", "domain", "world"), required=True),
        Field("name", "Its name, as the catalogue has it", required=True),
    ),
    "page",
)
OPEN = Operation(
    "open_session",
    "Begin a session for a robot or an agent that acts step by step: a monitor that knows the state and what the rules "
    "remember. Ask `allowed` before each action, `take` it, `observe` what the sensors see; `next` lists what may be "
    "done. Needs at least one rule, unless allow_no_rules.",
    (*TASK, field_for(NoRulesOption.allow_no_rules)),
    "session",
)
ALLOWED = Operation(
    "allowed",
    "May this action be taken now? Looks one step ahead and changes nothing: reasons why it cannot be executed, or the "
    "rules that it would break.",
    (_SESSION, _ACTION, _POSITION),
    "advice",
)
TAKE = Operation(
    "take",
    "The action is taken: the predicted state becomes the present one. Refused unless it is allowed; `despite` records "
    "an action that was taken although it breaks a rule. Not executable: nothing changes.",
    (_SESSION, _ACTION, _POSITION, Field("despite", "Also where a rule breaks", "boolean", default=False)),
    "advice",
)
OBSERVE = Operation(
    "observe",
    "What the sensors see, as literals: the state is corrected, and the difference to the prediction returned, with "
    "rules that are broken in the state as it was seen. What is not mentioned stays as predicted.",
    (
        _SESSION,
        Field("facts", "(p a), (not (p a)), (= (f a) 3)", many=True, most=2000, items=100_000),
        Field("complete", "Facts of the mentioned predicates that are not listed are false", "boolean", default=False),
        _POSITION,
    ),
    "difference",
)
NEXT = Operation(
    "next",
    "The legal steps of a session, each with the rules that it would break; `safe` are those that break none. With "
    "ahead, whether each safe step leaves a safe way to the goal.",
    (
        _SESSION,
        Field("most", "List at most so many", "integer", low=1, high=10_000, default=200),
        Field("ahead", "Ask of the first safe steps whether a safe way is left", "boolean", default=False),
        Field("unsafe", "List unsafe steps too", "boolean", default=True),
    ),
    "steps",
)
STATE = Operation(
    "state",
    "Where a session stands: the verdict of each rule so far, the facts that hold, whether the plan may end here.",
    (_SESSION, Field("facts", "With the facts", "boolean", default=True)),
    "state",
)
CLOSE = Operation("close_session", "End a session.", (_SESSION,), "closed")

JUDGING = (AUDIT, REPAIR, DIAGNOSE, EXPLAIN, FORMALISE, HAZARDS, CATALOGUE, SHOW)
"""Operations that stand for themselves."""
WITHIN = (ALLOWED, TAKE, OBSERVE, NEXT, STATE)
"""Operations of a session that is open."""
