"""Names and arguments as models spell them, resolved against a task: to one step, or to the reason why not.

A name is taken as it stands if the task has it. Else spelling is forgiven (case, hyphens, underscores, spaces between
words), an article, a number that only one object bears, a plural; but each only where exactly one thing fits. Nothing
is matched by similarity.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.llm.loose.prepositions import orders, phrases
from plansafe.llm.loose.wrapping import Argument, Group, argument, split_commas, unquoted
from plansafe.verifier.elaborate.context import did_you_mean
from plansafe.verifier.model.nodes import Action, Task

MAX_WORDS = 40
MAX_SUGGESTIONS = 50
MAX_COUNTED = 2_000
MAX_REMEMBERED = 100_000
MAX_NAME = 200
_MAX_NAME = 6  # words in one name
_JOINT = re.compile(r"(?<![0-9])-|-(?![0-9])")
_SEPARATED = re.compile(r"[-_ ]+")
_END_NUMBER = re.compile(r"[-_ ]?\d+(?:[-_ ]\d+)*\Z")
ARTICLES = frozenset(("the", "a", "an"))
SPEAKERS = frozenset(
    ("robot", "self", "agent", "env", "api", "actions", "action", "bot", "planner", "plan", "skills", "controller")
)


class Refused(NamedTuple):
    """Why something is no step of the task: a code, a message and a help."""

    code: str
    message: str
    help: str | None = None


class Tolerance(NamedTuple):
    """A liberty taken in reading a step: a code, a message and a help."""

    code: str
    message: str
    help: str | None = None


class Resolved(NamedTuple):
    """A step of the task, and the liberties taken. ``supplied``: whether an argument was."""

    action: Action
    objects: tuple[str, ...]
    tolerances: tuple[Tolerance, ...] = ()
    supplied: bool = False

    @property
    def text(self) -> str:
        """The step in PDDL."""
        return f"({' '.join([self.action.name, *self.objects])})"


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

    # -- single names -------------------------------------------------------------------------------------------------

    def action(self, text: str) -> Action | Refused | None:
        """The action that a text names; ``None`` if it names none."""
        lower = text.strip().lower()
        if lower in self.task.actions:
            return self.task.actions[lower]
        names = self._actions.get(key(lower), [])
        if len(names) > 1:
            return Refused("SC744", f"`{short(text)}` may be the action {_either(names)}", "write the name in full")
        return self.task.actions[names[0]] if names else None

    def unknown_action(self, text: str) -> Refused:
        """That a text names no action."""
        self._suggested += 1
        lower = _SEPARATED.sub("-", text.strip().lower())
        help = did_you_mean(lower, self.task.actions) if self._suggested <= MAX_SUGGESTIONS else None
        return Refused("SC401", f"unknown action `{short(text)}`", help)

    def has_object(self, text: str) -> bool:
        """Whether a text is the name of an object, spelling forgiven."""
        return text.lower() in self.task.object_index or bool(self._objects.get(key(text)))

    def object(self, text: str) -> Match | Refused:
        """The object that a text names."""
        found = self.find(text)
        if found is not None:
            return found
        self._suggested += 1
        lower = _SEPARATED.sub("-", unquoted(text).lower())
        help = did_you_mean(lower, self.task.object_index) if self._suggested <= MAX_SUGGESTIONS else None
        return Refused("SC403", f"unknown object `{short(text)}`", help)

    def find(self, text: str) -> Match | Refused | None:
        """The object that a text names; a refusal if it may be several; ``None`` if it is none."""
        if text in self._found:
            return self._found[text]
        found = self._find(unquoted(text))
        if len(self._found) < MAX_REMEMBERED:
            self._found[text] = found
        return found

    def _find(self, text: str) -> Match | Refused | None:
        lower = text.lower()
        if lower in self.task.object_index:
            return Match(lower)
        words = lower.split()
        if len(words) > 1 and words[0] in ARTICLES and not self.has_object(words[0]):
            found = self.find(text.split(None, 1)[1])
            return _also(found, _spelling(text, found.name)) if isinstance(found, Match) else found
        name = key(lower)
        known = self._objects.get(name, [])
        if len(known) == 1:
            return Match(known[0], (_spelling(text, known[0]),))
        if known:
            return Refused("SC744", f"`{short(text)}` may be the object {_either(known)}", "write the name in full")
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
            return Refused("SC744", f"`{short(text)}` may be the object {_either(bearing)}", "say which one")
        self._counted += 1
        if self._counted > MAX_COUNTED:
            return Refused("SC744", f"`{short(text)}` is no object's full name", "write the names in full")
        if self._joined.count(stem) > 1:
            named = [name for name in self.task.objects if stem in key(name)]
            return Refused("SC744", f"`{short(text)}` may be the object {_either(named)}", "write the name in full")
        return Match(bearing[0], (_spelling(text, bearing[0]),))

    def numbered(self, text: str, number: str) -> Match | Refused:
        """The object of a name with a number in parentheses, as VirtualHome writes ``<mug> (12)``."""
        last = number.rpartition(".")[2]
        for written in (f"{text}_{number}", f"{text}_{last}"):
            if self.has_object(written):
                found = self.object(written)
                return (
                    found if isinstance(found, Refused) else _also(found, _spelling(f"{text} ({number})", found.name))
                )
        if not self.has_object(text):
            found = self.object(text)
            if isinstance(found, Match):
                return Refused(
                    "SC403", f"the task has no `{short(text)}` with the number {number}", f"it has `{found.name}`"
                )
            return found
        found = self.object(text)
        if isinstance(found, Refused):
            return found
        before = self._dropped.setdefault(found.name, number)
        if before != number:
            message = (
                f"`{short(text)}` has the number {number} here and {before} before; the task has one `{found.name}`"
            )
            return Refused("SC744", message, "use the names of the task")
        said = Tolerance(
            "SC736", f"the number of `{short(text)} ({number})` was left out: the task has one `{found.name}`"
        )
        return _also(found, said)

    # -- steps --------------------------------------------------------------------------------------------------------

    def listed(self, body: str) -> Resolved | Refused | None:
        """``action arg arg`` or ``action, arg, arg`` within brackets; ``None`` if it begins with no action's name."""
        pieces = split_commas(body)
        tokens = [unquoted(token) for token in pieces[0].split()] if len(pieces) > 1 else body.split()
        if len(pieces) == 1 and "-" not in tokens and "=" not in body:
            return self.words(tokens)
        found: list[Resolved] = []
        refused: Refused | None = None
        for count in range(1, min(_MAX_NAME, len(tokens)) + 1):
            name = " ".join(tokens[:count])
            action = self.action(name)
            if isinstance(action, Refused):
                return action
            if action is None:
                continue
            rest = " ".join(tokens[count:])
            fit = self.parts(action, name, [*([rest] if rest else []), *pieces[1:]])
            if isinstance(fit, Resolved):
                found.append(fit)
            else:
                refused = fit
        return self._one(found, found[0].text) if found else refused

    def call(self, action: Action, group: Group, name: str = "") -> Resolved | Refused:
        """``action(arg, arg)``, whose action is known; ``name`` is how it is written."""
        return self.parts(action, name or group.head, split_commas(group.body), group.receiver)

    def parts(self, action: Action, name: str, parts: list[str], receiver: str = "") -> Resolved | Refused:
        """A step from the texts between its commas; a single one may hold several arguments."""
        parts = [part for part in parts if part.strip()] if len(parts) == 1 or not parts[-1].strip() else parts
        if any([not part.strip() for part in parts]):
            return Refused("SC402", f"`{short(name)}` has an empty argument")
        if len(parts) == 1:
            tokens = _typed_tokens(parts[0])
            if tokens is not None:
                return self.arguments(action, name, tokens, receiver)
            single = argument(parts[0])
            if single.label is None:
                return self._one(self._fits(action, name, parts[0].split(), receiver), name)
        return self.arguments(action, name, [argument(part) for part in parts], receiver)

    def arguments(self, action: Action, name: str, given: list[Argument], receiver: str = "") -> Resolved | Refused:
        """A step from its arguments, by position or by parameter name."""
        tolerances = self._respelt(name, action)
        slots: list[str | None] = [None] * len(action.parameters)
        parameters = [key(v.name.lstrip("?")) for v in action.parameters]
        labels = False
        for position, written in enumerate(given):
            item, labelled = self._label(written, parameters)
            if isinstance(item, Refused):
                return item
            if labelled >= 0:
                index = labelled
                labels = True
                said = f"the arguments of `{action.name}` were placed by the names of its parameters"
                tolerances.append(Tolerance("SC735", said))
            elif any([slot is not None for slot in slots[position:]]):
                return Refused("SC748", f"an argument of `{action.name}` without a name follows one with a name")
            else:
                index = position
            found = self.numbered(item.text, item.number) if item.number else self.object(item.text)
            if isinstance(found, Refused):
                return found
            if item.type is not None:
                refused = self._typed(found.name, item.type)
                if refused:
                    return refused
                tolerances.append(Tolerance("SC736", f"the type of `{found.name}` was left out"))
            tolerances += found.tolerances
            if index >= len(slots):
                return self._arity(action, len(given))
            if slots[index] is not None:
                return Refused("SC748", f"the parameter `{action.parameters[index].name}` is given twice")
            slots[index] = found.name
        return self._complete(action, slots, len(given), receiver, tolerances, labels)

    def _label(self, item: Argument, parameters: list[str]) -> tuple[Argument | Refused, int]:
        """An argument, and the parameter it names (-1 if none)."""
        if item.label is None:
            return item, -1
        name = key(item.label)
        if name in parameters:
            return item, parameters.index(name)
        if self.has_object(item.label) and key(item.text) in self.types:  # mug: item
            return Argument(item.label, None, item.text, item.number), -1
        known = ", ".join(parameters) or "none"
        return Refused("SC748", f"no parameter is called `{short(item.label)}`", f"its parameters are: {known}"), -1

    def _typed(self, name: str, kind: str) -> Refused | None:
        index = self.types.get(key(kind))
        if index is None:
            return Refused("SC746", f"`{short(kind)}` is no type of the domain")
        if any([index in self.ancestors[own] for own in self.task.object_types[self.task.object_index[name]]]):
            return None
        return Refused("SC746", f"`{name}` is called a `{short(kind)}`, which it is not")

    def _complete(
        self,
        action: Action,
        slots: list[str | None],
        given: int,
        receiver: str,
        tolerances: list[Tolerance],
        labels: bool = False,
    ) -> Resolved | Refused:
        """The step once its arguments are placed: who acts may stand before it, or be the only one there is."""
        missing = [index for index, slot in enumerate(slots) if slot is None]
        found = self.find(receiver) if receiver else None
        speaker = found if isinstance(found, Match) else None
        if receiver and speaker is None:
            if receiver.lower() not in SPEAKERS and not _is_character(receiver):
                return Refused("SC746", f"`{short(receiver)}` before `{action.name}` is no object of the task")
            said = f"`{short(receiver)}`, which is no object of the task, was left out"
            tolerances.append(Tolerance("SC736", said))
        if not missing:
            if speaker is not None and speaker.name not in slots:
                return self._arity(action, given + 1)
            if speaker is not None:
                tolerances.append(
                    Tolerance("SC736", f"`{speaker.name}` before `{action.name}` was left out: it is an argument")
                )
            return _resolved(action, slots, tolerances)
        if len(missing) > 1 or given != len(slots) - 1:
            return self._arity(action, given + (speaker is not None))
        if speaker is not None:
            placed = [speaker.name, *[slot for slot in slots if slot is not None]]
            if (labels and missing != [0]) or not self._well_typed(action, placed):
                return self._arity(action, given + 1)
            taken = Tolerance("SC736", f"`{speaker.name}` before `{action.name}` was taken for its first argument")
            return _resolved(action, placed, [*tolerances, *speaker.tolerances, taken])
        return self._supply(action, slots, missing[0], not labels, tolerances)

    def _supply(
        self, action: Action, slots: list[str | None], missing: int, positional: bool, tolerances: list[Tolerance]
    ) -> Resolved | Refused:
        """Add the acting object, if it is the only one that can be meant."""
        written = [slot for slot in slots if slot is not None]
        first = self.task.domains[action.parameters[0].domain]
        fits = [0] if missing == 0 else []
        if positional:
            fits = [at for at in range(len(slots)) if self._fits_around(action, written, at)]
        if fits != [0] or len(first) != 1:
            return self._arity(action, len(written))
        agent = self.task.objects[first[0]]
        parameter = action.parameters[0].name
        said = f"`{agent}` was added to `{action.name}`: it is the only object for `{parameter}`"
        tolerances = [*tolerances, Tolerance("SC734", said, "name the acting object in each step")]
        return _resolved(action, [agent, *written], tolerances, True)

    def _fits_around(self, action: Action, written: list[str], at: int) -> bool:
        """Whether the arguments have the types of the parameters when the one at ``at`` is missing."""
        index = self.task.object_index
        rest = [v for position, v in enumerate(action.parameters) if position != at]
        return all([index[name] in self.task.domain_sets[v.domain] for name, v in zip(written, rest, strict=True)])

    def _well_typed(self, action: Action, names: list[str]) -> bool:
        return len(names) == len(action.parameters) and self._fits_around(action, names, -1)

    def _arity(self, action: Action, given: int) -> Refused:
        wanted = len(action.parameters)
        message = f"action `{action.name}` takes {wanted} argument{'' if wanted == 1 else 's'}, not {given}"
        return Refused("SC402", message, f"its parameters are `({_signature(action)})`")

    def _respelt(self, name: str, action: Action) -> list[Tolerance]:
        return [] if name.strip().lower() == action.name else [_spelling(unquoted(name), action.name)]

    # -- words --------------------------------------------------------------------------------------------------------

    def words(self, tokens: list[str]) -> Resolved | Refused | None:
        """A step written as mere words, all of them used; ``None`` if they do not begin with an action's name."""
        if not tokens or len(tokens) > MAX_WORDS:
            return None
        index = self.task.object_index
        exact = self.task.actions.get(tokens[0].lower())
        if exact and len(tokens) - 1 == len(exact.parameters) and all([t.lower() in index for t in tokens[1:]]):
            return Resolved(exact, tuple([token.lower() for token in tokens[1:]]))  # as PDDL has it
        found: list[Resolved] = []
        refused: Refused | None = None
        for count in range(1, min(_MAX_NAME, len(tokens)) + 1):
            name = " ".join(tokens[:count])
            action = self.action(name)
            if isinstance(action, Refused):
                return action
            if action is None:
                continue
            fits = self._fits(action, name, tokens[count:], "")
            led = self._by_prepositions(action, name, tokens[count:])
            if isinstance(led, Resolved):
                found.append(led)
            if isinstance(fits, Refused):
                refused = led if isinstance(led, Refused) else fits
            else:
                found += fits
        if not found:
            return refused
        return self._one(found, tokens[0])

    def _by_prepositions(self, action: Action, name: str, tokens: list[str]) -> Resolved | Refused | None:
        """``from base to hall``: the arguments placed by what stands before them; ``None`` if nothing does."""
        parts = phrases(tokens)
        if parts is None or len(parts) > len(action.parameters):
            return None
        tolerances = self._respelt(name, action)
        named: list[str] = []
        for _, words in parts:
            found = self.find(" ".join(words))
            if not isinstance(found, Match):
                return found
            named.append(found.name)
            tolerances += found.tolerances
        sets = [self.task.domain_sets[v.domain] for v in action.parameters]
        index = self.task.object_index
        fits = [frozenset([at for at, kind in enumerate(sets) if index[each] in kind]) for each in named]
        marks = [mark for mark, _ in parts]
        shown = " and ".join([f"`{mark}`" for mark in marks if mark])
        said = f"the arguments of `{action.name}` were placed by {shown}"
        out = []
        for way in orders(action, marks, fits):
            slots: list[str | None] = [None] * len(action.parameters)
            for at, each in zip(way, named, strict=True):
                slots[at] = each
            taken = [*tolerances, Tolerance("SC735", said)]
            step = self._complete(action, slots, len(named), "", taken, labels=True)
            if isinstance(step, Refused):
                return step  # it is about their number, and the same in all orders
            out.append(step)
        if out:
            return self._one(out, " ".join([name, *tokens]))
        message = f"which parameters of `{action.name}` these are, neither names nor types nor effects say"
        return Refused("SC744", message, f"its parameters are `({_signature(action)})`")

    def _one(self, fits: list[Resolved] | Refused, name: str) -> Resolved | Refused:
        if isinstance(fits, Refused):
            return fits
        if len({fit.text for fit in fits}) > 1:
            texts = sorted({fit.text for fit in fits})
            return Refused("SC744", f"`{short(name)} ..` may be the step {_either(texts)}", "write the step in PDDL")
        return fits[0]

    def _fits(self, action: Action, name: str, tokens: list[str], receiver: str) -> list[Resolved] | Refused:
        """All ways to cut words into the arguments of an action."""
        count = len(action.parameters)
        index = self.task.object_index
        plain = [unquoted(token).lower() for token in tokens]
        if len(tokens) == count and all([token in index for token in plain]):
            fit = self._placed(action, name, tuple([Match(token) for token in plain]), receiver)  # as PDDL has it
            return fit if isinstance(fit, Refused) else [fit]
        found: list[Resolved] = []
        refused: Refused | None = None
        if len(tokens) > MAX_WORDS:
            return self._arity(action, len(tokens))
        for cut in self._cuts(tokens, count):
            if len(cut) not in (count, count - 1):
                continue
            fit = self._placed(action, name, cut, receiver)
            if isinstance(fit, Resolved):
                found.append(fit)
            else:
                refused = fit
        if found:
            return found
        return refused or self._why_not(action, tokens)

    def _placed(self, action: Action, name: str, cut: tuple[Match, ...], receiver: str) -> Resolved | Refused:
        slots: list[str | None] = [match.name for match in cut]
        given = len(slots)
        slots += [None] * (len(action.parameters) - given)
        tolerances = self._respelt(name, action)
        for match in cut:
            tolerances += match.tolerances
        return self._complete(action, slots, given, receiver, tolerances)

    def _cuts(self, tokens: list[str], most: int) -> list[tuple[Match, ...]]:
        """The ways to read words as a sequence of at most ``most`` objects; stops after a few."""
        ways: list[list[tuple[Match, ...]]] = [[] for _ in range(len(tokens) + 1)]
        ways[0] = [()]
        for start in range(len(tokens)):
            if not ways[start]:
                continue
            for end in range(start + 1, min(start + _MAX_NAME, len(tokens)) + 1):
                found = self.find(" ".join(tokens[start:end]))
                if isinstance(found, Match):
                    ways[end] += [(*way, found) for way in ways[start] if len(way) < most][: 16 - len(ways[end])]
        return ways[-1]

    def _why_not(self, action: Action, tokens: list[str]) -> Refused:
        """Why words are not the arguments of an action: the first name that is none, else their number."""
        matched = 0
        position = 0
        while position < len(tokens):
            for end in range(min(position + _MAX_NAME, len(tokens)), position, -1):
                found = self.find(" ".join(tokens[position:end]))
                if isinstance(found, Match):
                    position = end
                    matched += 1
                    break
                if isinstance(found, Refused):
                    return found
            else:
                unknown = self.object(tokens[position])
                return unknown if isinstance(unknown, Refused) else self._arity(action, matched)
        return self._arity(action, matched)


