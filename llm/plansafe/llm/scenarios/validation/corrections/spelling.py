"""Names with characters that PDDL's grammar has no place for: safecheck reads many of them, other planners do not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from plansafe.grammar.diagnostics import Span
from plansafe.llm.scenarios.validation.corrections.view import View
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit

_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+')
_RIGHT = re.compile(r"[a-z][a-z0-9_-]*")
_WRONG = re.compile(r"[^a-z0-9_-]+")


def names(view: View) -> list[Edit]:
    """Declared names in letters, digits, ``-`` and ``_``, beginning with a letter: everywhere in the scenario.

    A name of the base, or one that a specification or plan uses, stays as it is.
    """
    survey = view.survey
    tables = (survey.types, survey.predicates, survey.functions, survey.objects)
    declared = {name: own.draft for table in tables for name, own in table.items()}
    declared |= {name: own.draft for name, own in survey.actions.items()}
    taken = {*declared, *view.others}
    for name, draft in declared.items():
        meant = _legal(name)
        if meant == name or not draft.editable or name in view.others or name in _words(view.base):
            continue
        while meant in taken:
            meant += "_"
        changes = tuple([change for _, own in view.editable for change in _occurrences(own, name, meant)])
        if changes:
            return [Edit("name", f"`{name}` is not a valid name in PDDL", changes)]
    return []


def _legal(name: str) -> str:
    """The name itself if it is one in PDDL's grammar, else what comes closest."""
    if _RIGHT.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    meant = _WRONG.sub("_", plain.lower()).strip("_-")
    return meant if _RIGHT.fullmatch(meant) else f"n{meant}"


def _words(draft: Draft | None) -> set[str]:
    return {match[0].lower() for match in _TOKEN.finditer(draft.text)} if draft is not None else set()


def _occurrences(draft: Draft, name: str, meant: str) -> Iterator[TextEdit]:
    for match in _TOKEN.finditer(draft.text):
        if match[0].lower() == name:
            yield TextEdit(draft.name, Span(*match.span()), meant)
