"""The names under which structured answers give actions, arguments, numbers, remarks and marks."""

from __future__ import annotations

import re


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


ACTION_KEYS = _names(
    "action name act command operator function tool skill verb primitive actionname toolname functionname pddlaction"
)
ARGUMENT_KEYS = _names(
    "args arguments parameters params objects argument parameter object target input toolinput kwargs"
)
AGENT_KEYS = _names("agent robot actor subject character char")
NUMBER_KEYS = _names("step id index number no order stepnumber stepid stepno n i nr # step#")
REMARK_KEYS = _names(
    "reason reasoning rationale explanation description comment comments note notes thought thoughts why purpose "
    "precondition preconditions effect effects expectedstate justification details summary goal task instruction "
    "title query safetynotes meaning text content message"
)
PLAN_KEYS = _names(
    "plan steps actions actionsequence sequence finalplan plansteps actionplan solution answer output result response "
    "pddlplan actionlist steplist executionplan toolcalls"
)
CALL_KINDS = _names("action function functioncall tool toolcall tooluse step")
"""Values of ``type`` that only say that a step is one."""

REMOVED_KEYS = _names(
    "skip skipped remove removed delete deleted cancel cancelled canceled disabled ignore ignored omit"
)
KEPT_KEYS = _names("enabled active include included keep selected")
DONE_KEYS = _names("done completed complete checked executed finished ticked")
STATUS_KEYS = _names("status state result outcome")
HARMLESS_WHEN_FALSE = _names("optional conditional parallel concurrent simultaneous repeat loop async background")
REMOVED_WORDS = _names(
    "removed skipped skip cancelled canceled deleted dropped omitted retracted disabled rejected obsolete"
)
FAILED_WORDS = _names("failed failure fail error aborted impossible blocked")
DONE_WORDS = _names("done completed complete finished success successful succeeded ok passed executed")
PENDING_WORDS = _names("pending todo planned open ready queued")
TRUE_WORDS = _names("true yes on 1 y")
FALSE_WORDS = _names("false no off 0 n none null")
END_WORDS = _names("finish finished done end stop terminate")
"""What a transcript calls at its end. It is a step only where the task has such an action."""

NUMBERED_ARGUMENT = re.compile(r"(?:arg|args|argument|param|parameter|object|obj)(\d)\Z")


def bare_key(text: str) -> str:
    """Return a key in lower case without what only separates its words."""
    return re.sub(r"[-_ *`?]", "", text.lower())
