"""``lint --gaps``: holes of a specification, each with a plan that goes through it and a rule that would stop it.

The schema of the JSON line is ``schema/gaps-1.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plansafe.app.project.shipped_files import shipped_domain
from plansafe.app.system.terminal_text import Style, visible
from plansafe.domains import domain_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_path
from plansafe.specs.lint.gaps.model import GapOptions
from plansafe.specs.lint.gaps.search import find_gaps

if TYPE_CHECKING:
    from plansafe.app.session.lint_inputs import LintInputs
    from plansafe.specs.lint.gaps.model import Gap, GapsResult

SCHEMA = 1


def look(
    gathered: LintInputs, examples: tuple[str, ...], seconds: float | None, judge: str = "all"
) -> GapsResult | Diagnostic:
    """Look for gaps; a diagnostic says which example plan cannot be read, or that there is no problem to look at.

    ``judge`` says which violations decide whether a plan is safe.
    """
    assert gathered.domain is not None
    if not gathered.problems:
        return Diagnostic(
            SC.NO_PROBLEM, "gaps are looked for in plans for a problem", help="name one with --problem FILE"
        )
    plans = []
    for path in examples:
        found = gathered.discovery.read(path, "plan", "--example")
        if isinstance(found, Diagnostic):
            return found
        plans.append(found.source)
    options = GapOptions(judge=judge)
    options = options if seconds is None else options._replace(time_limit_s=seconds)
    specs = [spec.source for spec in gathered.specs]
    return find_gaps(
        gathered.domain.source,
        gathered.problems,
        specs,
        examples=plans,
        library=_library(gathered),
        options=options,
        resolve=gathered.resolve,
    )


def _library(gathered: LintInputs) -> list[Source]:
    """The shipped rules for this domain, where they are not what is looked at."""
    assert gathered.domain is not None
    name = gathered.domain.source.name
    stem = next((d for d in domain_names() if shipped_domain(d) == name), None)
    paths = [spec_path(spec) for spec in default_specs(stem)] if stem is not None else []
    used = {spec.path for spec in gathered.specs}
    library = []
    for path in paths:
        if not any(path.endswith(known) for known in used):
            with open(path, "rb") as file:
                library.append(Source.from_bytes(path, file.read()))
    return library


def shown(result: GapsResult, form: str, style: Style) -> str:
    """The gaps as text, in one of the formats of ``lint``."""
    if form == "json":
        from plansafe.app.render.json import json_line  # noqa: PLC0415 - for this format alone

        notes = [{"code": d.code, "message": d.message, "in": _where(d)} for d in result.diagnostics]
        return json_line({"schema": SCHEMA, "gaps": [_data(gap) for gap in result.gaps], "notes": notes})
    if form == "concise":
        said = [f"{visible(_where(d))}: {d.code} {visible(d.message)}\n" for d in result.diagnostics]
        return "".join([*said, *[f"{visible(gap.problem)}: {gap.code} {_first(gap)}\n" for gap in result.gaps]])
    blocks = ["\n".join(_block(gap, style)) for gap in result.gaps]
    errors = [f"{_severity(d, style)}[{d.code}]: {visible(d.message)}" for d in result.diagnostics]
    count = f"{len(result.gaps)} gap{'' if len(result.gaps) == 1 else 's'}"
    tried = f"{result.explored:,} steps tried, {result.candidates:,} rules considered"
    return "\n\n".join([*errors, *blocks, f"{style.bold(count)}   {tried}"]) + "\n"


def failed(result: GapsResult) -> bool:
    """Whether the texts could not be used."""
    return any([d.severity is Severity.ERROR for d in result.diagnostics])


def _severity(diagnostic: Diagnostic, style: Style) -> str:
    return style.error("error") if diagnostic.severity is Severity.ERROR else diagnostic.severity.value


def _where(diagnostic: Diagnostic) -> str:
    return diagnostic.labels[0].source if diagnostic.labels else ""


def _first(gap: Gap) -> str:
    return visible(gap.reasons[0] if gap.reasons else gap.kind)


def _block(gap: Gap, style: Style) -> Iterator[str]:
    yield f"{style.warning('gap')}[{gap.code}]: {_first(gap)}"
    for reason in gap.reasons[1:4]:
        yield f"  = why: {visible(reason)}"
    yield f"  this plan for {visible(gap.problem)} is safe by the rules given, and would break the rule below:"
    for number, step in enumerate(gap.plan, 1):
        mark = ">" if number in gap.steps else " "
        yield f"  {mark} {number:>3}  {visible(step)}"
    yield "  a rule that it would break, and that another plan keeps:"
    yield from ("    " + visible(line) for line in gap.rule.splitlines())
    if gap.replayed is None:
        yield "  = note: not independently replayed"


def _data(gap: Gap) -> dict[str, object]:
    data = gap._asdict()
    data["bindings"] = [dict(binding) for binding in gap.bindings]
    return data
