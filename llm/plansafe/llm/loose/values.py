"""JSON and Python values as plans: lists of steps, objects that name an action, the dictionaries of some benchmarks."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.data_text import Value
from plansafe.llm.loose.groups import Argument
from plansafe.llm.loose.lines import Found, Lines
from plansafe.llm.loose.names import Refused, key, short
from plansafe.llm.loose.placing import Resolved

ACTION_KEYS = frozenset(
    ("action", "name", "act", "command", "operator", "function", "tool", "skill", "verb", "primitive", "actionname")
)
ARGUMENT_KEYS = frozenset(
    ("args", "arguments", "parameters", "params", "objects", "argument", "parameter", "object", "target")
)
_AGENT = frozenset(("agent", "robot", "actor", "subject", "character", "char"))
NUMBER_KEYS = frozenset(("step", "id", "index", "number", "no", "order", "stepnumber", "stepid", "stepno", "n", "i"))
_SAID_WORDS = (
    "reason reasoning rationale explanation description comment comments note notes thought thoughts why purpose "
    "precondition preconditions effect effects expectedstate justification details summary goal task instruction "
    "title query safetynotes"
)
SAID_KEYS = frozenset(_SAID_WORDS.split())
_PLAN_WORDS = (
    "plan steps actions actionsequence sequence finalplan plansteps actionplan solution answer output result "
    "response pddlplan actionlist steplist executionplan"
)
_PLAN = frozenset(_PLAN_WORDS.split())
_STEP_KEY = re.compile(r"(?:step|action)?[ _-]?(\d{1,4})\Z", re.IGNORECASE)
_MARK = re.compile(r"[ \t]*(?:(?:step[ _-]?)?\d{1,4}[.):]|[-*\u2022])[ \t]+", re.IGNORECASE)
_NUMERIC = re.compile(r"\d[\d.]{0,20}\Z")


class Placed(NamedTuple):
    """A step of a value, or why one is none, and where in the cleaned text."""

    found: Found | Refused
    start: int
    end: int


class Values:
    """Reads values. ``said`` collects texts that stand beside the plan; ``skipped`` whether something was left out."""

    def __init__(self, lines: Lines) -> None:
        self.names, self.lines = lines.names, lines
        self.said: list[tuple[str, int, int]] = []
        self.skipped = False

    def plan(self, value: Value) -> list[Placed]:
        """The steps of a value that stands alone; a single refusal where it is no plan."""
        for _ in range(8):
            inner = self._inside(value)
            if isinstance(inner, Refused):
                return [Placed(inner, value.start, value.end)]
            if inner is None:
                break
            value = inner
        if value.kind == "list":
            return self._list(value)
        return self._step(value)

    def is_step(self, value: Value) -> bool:
        """Whether a value is one step by itself, as in a file with one object a line."""
        if value.kind == "list":
            return isinstance(self.sequence(value).found, Found)
        names = {key(k.text).replace("-", "") for k, _ in value.pairs}
        return bool(names & ACTION_KEYS) or (len(value.items) == 2 and isinstance(self._action_of(value), str))

    def _action_of(self, value: Value) -> str | None:
        action = self.names.action(value.items[0].text) if value.items else None
        return None if action is None or isinstance(action, Refused) else action.name

    def _inside(self, value: Value) -> Value | Refused | None:
        """The value of the one key that holds the plan; ``None`` if the value is the plan itself."""
        if value.kind != "object":
            return None
        holding = [(k, v) for k, v in value.pairs if bare_key(k) in _PLAN and v.kind in ("list", "object")]
        if not holding or any([bare_key(k) in ACTION_KEYS for k, _ in value.pairs]):
            return None
        if len(holding) > 1:
            return Refused(
                SC.PLANS_DIFFER, f"`{holding[0][0].text}` and `{holding[1][0].text}` may both be the plan", "give one"
            )
        for k, v in value.pairs:
            if v is holding[0][1]:
                continue
            if bare_key(k) not in SAID_KEYS or v.kind not in ("string", "bare", "list"):
                return Refused(
                    SC.NOT_UNDERSTOOD, f"`{short(k.text)}` beside the plan is not understood", "give the plan alone"
                )
            self._say(v)
        return holding[0][1]

    def _say(self, value: Value) -> None:
        self.skipped = True
        for item in value.items:
            if item.kind in ("list", "object"):
                self.said.append(("...", item.start, item.end))
            else:
                self.said.append((item.text, item.start, item.end))
        if not value.items:
            self.said.append((value.text, value.start, value.end))

    def _list(self, value: Value) -> list[Placed]:
        """A list of steps; a flat list of words may also be one step."""
        steps: list[Placed] = []
        expected: int | None = None
        for item in value.items:
            if item.kind == "object" and (number := self._numbered(item)) is not None:
                if expected is not None and number != expected:
                    refused = Refused(
                        SC.NUMBERS_OUT_OF_ORDER,
                        f"step {number} stands where step {expected} should",
                        "number the steps",
                    )
                    return [Placed(refused, item.start, item.end)]
                expected = number + 1
            steps += self._step(item)
        flat = value.items and all([item.kind in ("string", "bare") for item in value.items])
        if flat and any([isinstance(step.found, Refused) for step in steps]):
            single = self.sequence(value)
            if isinstance(single.found, Found):
                return [single]
        return steps

    def _numbered(self, item: Value) -> int | None:
        for k, v in item.pairs:
            if bare_key(k) in NUMBER_KEYS and v.text.isdecimal() and len(v.text) < 5:
                return int(v.text)
        return None

    def _step(self, value: Value) -> list[Placed]:
        if value.kind == "object":
            return self._object(value)
        if value.kind == "list":
            return [self.sequence(value)]
        return self._text(value)

    def _text(self, value: Value) -> list[Placed]:
        """A string or a bare call: read like a line."""
        marker = _MARK.match(value.text)
        skip = marker.end() if marker else 0
        reading = self.lines.read(value.text[skip:])
        if reading.kind != "steps":
            refused = reading.refused or Refused(
                SC.NOT_UNDERSTOOD, f"`{short(value.text)}` is not understood as a step"
            )
            return [Placed(refused, value.start, value.end)]
        self.skipped = self.skipped or reading.skipped
        begin = value.start + (value.kind == "string") + skip
        if not value.exact:
            return [Placed(found, value.start, value.end) for found in reading.found]
        return [Placed(found, begin + found.start, begin + found.end) for found in reading.found]

    def _placed(self, value: Value, outcome: Resolved | Refused) -> Placed:
        found = outcome if isinstance(outcome, Refused) else Found(outcome, value.start, value.end)
        return Placed(found, value.start, value.end)

    def sequence(self, value: Value) -> Placed:
        """``["grab", "mug"]`` or ``["grab", ["mug"]]``."""
        items = value.items
        if len(items) == 2 and items[1].kind == "list":
            items = (items[0], *items[1].items)
        if not items or any([item.kind in ("list", "object") for item in items]):
            return self._placed(value, Refused(SC.NOT_UNDERSTOOD, "this list is not understood as a step"))
        return self._placed(value, self._named(items[0].text, [Argument(item.text) for item in items[1:]]))

    def _named(self, name: str, arguments: list[Argument], agent: str = "") -> Resolved | Refused:
        action = self.names.action(name)
        if action is None:
            return self.names.unknown_action(name)
        return action if isinstance(action, Refused) else self.lines.steps.arguments(action, name, arguments, agent)

    def _object(self, value: Value) -> list[Placed]:
        """An object that names an action, or a dictionary of steps."""
        pairs = value.pairs
        if pairs and all([_STEP_KEY.match(k.text) for k, _ in pairs]):
            return self._by_number(value)
        if pairs and not any([bare_key(k) in ACTION_KEYS for k, _ in pairs]):
            if all([self.names.action(k.text) is not None for k, _ in pairs]):
                return [self._entry(k, v) for k, v in pairs]
            numbers = [(k, v) for k, v in pairs if bare_key(k) in NUMBER_KEYS]
            steps = [(k, v) for k, v in numbers if v.kind == "string" and not v.text.isdecimal()]
            others = [(k, v) for k, v in pairs if (k, v) not in steps]
            if len(steps) == 1 and all([bare_key(k) in SAID_KEYS for k, _ in others]):
                for _, v in others:
                    self._say(v)
                return self._text(steps[0][1])
        return self._record(value)

    def _by_number(self, value: Value) -> list[Placed]:
        """``{"1": "grab mug", "2": ..}``."""
        steps: list[Placed] = []
        for expected, (k, v) in enumerate(value.pairs, 0 if _STEP_KEY.match(value.items[0].text)[1] == "0" else 1):  # type: ignore[index] # all match
            match = _STEP_KEY.match(k.text)
            if match is None or int(match[1]) != expected:
                refused = Refused(SC.NUMBERS_OUT_OF_ORDER, f"`{short(k.text)}` stands where step {expected} should")
                return [Placed(refused, k.start, k.end)]
            steps += self._step(v)
        return steps

    def _entry(self, name: Value, value: Value) -> Placed:
        """``"GRAB": ["mug", "12"]``: numbers belong to the names before them."""
        if value.kind == "object":
            arguments = [Argument(v.text, k.text) for k, v in value.pairs]
            return self._placed(name, self._named(name.text, arguments))
        texts = [item.text for item in value.items] if value.kind == "list" else [value.text] * bool(value.text)
        if any([item.kind in ("list", "object") for item in value.items]):
            return self._placed(value, Refused(SC.NOT_UNDERSTOOD, "this list is not understood as arguments"))
        arguments = []
        for text in texts:
            if _NUMERIC.match(text) and arguments and not arguments[-1].number and not self.names.has_object(text):
                arguments[-1] = arguments[-1]._replace(number=text)
            else:
                arguments.append(Argument(text))
        found = self._placed(name, self._named(name.text, arguments))
        return found._replace(end=value.end)

    def _record(self, value: Value) -> list[Placed]:
        """``{"action": "grab", "args": ["mug"]}``."""
        name: Value | None = None
        arguments: list[Argument] | None = None
        agent = ""
        rest: list[tuple[Value, Value]] = []
        for k, v in value.pairs:
            bare = bare_key(k)
            if bare in ACTION_KEYS and name is None and v.kind in ("string", "bare"):
                name = v
            elif bare in ARGUMENT_KEYS and arguments is None and _is_flat(v):
                arguments = _arguments(v)
            else:
                rest.append((k, v))
        if name is None:
            return [
                Placed(
                    Refused(SC.NOT_UNDERSTOOD, "this object names no action", 'write {"action": .., "args": [..]}'),
                    value.start,
                    value.end,
                )
            ]
        action = self.names.action(name.text)
        parameters = (
            [] if action is None or isinstance(action, Refused) else [key(v.name[1:]) for v in action.parameters]
        )
        labelled: list[Argument] = []
        for k, v in rest:
            bare = bare_key(k)
            if key(k.text) in parameters and v.kind in ("string", "bare") and arguments is None:
                labelled.append(Argument(v.text, k.text))
            elif bare in _AGENT and v.kind == "string" and not agent:
                agent = v.text
            elif bare in NUMBER_KEYS and v.text.isdecimal():
                continue
            elif bare in SAID_KEYS:
                self._say(v)
            elif v.text in ("null", "None") or (v.kind == "list" and not v.items):
                continue
            else:
                refused = Refused(
                    SC.NOT_UNDERSTOOD,
                    f"`{short(k.text)}` in a step is not understood",
                    "give action and arguments alone",
                )
                return [Placed(refused, k.start, v.end)]
        if labelled:
            return [self._placed(value, self._named(name.text, labelled, agent))]
        if action is None and arguments is None:
            found = self._text(name)
            if len(found) == 1 and not agent:
                return [found[0]._replace(start=value.start, end=value.end)]
        return [self._placed(value, self._named(name.text, arguments or [], agent))]


def bare_key(value: Value) -> str:
    """A key without what only sets its words apart."""
    return bare_text(value.text)


def bare_text(text: str) -> str:
    """The same of a key that is no value yet."""
    return re.sub(r"[-_ ]", "", text.lower())


def _is_flat(value: Value) -> bool:
    return all([item.kind in ("string", "bare") for item in value.items])


def _arguments(value: Value) -> list[Argument]:
    if value.kind == "object":
        return [Argument(v.text, k.text) for k, v in value.pairs]
    if value.kind == "list":
        return [Argument(item.text) for item in value.items]
    return [Argument(part.strip()) for part in value.text.split(",")] if value.text.strip() else []
