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
    declared = {name: entry.draft for table in tables for name, entry in table.items()}
    declared |= {name: entry.draft for name, entry in survey.actions.items()}
    used_names = {*declared, *view.fixed_words}
    for name, draft in declared.items():
        intended = _legal(name)
        if intended == name or not draft.editable or name in view.fixed_words or name in _words(view.base):
            continue
        while intended in used_names:
            intended += "_"
        changes = tuple([change for _, entry in view.editable for change in _occurrences(entry, name, intended)])
        if changes:
            return [Edit("name", f"`{name}` is not a valid name in PDDL", changes)]
    return []


def _legal(name: str) -> str:
    """The name itself if it is one in PDDL's grammar, else the closest valid name."""
    if _RIGHT.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    intended = _WRONG.sub("_", plain.lower()).strip("_-")
    return intended if _RIGHT.fullmatch(intended) else f"n{intended}"


def _words(draft: Draft | None) -> set[str]:
    return {match[0].lower() for match in _TOKEN.finditer(draft.text)} if draft is not None else set()


def _occurrences(draft: Draft, name: str, intended: str) -> Iterator[TextEdit]:
    for match in _TOKEN.finditer(draft.text):
        if match[0].lower() == name:
            yield TextEdit(draft.name, Span(*match.span()), intended)
