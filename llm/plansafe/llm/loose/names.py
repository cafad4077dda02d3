"""Names as models spell them, resolved against a task: to an action or an object, or to the reason why not.

A name is used as written if the task has it. Else spelling is forgiven (case, hyphens, underscores, spaces between
words), an article, a number that only one object bears, a plural; but each only where exactly one thing fits. Nothing
is matched by similarity.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.llm.loose.groups import unquoted
from plansafe.verifier.elaborate.context import did_you_mean
from plansafe.verifier.model.nodes import Action, Task

MAX_SUGGESTIONS = 50
MAX_COUNTED = 2_000
MAX_REMEMBERED = 100_000
MAX_NAME = 200
"""Characters of a name whose number at the end is looked for."""
MAX_NAME_WORDS = 6
_JOINT = re.compile(r"(?<![0-9])-|-(?![0-9])")
_SEPARATED = re.compile(r"[-_ ]+")
_END_NUMBER = re.compile(r"[-_ ]?\d+(?:[-_ ]\d+)*\Z")
ARTICLES = frozenset(("the", "a", "an"))


class Refused(NamedTuple):
    """The reason why a text is not a step of the task: a code, a message and a help."""

    code: str
    message: str
    help: str | None = None


class Tolerance(NamedTuple):
    """A liberty taken in reading a step: a code, a message and a help."""

    code: str
    message: str
    help: str | None = None


class Match(NamedTuple):
    """An object that a text names, and the liberties taken."""

    name: str
    tolerances: tuple[Tolerance, ...] = ()


def key(name: str) -> str:
    """What spellings of a name have in common: lower case, words joined; digits stay apart from digits.

    Empty where the name begins or ends with a separator, as a name that was cut off does.
    """
    name = name.strip().lower()
    if not name or name[0] in "-_" or name[-1] in "-_":
        return ""
    return _JOINT.sub("", _SEPARATED.sub("-", name))


class Names:
    """The names of a task, by their keys. One object reads one text: numbers once dropped are remembered."""

    def __init__(self, task: Task, ancestors: list[frozenset[int]]) -> None:
        self.task = task
        self.ancestors = ancestors
        self._actions: dict[str, list[str]] = {}
        self._objects: dict[str, list[str]] = {}
        self._stems: dict[str, list[str]] = {}
        self._dropped: dict[str, str] = {}
        self._found: dict[str, Match | Refused | None] = {}
        self._suggested = self._counted = 0
        for name in task.actions:
            self._actions.setdefault(key(name) or name, []).append(name)
        for name in task.objects:
            self._objects.setdefault(key(name) or name, []).append(name)
            self._stems.setdefault(_stem(name), []).append(name)
        self._joined = "\n".join(self._objects)
        self.types = {key(name): index for index, name in enumerate(task.type_names)}
        self.verbs = {_SEPARATED.split(name)[0] for name in task.actions}

    def action(self, text: str) -> Action | Refused | None:
        """The action that a text names; ``None`` if it names none."""
        lower = text.strip().lower()
        if lower in self.task.actions:
            return self.task.actions[lower]
        names = self._actions.get(key(lower), [])
        if len(names) > 1:
            return Refused(
                SC.AMBIGUOUS_NAME, f"`{short(text)}` may be the action {either(names)}", "write the name in full"
            )
        return self.task.actions[names[0]] if names else None

    def leading_actions(self, tokens: list[str]) -> list[tuple[str, Action, list[str]]] | Refused:
        """The actions that words may begin with: each with its name as written, and the words after it."""
        actions = []
        for count in range(1, min(MAX_NAME_WORDS, len(tokens)) + 1):
            name = " ".join(tokens[:count])
            action = self.action(name)
            if isinstance(action, Refused):
                return action
            if action is not None:
                actions.append((name, action, tokens[count:]))
        return actions

    def unknown_action(self, text: str) -> Refused:
        """That a text names no action."""
        self._suggested += 1
        lower = _SEPARATED.sub("-", text.strip().lower())
        help = did_you_mean(lower, self.task.actions) if self._suggested <= MAX_SUGGESTIONS else None
        return Refused(SC.UNKNOWN_ACTION, f"unknown action `{short(text)}`", help)

    def has_object(self, text: str) -> bool:
        """Whether a text is the name of an object, spelling forgiven."""
        return text.lower() in self.task.object_index or bool(self._objects.get(key(text)))

    def object(self, text: str) -> Match | Refused:
        """The object that a text names."""
        match = self.find(text)
        if match is not None:
            return match
        self._suggested += 1
        lower = _SEPARATED.sub("-", unquoted(text).lower())
        help = did_you_mean(lower, self.task.object_index) if self._suggested <= MAX_SUGGESTIONS else None
        return Refused(SC.STEP_OBJECT, f"unknown object `{short(text)}`", help)

    def find(self, text: str) -> Match | Refused | None:
        """The object that a text names; a refusal if it may be several; ``None`` if it is none."""
        if text in self._found:
            return self._found[text]
        match = self._find(unquoted(text))
        if len(self._found) < MAX_REMEMBERED:
            self._found[text] = match
        return match

    def named(self, text: str) -> list[str]:
        """All objects that a text may name: by their names, by names without their numbers, or by their type."""
        name = key(text)
        candidates = [*self._objects.get(name, ()), *self._stems.get(name, ())] if name else []
        kind = self.types.get(name) if name != "object" else None
        if kind is not None:
            kinds = self.task.object_types
            candidates += [object_name for object_name, types in zip(self.task.objects, kinds, strict=True)
                      if any([kind in self.ancestors[type_number] for type_number in types])]  # fmt: skip
        return candidates

    def _find(self, text: str) -> Match | Refused | None:
        lower = text.lower()
        if lower in self.task.object_index:
            return Match(lower)
        words = lower.split()
        if len(words) > 1 and words[0] in ARTICLES and not self.has_object(words[0]):
            match = self.find(text.split(None, 1)[1])
            return also(match, spelling(text, match.name)) if isinstance(match, Match) else match
        name = key(lower)
        exact = self._objects.get(name, [])
        if len(exact) == 1:
            return Match(exact[0], (spelling(text, exact[0]),))
        if exact:
            return Refused(
                SC.AMBIGUOUS_NAME, f"`{short(text)}` may be the object {either(exact)}", "write the name in full"
            )
        if not name or name[-1].isdigit():
            return None
        plural = name[:-1] if name.endswith("s") and len(name) > 3 else ""
        return self._only(text, name) or self._only(text, plural)

    def _only(self, text: str, stem: str) -> Match | Refused | None:
        """The only object of a stem, where no other object's name holds it."""
        bearing = self._stems.get(stem, []) if stem else []
        if not bearing:
            return None
        if len(bearing) > 1:
            return Refused(SC.AMBIGUOUS_NAME, f"`{short(text)}` may be the object {either(bearing)}", "say which one")
        self._counted += 1
        if self._counted > MAX_COUNTED:
            return Refused(SC.AMBIGUOUS_NAME, f"`{short(text)}` is no object's full name", "write the names in full")
        if self._joined.count(stem) > 1:
            containing = [name for name in self.task.objects if stem in key(name)]
            return Refused(
                SC.AMBIGUOUS_NAME, f"`{short(text)}` may be the object {either(containing)}", "write the name in full"
            )
        return Match(bearing[0], (spelling(text, bearing[0]),))

    def numbered(self, text: str, number: str) -> Match | Refused:
        """The object of a name with a number in parentheses, as VirtualHome writes ``<mug> (12)``."""
        last = number.rpartition(".")[2]
        for written in (f"{text}_{number}", f"{text}_{last}"):
            if self.has_object(written):
                match = self.object(written)
                return match if isinstance(match, Refused) else also(match, spelling(f"{text} ({number})", match.name))
        if not self.has_object(text):
            match = self.object(text)
            if isinstance(match, Match):
                return Refused(
                    SC.STEP_OBJECT,
                    f"the task has no `{short(text)}` with the number {number}",
                    f"it has `{match.name}`",
                )
            return match
        match = self.object(text)
        if isinstance(match, Refused):
            return match
        before = self._dropped.setdefault(match.name, number)
        if before != number:
            message = (
                f"`{short(text)}` has the number {number} here and {before} before; the task has one `{match.name}`"
            )
            return Refused(SC.AMBIGUOUS_NAME, message, "use the names of the task")
        tolerance = Tolerance(
            SC.WORD_LEFT_OUT, f"the number of `{short(text)} ({number})` was left out: the task has one `{match.name}`"
        )
        return also(match, tolerance)


def _stem(name: str) -> str:
    """The key of a name without the number at its end; empty if it has none."""
    match = _END_NUMBER.search(name) if len(name) <= MAX_NAME else None
    return key(name[: match.start()]) if match else key(name)


def also(match: Match, tolerance: Tolerance) -> Match:
    """A match with one more liberty."""
    return Match(match.name, (*[t for t in match.tolerances if t.code != tolerance.code], tolerance))


def spelling(written: str, name: str) -> Tolerance:
    """That a name was spelt otherwise."""
    return Tolerance(SC.SPELT_DIFFERENTLY, f"`{short(written)}` was read as `{name}`", f"write `{name}`")


def either(names: list[str]) -> str:
    """Some of several names, for a message."""
    quoted = [f"`{short(name, 80)}`" for name in names[:4]]
    return " or ".join(quoted) + (" or others" if len(names) > 4 else "")


def short(text: str, limit: int = 40) -> str:
    """A text for a message: one line, not too long."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 2]}.."
