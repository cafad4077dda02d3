"""Steps as models write them, resolved against a task: to one step, or to the reason why not.

Steps written as mere words: every way to cut them into arguments, by names, by types and by prepositions.
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import with_article
from plansafe.llm.loose.groups import Argument, Group, argument, split_commas, unquoted
from plansafe.llm.loose.names import MAX_NAME_WORDS, Match, Names, Refused, Tolerance, either, key, short
from plansafe.llm.loose.placing import Placing, Resolved, signature
from plansafe.llm.loose.prepositions import orders, phrases
from plansafe.verifier.model.nodes import Action


class Steps:
    """Reads possible steps of one task."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.task = names.task
        self.placing = Placing(names)
        self.words = Words(self.placing)

    def listed(self, body: str) -> Resolved | Refused | None:
        """``action arg arg`` or ``action, arg, arg`` within brackets; ``None`` if it begins with no action's name."""
        pieces = split_commas(body)
        tokens = [unquoted(token) for token in pieces[0].split()] if len(pieces) > 1 else body.split()
        if len(pieces) == 1 and "-" not in tokens and "=" not in body:
            return self.words.step(tokens)
        actions = self.names.leading_actions(tokens)
        if isinstance(actions, Refused):
            return actions
        steps: list[Resolved] = []
        refused: Refused | None = None
        for name, action, following in actions:
            fit = self.parts(action, name, [*([" ".join(following)] if following else []), *pieces[1:]])
            if isinstance(fit, Resolved):
                steps.append(fit)
            else:
                refused = fit
        return only_fit(steps, steps[0].text) if steps else refused

    def call(self, action: Action, group: Group, name: str = "") -> Resolved | Refused:
        """``action(arg, arg)``, whose action is known; ``name`` is how it is written."""
        return self.parts(action, name or group.head, split_commas(group.body), group.receiver)

    def parts(self, action: Action, name: str, parts: list[str], receiver: str = "") -> Resolved | Refused:
        """A step from the texts between its commas; a single one may hold several arguments."""
        parts = [part for part in parts if part.strip()] if len(parts) == 1 or not parts[-1].strip() else parts
        if any([not part.strip() for part in parts]):
            return Refused(SC.STEP_ARITY, f"`{short(name)}` has an empty argument")
        if len(parts) == 1:
            tokens = _typed_tokens(parts[0])
            if tokens is not None:
                return self.arguments(action, name, tokens, receiver)
            single = argument(parts[0])
            if single.label is None:
                return only_fit(self.words.fits(action, name, parts[0].split(), receiver), name)
        return self.arguments(action, name, [argument(part) for part in parts], receiver)

    def arguments(self, action: Action, name: str, items: list[Argument], receiver: str = "") -> Resolved | Refused:
        """A step from its arguments, by position or by parameter name."""
        tolerances = self.placing.respelt(name, action)
        slots: list[str | None] = [None] * len(action.parameters)
        parameters = [key(v.name.lstrip("?")) for v in action.parameters]
        labels = False
        for position, written in enumerate(items):
            item, labelled = self._label(written, parameters)
            if isinstance(item, Refused):
                return item
            if labelled >= 0:
                index = labelled
                labels = True
                message = f"the arguments of `{action.name}` were placed by the names of its parameters"
                tolerances.append(Tolerance(SC.PLACED_BY_NAME, message))
            elif any([slot is not None for slot in slots[position:]]):
                return Refused(
                    SC.UNPLACED_ARGUMENT, f"an argument of `{action.name}` without a name follows one with a name"
                )
            else:
                index = position
            match = self.names.numbered(item.text, item.number) if item.number else self.names.object(item.text)
            if isinstance(match, Refused):
                return match
            if item.type is not None:
                refused = self._typed(match.name, item.type)
                if refused:
                    return refused
                tolerances.append(Tolerance(SC.WORD_LEFT_OUT, f"the type of `{match.name}` was left out"))
            tolerances += match.tolerances
            if index >= len(slots):
                return self.placing.arity(action, len(items))
            if slots[index] is not None:
                return Refused(SC.UNPLACED_ARGUMENT, f"the parameter `{action.parameters[index].name}` is given twice")
            slots[index] = match.name
        return self.placing.complete(action, slots, len(items), receiver, tolerances, labels)

    def _label(self, item: Argument, parameters: list[str]) -> tuple[Argument | Refused, int]:
        """An argument, and the parameter it names (-1 if none)."""
        if item.label is None:
            return item, -1
        name = key(item.label)
        if name in parameters:
            return item, parameters.index(name)
        if self.names.has_object(item.label) and key(item.text) in self.names.types:  # mug: item
            return Argument(item.label, None, item.text, item.number), -1
        parameter_names = ", ".join(parameters) or "none"
        return Refused(
            SC.UNPLACED_ARGUMENT,
            f"no parameter is called `{short(item.label)}`",
            f"its parameters are: {parameter_names}",
        ), -1

    def _typed(self, name: str, kind: str) -> Refused | None:
        index = self.names.types.get(key(kind))
        if index is None:
            return Refused(SC.NOT_UNDERSTOOD, f"`{short(kind)}` is no type of the domain")
        if any(
            [
                index in self.names.ancestors[type_number]
                for type_number in self.task.object_types[self.task.object_index[name]]
            ]
        ):
            return None
        return Refused(SC.NOT_UNDERSTOOD, f"`{name}` is called {with_article(f'`{short(kind)}`')}, which it is not")


