"""Steps as models write them, resolved against a task: to one step, or to the reason why not."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import with_article
from plansafe.llm.loose.groups import Argument, Group, argument, split_commas, unquoted
from plansafe.llm.loose.names import Names, Refused, Tolerance, key, short
from plansafe.llm.loose.placing import Placing, Resolved
from plansafe.llm.loose.words import Words, only_fit
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
