"""The names under which structured answers give actions, arguments, numbers, remarks and marks."""

from __future__ import annotations

import re


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


ACTION_KEYS = _names(
    "action name act command operator function tool skill verb primitive actionname toolname functionname pddlaction "
    "op operation operationname cmd call do functioncall toolcall aktion "
    "acción azione handlung"
)
ARGUMENT_KEYS = _names(
    "args arguments parameters params objects argument parameter object target input toolinput kwargs with "
    "argv operands actionargs actionarguments actionparameters functionargs inputs argumente argumentos argomenti"
)
ARGUMENT_LIST_KEYS = _names("args arguments parameters params objects kwargs operands inputs")
AGENT_KEYS = _names("agent robot actor subject character char")
NUMBER_KEYS = _names("step id index number no order stepnumber stepid stepno n i nr # step# seq idx pos t")
REMARK_KEYS = _names(
    "reason reasoning rationale explanation description comment comments note notes thought thoughts why purpose "
    "precondition preconditions effect effects expectedstate justification details summary goal task instruction "
    "title query safetynotes meaning text content message remark remarks "
    "error hint rule safety outcome risk expectedresult expectedoutcome expectedeffect"
)
PLAN_KEYS = _names(
    "plan steps actions actionsequence sequence finalplan plansteps actionplan solution answer output result response "
    "pddlplan actionlist steplist executionplan toolcalls "
    "tasks commands calls operations moves procedure workflow "
    "phases groups stages sections segments subplans"
)
FINAL_KEYS = _names("final revised corrected finalversion revisedversion correctedversion finalanswer")
DRAFT_KEYS = _names("draft original old firstdraft initialdraft firstversion oldversion rejected")
"""Keys of two versions of a plan: the final one is the plan, the others are drafts."""
STEP_LIST_KEYS = PLAN_KEYS - _names("solution answer output result response")
CALL_KINDS = _names("action function functioncall tool toolcall tooluse step")
"""Values of ``type`` that only say that a step is one."""

REMOVED_KEYS = _names(
    "skip skipped remove removed delete deleted cancel cancelled canceled disabled ignore ignored omit"
)
KEPT_KEYS = _names("enabled active include included keep selected")
DONE_KEYS = _names("done completed complete checked executed finished ticked")
SUCCESS_KEYS = _names("ok success succeeded successful")
STATUS_KEYS = _names("status state result outcome review")
SCENE_KEYS = _names(
    "initialstate initstate init scene world environment objects goal goals goalstate finalstate rules constraints "
    "assumptions warnings notes metadata meta"
)
"""Keys of conditions and goals, not of steps. Their values may be lists and maps."""
PLAN_LIKE_WORDS = _names(
    "if when unless until while else or not instead alternative alternatives option options optional fallback "
    "repeat times count loop probability chance replace replaces replaced replacement supersede supersedes "
    "superseded remove removed delete deleted skip skipped cancel cancelled undo retry retries depends requires "
    "after before parallel keep kept include included exclude excluded done tick ticked choose chosen select "
    "selected vote approve approved reject rejected valid invalid status state review verdict decision final "
    "version draft revision revised run execute executed perform needed required mandatory use used active "
    "enabled disabled enable disable next then only except without never no either branch group variant choice "
    "mode condition conditional order phase recovery cleanup setup prelude steps step plan plans actions action"
)
"""Words of a field's name that may decide which steps are done, how often or in which order."""
GROUP_WORDS = _names("group phase order step steps plan plans action actions")
"""Words that name a group of steps, and decide nothing about it."""
HARMLESS_WHEN_FALSE = _names("optional conditional parallel concurrent simultaneous repeat loop async background")
REMOVED_WORDS = _names(
    "removed skipped skip cancelled canceled deleted dropped omitted retracted disabled rejected obsolete superseded "
    "withdrawn excluded discarded scrapped"
)
FAILED_WORDS = _names("failed failure fail error aborted impossible blocked")
DONE_WORDS = _names("done completed complete finished success successful succeeded ok passed executed")
CHOSEN_WORDS = _names("active kept keep included approved accepted confirmed enabled final")
PENDING_WORDS = _names("pending todo planned open ready queued scheduled waiting upcoming notstarted notdone")
TRUE_WORDS = _names("true yes on 1 y")
FALSE_WORDS = _names("false no off 0 n none null")
SENDING_WORDS = _names(
    "submit execute run send return give final answer report propose create make perform provide set do take call "
    "robot plan task step steps action actions sequence command"
)
"""Words of the name of a function that takes a step or a plan as its argument: ``submit_plan``, ``do_action``."""
END_WORDS = _names("finish finished done end stop terminate")
"""What a transcript calls at its end. It is a step only where the task has such an action."""

NUMBERED_ARGUMENT = re.compile(r"(?:arg|args|argument|param|parameter|object|obj)(\d)\Z")

CHANGE_WORDS = _names(
    "repeat repeats repetition repetitions times loop loops iteration iterations cycles skip skipped remove removed "
    "omit omitted except exclude excluded reverse reversed order only replace replaced insert undo "
    "step action actions setup cleanup prelude recovery then next last first before after end finally fallback "
    "alternative instead"
)
"""Words of a field next to the plan that change it, unless its value says no."""


def bare_key(text: str) -> str:
    """Return a key in lower case without what only separates its words."""
    return re.sub(r"[-_ *`?.]", "", text.lower())


def field_words(text: str) -> frozenset[str]:
    """Return the words of a key, in lower case, also from ``camelCase`` and ``snake_case``."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return frozenset(re.findall(r"[^\W\d_]+", spaced.lower()))