def _resolved(
    action: Action, slots: list[str | None] | list[str], tolerances: list[Tolerance], supplied: bool = False
) -> Resolved:
    return Resolved(action, tuple([str(slot) for slot in slots]), tuple(dict.fromkeys(tolerances)), supplied)


def _typed_tokens(text: str) -> list[Argument] | None:
    """``mug - item table - surface`` as arguments; ``None`` where no type is written."""
    tokens = text.split()
    if "-" not in tokens:
        return None
    found: list[Argument] = []
    position = 0
    while position < len(tokens):
        if tokens[position] == "-":
            return [Argument(text)]
        if tokens[position + 1 : position + 2] == ["-"] and position + 2 < len(tokens):
            found.append(Argument(unquoted(tokens[position]), None, tokens[position + 2]))
            position += 3
        else:
            found.append(Argument(unquoted(tokens[position])))
            position += 1
    return found


def _stem(name: str) -> str:
    """The key of a name without the number at its end; empty if it has none."""
    match = _END_NUMBER.search(name) if len(name) <= MAX_NAME else None
    return key(name[: match.start()]) if match else key(name)


def _is_character(text: str) -> bool:
    return re.fullmatch(r"char(?:acter)?[_ -]?0?", text.lower()) is not None


def _also(match: Match, tolerance: Tolerance) -> Match:
    return Match(match.name, (*[t for t in match.tolerances if t.code != tolerance.code], tolerance))


def _spelling(written: str, name: str) -> Tolerance:
    return Tolerance("SC733", f"`{short(written)}` was read as `{name}`", f"write `{name}`")


def _signature(action: Action) -> str:
    return " ".join([action.name, *[v.name for v in action.parameters]])


def _either(names: list[str]) -> str:
    shown = [f"`{short(name, 80)}`" for name in names[:4]]
    return " or ".join(shown) + (" or others" if len(names) > 4 else "")


def short(text: str, limit: int = 40) -> str:
    """A text for a message: one line, not too long."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 2]}.."
