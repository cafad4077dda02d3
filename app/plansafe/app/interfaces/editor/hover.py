"""What is shown where the pointer rests: a step with the state around it, a rule in words, a declaration."""

from __future__ import annotations

import re
from contextlib import suppress

from lsprotocol import types

from plansafe.app.interfaces.editor.lsp_diagnostics import clean
from plansafe.app.interfaces.editor.name_mentions import RULES, Mention, Names, at, mentions, step_words
from plansafe.app.interfaces.editor.source_tree import Form, around, tree
from plansafe.app.interfaces.editor.state_trace import Walk
from plansafe.app.interfaces.editor.symbols import Symbols, declaration
from plansafe.app.interfaces.editor.workspace import PLANS, Judged
from plansafe.grammar.source import Source
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction

MAX_FACTS = 14
_MARKS = re.compile(r"[\\*_{}\[\]<>#|~!]")


def hover(judged: Judged, walk: Walk | None, symbols: Symbols, offset: int) -> types.Hover | None:
    """What there is to say of a place; ``None`` if nothing."""
    if judged.kind in PLANS:
        if walk is None:
            return None
        number = walk.number_at(offset)
        if number is None:
            return None
        said = _step(judged, walk, number)
        said += _object(judged, walk, symbols, number, offset)
        return _shown(judged, said, walk.places[number].start, walk.places[number].end)
    form = _rule(judged, offset)
    found = at(mentions(judged.text.source, judged.kind), offset)
    if form is not None and found is not None and found.names in (Names.RULE, Names.KEYWORD):
        said = rule_in_words(judged.text.source, form)
        return _shown(judged, said, found.span.start, found.span.end) if said else None
    if found is None:
        return None
    said = _declared(judged, symbols, found)
    return _shown(judged, said, found.span.start, found.span.end) if said else None


def _shown(judged: Judged, lines: list[str], start: int, end: int) -> types.Hover:
    place = types.Range(judged.text.position(start), judged.text.position(end))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, clean("\n\n".join(lines))), place)


def quoted(text: str) -> str:
    """A name from a file as code: what would end the quotation does not."""
    return "`" + text.replace("`", "'").replace("\n", " ") + "`"


def plain(text: str) -> str:
    """A text from a file that Markdown shows as it is; what stands between backquotes stays code."""
    pieces = text.replace("\n", " ").split("`")
    return "`".join([piece if number % 2 else _MARKS.sub(r"\\\g<0>", piece) for number, piece in enumerate(pieces)])


def _step(judged: Judged, walk: Walk, number: int) -> list[str]:
    """A step: what it changes, and the facts about its objects before it.

    What it changes comes first: editors show the beginning of a long text, and the facts may be many.
    """
    step = walk.steps[number]
    if not isinstance(step, GroundAction):
        return [
            f"**Step {number + 1}** is ill-formed: {quoted(step.message)}",
            *([quoted(step.help)] if step.help else []),
        ]
    said = [f"**Step {number + 1}** of {len(walk.steps)}"]
    if walk.why:
        return [*said, f"States are not shown: {walk.why}."]
    now = walk.before(number)
    if now is None:
        return [*said, "The plan stops before this step."]
    facts = facts_about(now, step.objects)
    more = len(facts) - MAX_FACTS
    before = ", ".join([quoted(fact) for fact in facts[:MAX_FACTS]]) + (f" and {more} more" if more > 0 else "")
    if number < len(walk.changes):
        changes = walk.changes[number]
        rows = [f"- {quoted(change.what)}: {change.before} → {change.after}" for change in changes[:MAX_FACTS]]
        rest = len(changes) - MAX_FACTS
        rows += [f"- and {rest} more"] if rest > 0 else []
        said.append("It changes:\n" + "\n".join(rows) if rows else "It changes nothing.")
    else:
        said.append("It cannot be taken here.")
    said.append(f"Before it: {before or 'nothing holds of its objects'}")
    report = judged.result.report if judged.result is not None else None
    here = [f for f in report.findings if f.step == number + 1] if report is not None else []
    return [*said, *[f"**{finding.code}** {plain(finding.message)}" for finding in here]]


def facts_about(now: Execution, objects: tuple[int, ...]) -> list[str]:
    """The facts and numbers that hold of objects, in order: those that actions can change come first."""
    task, wanted = now.task, set(objects)
    found: list[tuple[bool, str]] = []
    for index, codes in enumerate(now.state.facts[: len(task.predicates)]):
        arity = len(task.predicates[index].types)
        if arity and codes:
            found += [
                (task.static[index], task.fact_text(index, code))
                for code in codes
                if wanted.intersection(task.decode(code, arity))
            ]
    for index, values in enumerate(now.state.fluents):
        arity = len(task.functions[index].types)
        found += [
            (False, f"{task.fluent_text(index, code)} = {value}")
            for code, value in values.items()
            if wanted.intersection(task.decode(code, arity))
        ]
    return [text for _, text in sorted(found)]


def _object(judged: Judged, walk: Walk, symbols: Symbols, number: int, offset: int) -> list[str]:
    """The type of the object under the pointer, or the parameters of the action."""
    task, source, place = walk.engine.task, judged.text.source, walk.places[number]
    if walk.prepared.write is not None:
        names = symbols.names(judged)
    else:
        words = enumerate(step_words(source, place))
        names = tuple([Mention(Names.OBJECT if n else Names.ACTION, name, span) for n, (name, span) in words])
    found = at(tuple([m for m in names if place.start <= m.span.start < place.end]), offset)
    if found is not None and found.names is Names.ACTION and found.name in task.actions:
        action = task.actions[found.name]
        parameters = [f"{v.name} - {_types(walk, v.domain)}" for v in action.parameters]
        return [quoted(f"({' '.join([found.name, *parameters])})")]
    if found is not None and found.names is Names.OBJECT and found.name in task.object_index:
        kinds = [task.type_names[t] for t in task.object_types[task.object_index[found.name]]]
        return [f"{quoted(found.name)} is a {', '.join([quoted(kind) for kind in kinds])}"]
    return []


def _types(walk: Walk, domain: int) -> str:
    task = walk.engine.task
    return "/".join([task.type_names[t] for t in task.domain_types[domain]]) or "object"


def _rule(judged: Judged, offset: int) -> Form | None:
    forms = around(tree(judged.text.source), offset)
    return next((form for form in forms if form.head in RULES), None)


def rule_in_words(source: Source, form: Form) -> list[str]:
    """A rule as sentences, and why it is there; of a rule that cannot be put into words, its reasons alone."""
    from plansafe.llm.formalise.in_words import in_words  # noqa: PLC0415 - for rules alone

    said = []
    with suppress(ValueError, KeyError, IndexError, TypeError):  # one that is being written, or made by a template
        said.append(plain(in_words(source.slice(form.span))))
    for number, part in enumerate(form.parts[:-1]):
        value = form.parts[number + 1]
        if isinstance(part, Form) or isinstance(value, Form):
            continue
        if part.text in (":rationale", ":fix", ":hazard", ":severity"):
            said.append(f"*{part.text[1:]}*: {plain(value.text.strip(chr(34)))}")
    return said


def _declared(judged: Judged, symbols: Symbols, found: Mention) -> list[str]:
    place = symbols.definition(judged, found)
    if place is None:
        return []
    text, mention = place
    return [f"```pddl\n{declaration(text.source, mention)}\n```"]