def _typed_tokens(text: str) -> list[Argument] | None:
    """``mug - item table - surface`` as arguments; ``None`` where no type is written."""
    tokens = text.split()
    if "-" not in tokens:
        return None
    arguments: list[Argument] = []
    position = 0
    while position < len(tokens):
        if tokens[position] == "-":
            return [Argument(text)]
        if tokens[position + 1 : position + 2] == ["-"] and position + 2 < len(tokens):
            arguments.append(Argument(unquoted(tokens[position]), None, tokens[position + 2]))
            position += 3
        else:
            arguments.append(Argument(unquoted(tokens[position])))
            position += 1
    return arguments


MAX_WORDS = 40


class Words:
    """Reads words as steps of one task."""

    def __init__(self, placing: Placing) -> None:
        self.placing = placing
        self.names = placing.names
        self.task = placing.task

    def step(self, tokens: list[str]) -> Resolved | Refused | None:
        """A step written as mere words, all of them used; ``None`` if they do not begin with an action's name."""
        if not tokens or len(tokens) > MAX_WORDS:
            return None
        index = self.task.object_index
        exact = self.task.actions.get(tokens[0].lower())
        if exact and len(tokens) - 1 == len(exact.parameters) and all([t.lower() in index for t in tokens[1:]]):
            return Resolved(exact, tuple([token.lower() for token in tokens[1:]]))  # as PDDL has it
        actions = self.names.leading_actions(tokens)
        if isinstance(actions, Refused):
            return actions
        steps: list[Resolved] = []
        refused: Refused | None = None
        for name, action, following in actions:
            fits = self.fits(action, name, following, "")
            led = self._by_prepositions(action, name, following)
            if isinstance(led, Resolved):
                steps.append(led)
            if isinstance(fits, Refused):
                refused = led if isinstance(led, Refused) else fits
            else:
                steps += fits
        if not steps:
            return refused
        return only_fit(steps, tokens[0])

    def _by_prepositions(self, action: Action, name: str, tokens: list[str]) -> Resolved | Refused | None:
        """``from base to hall``: the arguments placed by their prepositions; ``None`` without one."""
        parts = phrases(tokens)
        if parts is None or len(parts) > len(action.parameters):
            return None
        tolerances = self.placing.respelt(name, action)
        object_names: list[str] = []
        for _, words in parts:
            match = self.names.find(" ".join(words))
            if not isinstance(match, Match):
                return match
            object_names.append(match.name)
            tolerances += match.tolerances
        sets = [self.task.domain_sets[v.domain] for v in action.parameters]
        index = self.task.object_index
        fits = [
            frozenset([at for at, kind in enumerate(sets) if index[object_name] in kind])
            for object_name in object_names
        ]
        marks = [mark for mark, _ in parts]
        prepositions = " and ".join([f"`{mark}`" for mark in marks if mark])
        note = f"the arguments of `{action.name}` were placed by {prepositions}"
        out = []
        for way in orders(action, marks, fits):
            slots: list[str | None] = [None] * len(action.parameters)
            for at, object_name in zip(way, object_names, strict=True):
                slots[at] = object_name
            tolerances_used = [*tolerances, Tolerance(SC.PLACED_BY_NAME, note)]
            step = self.placing.complete(action, slots, len(object_names), "", tolerances_used, labels=True)
            if isinstance(step, Refused):
                return step  # it is about their number, and the same in all orders
            out.append(step)
        if out:
            return only_fit(out, " ".join([name, *tokens]))
        message = f"which parameters of `{action.name}` these are, neither names nor types nor effects say"
        return Refused(SC.AMBIGUOUS_NAME, message, f"its parameters are `({signature(action)})`")

    def fits(self, action: Action, name: str, tokens: list[str], receiver: str) -> list[Resolved] | Refused:
        """All ways to cut words into the arguments of an action."""
        count = len(action.parameters)
        index = self.task.object_index
        plain = [unquoted(token).lower() for token in tokens]
        if len(tokens) == count and all([token in index for token in plain]):
            fit = self._placed(action, name, tuple([Match(token) for token in plain]), receiver)  # as PDDL has it
            return fit if isinstance(fit, Refused) else [fit]
        steps: list[Resolved] = []
        refused: Refused | None = None
        if len(tokens) > MAX_WORDS:
            return self.placing.arity(action, len(tokens))
        for cut in self._cuts(tokens, count):
            if len(cut) not in (count, count - 1):
                continue
            fit = self._placed(action, name, cut, receiver)
            if isinstance(fit, Resolved):
                steps.append(fit)
            else:
                refused = fit
        if steps:
            return steps
        return refused or self._why_not(action, tokens)

    def _placed(self, action: Action, name: str, cut: tuple[Match, ...], receiver: str) -> Resolved | Refused:
        slots: list[str | None] = [match.name for match in cut]
        count = len(slots)
        slots += [None] * (len(action.parameters) - count)
        tolerances = self.placing.respelt(name, action)
        for match in cut:
            tolerances += match.tolerances
        return self.placing.complete(action, slots, count, receiver, tolerances)

    def _cuts(self, tokens: list[str], most: int) -> list[tuple[Match, ...]]:
        """The ways to read words as a sequence of at most ``most`` objects; stops after a few."""
        ways: list[list[tuple[Match, ...]]] = [[] for _ in range(len(tokens) + 1)]
        ways[0] = [()]
        for start in range(len(tokens)):
            if not ways[start]:
                continue
            for end in range(start + 1, min(start + MAX_NAME_WORDS, len(tokens)) + 1):
                match = self.names.find(" ".join(tokens[start:end]))
                if isinstance(match, Match):
                    ways[end] += [(*way, match) for way in ways[start] if len(way) < most][: 16 - len(ways[end])]
        return ways[-1]

    def _why_not(self, action: Action, tokens: list[str]) -> Refused:
        """Why words are not the arguments of an action: the first name that is none, else their number."""
        matched = 0
        position = 0
        while position < len(tokens):
            for end in range(min(position + MAX_NAME_WORDS, len(tokens)), position, -1):
                match = self.names.find(" ".join(tokens[position:end]))
                if isinstance(match, Match):
                    position = end
                    matched += 1
                    break
                if isinstance(match, Refused):
                    return match
            else:
                unknown = self.names.object(tokens[position])
                return unknown if isinstance(unknown, Refused) else self.placing.arity(action, matched)
        return self.placing.arity(action, matched)


def only_fit(fits: list[Resolved] | Refused, name: str) -> Resolved | Refused:
    """The step that all ways to read it are."""
    if isinstance(fits, Refused):
        return fits
    if len({fit.text for fit in fits}) > 1:
        texts = sorted({fit.text for fit in fits})
        return Refused(
            SC.AMBIGUOUS_NAME, f"`{short(name)} ..` may be the step {either(texts)}", "write the step in PDDL"
        )
    return fits[0]
