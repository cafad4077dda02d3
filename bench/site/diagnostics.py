"""Reference pages of the diagnostics: the texts of ``safecheck --explain``, a hundred codes per page."""

from __future__ import annotations

import inspect
import re

from bench.site.markdown import heading_slug, index_page, mark_prose

from plansafe.grammar.codes import SC

_COMMENT = re.compile(r"    # (.+)\.$")
_CODE = re.compile(r'    \w+: Final = "(SC\d{3})"')


def code_topics() -> dict[str, list[str]]:
    """The topics of each hundred codes, from the comments in the table of codes."""
    topics: dict[str, list[str]] = {}
    topic = ""
    for line in inspect.getsource(SC).splitlines():
        comment, code = _COMMENT.match(line), _CODE.match(line)
        topic = comment[1] if comment else topic
        if code and topic not in topics.setdefault(code[1][:3], []):
            topics[code[1][:3]].append(topic)
    return topics


def lower_headings(text: str) -> str:
    """The text with each heading one level lower."""
    return "\n".join(
        [f"#{line}" if is_prose and re.match(r"#+ ", line) else line for is_prose, line in mark_prose(text)]
    )


def diagnostic_pages() -> dict[str, str]:
    """A page for each hundred codes, and an index."""
    from plansafe.app.explain import codes, page

    texts: dict[str, str] = {}
    index = []
    topics = code_topics()
    for code in sorted(codes()):
        text = page(code) or ""
        title = text.partition("\n")[0].removeprefix("# ")
        group = f"{code[:3]}xx"
        texts.setdefault(f"{group}.md", f"# {group}: {'; '.join(topics[code[:3]])}\n")
        texts[f"{group}.md"] += f"\n{lower_headings(text)}\n"
        index.append((f"[{code}]({group}.md#{heading_slug(title)})", title.partition(": ")[2]))
    introduction = "The texts of `safecheck --explain CODE`."
    return {"index.md": index_page("Diagnostics", introduction, ("code", "problem"), index)} | texts
