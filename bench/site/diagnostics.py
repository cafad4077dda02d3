"""The pages behind ``safecheck --explain``, those of a hundred codes on one page."""

from __future__ import annotations

import inspect
import re

from bench.site.markdown import prose, slug

from plansafe.grammar.codes import SC

_COMMENT = re.compile(r"    # (.+)\.$")
_CODE = re.compile(r'    \w+: Final = "(SC\d{3})"')


def groups() -> dict[str, list[str]]:
    """What the codes of each hundred are about, as the table of codes says above them."""
    found: dict[str, list[str]] = {}
    about = ""
    for line in inspect.getsource(SC).splitlines():
        comment, code = _COMMENT.match(line), _CODE.match(line)
        about = comment[1] if comment else about
        if code and about not in found.setdefault(code[1][:3], []):
            found[code[1][:3]].append(about)
    return found


def lower(text: str) -> str:
    """A page below a heading: each of its headings a level lower."""
    return "\n".join([f"#{line}" if is_prose and re.match(r"#+ ", line) else line for is_prose, line in prose(text)])


def pages() -> dict[str, str]:
    """A page for each hundred codes, and a list of all."""
    from plansafe.app.explain import codes, page

    made: dict[str, str] = {}
    index = ["# Diagnostics", "", "What `safecheck --explain CODE` says.", "", "| code | |", "|---|---|"]
    about = groups()
    for code in sorted(codes()):
        text = page(code) or ""
        title = text.partition("\n")[0].removeprefix("# ")
        group = f"{code[:3]}xx"
        made.setdefault(f"{group}.md", f"# {group}: {'; '.join(about[code[:3]])}\n")
        made[f"{group}.md"] += f"\n{lower(text)}\n"
        index.append(f"| [{code}]({group}.md#{slug(title)}) | {title.partition(': ')[2]} |")
    return {"index.md": "\n".join(index) + "\n"} | made
