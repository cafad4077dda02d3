"""The pages of ``safecheck --explain``: one Markdown file per code, in this folder.

The page that ``safecheck --explain`` prints for a rule of a shipped specification.
"""

from __future__ import annotations

import os
import re

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_CODE = re.compile(r"(?:SC)?(\d{3})\Z", re.IGNORECASE)


def page(code: str) -> str | None:
    """The page of a code (``SC201``, ``sc201`` or ``201``); ``None`` if there is no such code."""
    match = _CODE.match(code.strip())
    if match is None:
        return None
    try:
        with open(os.path.join(_FOLDER, f"SC{match[1]}.md"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def codes() -> tuple[str, ...]:
    """All codes that have a page, sorted."""
    return tuple(sorted(name[:-3] for name in os.listdir(_FOLDER) if name.endswith(".md")))


_KINDS = (":process", ":trajectory", ":termination", ":obligation")
_LABELS = ((":rationale", "Why"), (":source", "Source"), (":fix", "What helps"))


def rule_page(name: str) -> str | None:
    """Describe the rules of that name in the shipped specifications; ``None`` if there is none."""
    folded = name.strip().lower()
    pages: list[str] = []
    for specification in spec_names():
        with open(spec_path(specification), encoding="utf-8") as file:
            text = file.read()
        if folded not in text:
            continue
        definitions = parse_nodes(Source(specification, text))
        pages += [
            _format_page(specification, form, _rule_text(text, folded))
            for form in (definitions[0] if definitions else ())
            if isinstance(form, list) and len(form) > 1 and form[0] in _KINDS and form[1] == folded
        ]
    return "\n".join(pages) or None


def _format_page(specification: str, rule: list[Node], rule_text: str) -> str:
    fields = {key: rule[at + 1] for at, key in enumerate(rule[:-1]) if isinstance(key, str) and key[0] == ":"}
    lines = [f"# {rule[1]}: a rule of the specification {specification}", ""]
    lines += [_text(fields.get(":message")), ""]
    targets = fields.get(":target", "")
    words = " and ".join([str(target) for target in (targets if isinstance(targets, list) else [targets])])
    lines.append(
        f"Hazard: {fields.get(':hazard')}{f' to {words}' if words else ''}; severity {fields.get(':severity')}."
    )
    lines += [f"{label}: {_text(fields[key])}" for key, label in _LABELS if key in fields]
    return "\n".join([*lines, "", "```lisp", rule_text, "```", ""])


def _text(value: Node | None) -> str:
    return value[1:-1].replace('\\"', '"') if isinstance(value, str) else ""


def _rule_text(text: str, name: str) -> str:
    """Return the text of a rule without the indentation of its first line."""
    start = re.search(rf"^ *\(:[a-z]+ {re.escape(name)}(?=\s)", text, re.MULTILINE)
    assert start is not None, name
    depth = 0
    for token in re.finditer(r';[^\n]*|"(?:[^"\\]|\\.)*"|[()]', text[start.start() :]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            break
    rule = text[start.start() : start.start() + token.end()]
    indent = len(rule) - len(rule.lstrip())
    return re.sub(rf"^ {{{indent}}}", "", rule, flags=re.MULTILINE)
