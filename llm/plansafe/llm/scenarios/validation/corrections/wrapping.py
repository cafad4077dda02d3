"""Text around and between the PDDL: fences, prose, comments of other languages, foreign signs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.grammar.diagnostics import Span
from plansafe.llm.scenarios.validation.corrections.view import View
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\r\n]*$", re.MULTILINE)
_DEFINE = re.compile(r"\(\s*define\s*\(?\s*(domain|problem)\b", re.IGNORECASE)
_COMMENT = re.compile(r";[^\r\n]*")
_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)
_LINE = re.compile(r"(?<![^\s()])(//|#(?=[ #]))[^\r\n]*")
_TOKEN = re.compile(r"[()]|;[^\r\n]*|[^\s();]+")
_SIGNS = {
    "\uff08": "(", "\uff09": ")", "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-",
    "\u2212": "-", "\uff1f": "?", "\u200b": "", "\ufeff": ""
}  # fmt: skip
_SIGN = re.compile("|".join(_SIGNS))
_QUOTED = re.compile(
    r"(?<![^\s()])[\"\u201c\u201d\u2018\u2019']([^\s()\"';\u201c\u201d\u2018\u2019]+)[\"\u201c\u201d\u2018\u2019'](?![^\s()])"
)


def fences(view: View) -> list[Edit]:
    """Keep the text between the Markdown fences around a definition."""
    out = []
    for kind, draft in view.editable:
        marks = list(_FENCE.finditer(draft.text))
        if not marks:
            continue
        start, end = _fenced(draft.text, marks, kind)
        changes = [
            TextEdit(draft.name, span, "")
            for span in (Span(0, start), Span(end, len(draft.text)))
            if span.start < span.end
        ]
        if changes:
            out.append(Edit("fence", f"Markdown around the {kind}", tuple(changes)))
    return out


def _fenced(text: str, marks: list[re.Match[str]], kind: str) -> tuple[int, int]:
    """The start and end of the definition between fences (or after the only one)."""
    for number, mark in enumerate(marks):
        start = min(mark.end() + 1, len(text))
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        defined = _DEFINE.search(text, start, end)
        if defined is not None and defined[1].lower() == kind:
            return start, end
    defined = _DEFINE.search(text)
    after = next((mark.start() for mark in marks if defined is not None and mark.start() > defined.start()), len(text))
    before = [mark.end() for mark in marks if mark.end() <= (defined.start() if defined is not None else 0)]
    return (min(before[-1] + 1, len(text)) if before else 0), after


def comments(view: View) -> list[Edit]:
    """Comments are written with ``;``."""
    out = []
    for _, draft in view.editable:
        clean = _blanked(draft.text)
        blocks = [TextEdit(draft.name, Span(*match.span()), "") for match in _BLOCK.finditer(clean)]
        out += [Edit("comment", "PDDL has no `/* */`", (change,)) for change in blocks]
        for match in _LINE.finditer(clean):
            reason = f"a comment begins with `;`, not with `{match[1]}`"
            out.append(Edit("comment", reason, (TextEdit(draft.name, Span(match.start(), match.end(1)), ";"),)))
    return out


def _blanked(text: str) -> str:
    """The text with its comments made blank."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text)


def signs(view: View) -> list[Edit]:
    """Parentheses, dashes and blanks of other alphabets."""
    out = []
    for _, draft in view.editable:
        if draft.text.isascii():
            continue
        for match in _SIGN.finditer(_blanked(draft.text)):
            intended = _SIGNS[match[0]]
            alone = intended != "-" or draft.text[match.start() - 1 : match.start()].isspace()
            sign = f"U+{ord(match[0]):04X}"
            reason = f"{sign} is read as `{intended}`" if intended else f"{sign} is invisible"
            if alone:
                out.append(Edit("sign", reason, (TextEdit(draft.name, Span(*match.span()), intended),)))
    return out


def quotes(view: View) -> list[Edit]:
    """Names have no quotation marks."""
    out = []
    for _, draft in view.editable:
        reason = "names are written without quotation marks"
        for match in _QUOTED.finditer(_blanked(draft.text)):
            out += [Edit("quotes", reason, (TextEdit(draft.name, Span(*match.span()), match[1]),))]
    return out


def commas(view: View) -> list[Edit]:
    """Names in a list are separated by blanks."""
    out = []
    for _, draft in view.editable:
        for match in _TOKEN.finditer(draft.text):
            token = match[0]
            if token[0] == ";" or "," not in token:
                continue
            change = TextEdit(draft.name, Span(*match.span()), token.strip(",").replace(",", " "))
            out.append(Edit("comma", "names are separated by blanks, not by commas", (change,)))
    return out


def prose(view: View) -> list[Edit]:
    """Remove the sentences before and after the definition."""
    out = []
    for kind, draft in view.editable:
        reason = f"text that is not part of the {kind}"
        out += [Edit("prose", reason, (TextEdit(draft.name, span, ""),)) for span in _around(draft, kind)]
    return out


def _around(draft: Draft, kind: str) -> Iterator[Span]:
    clean = _blanked(draft.text)
    matches = [match for match in _DEFINE.finditer(clean) if match[1].lower() == kind]
    if not matches:
        return
    start = matches[0].start()
    first = re.search(r"\S", clean)
    if first is not None and first.start() < start and not _only_open(clean[:start]):
        yield Span(first.start(), start)
    other_use = next((match for match in _DEFINE.finditer(clean, start + 1) if match[1].lower() != kind), None)
    end = _end(clean, start)
    if other_use is not None and (end is None or end <= other_use.start()):
        yield Span(other_use.start(), len(clean))
    elif end is not None:
        remaining = re.search(r"\S", clean[end:])
        if remaining is not None and re.search(r"[^\s()]", clean[end:]) and "(:" not in clean[end:]:
            yield Span(end + remaining.start(), len(clean))


def _only_open(text: str) -> bool:
    """Whether nothing but parentheses is there: they are another rule's."""
    return not text.replace("(", "").replace(")", "").strip()


def _end(clean: str, start: int) -> int | None:
    """Where the definition that begins at ``start`` is closed; ``None`` if it is not."""
    depth = 0
    for match in re.compile(r"[()]").finditer(clean, start):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.end()
    return None
