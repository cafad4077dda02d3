"""``lint --gaps``: missing rules of a specification, each with a plan that is wrongly safe and a rule that forbids it.

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
from plansafe.specs.lint.gaps.gap_search import find_gaps
from plansafe.specs.lint.gaps.model import GapOptions

if TYPE_CHECKING:
    from plansafe.app.session.lint_inputs import LintInputs
    from plansafe.specs.lint.gaps.model import Gap, GapsResult

SCHEMA = 1


def search_gaps(
    gathered: LintInputs, examples: tuple[str, ...], seconds: float | None, judge: str = "all"
) -> GapsResult | Diagnostic:
    """Search for gaps. Returns a diagnostic if an example plan cannot be read, or if there is no problem.

    ``judge`` selects the violations that decide whether a plan is safe.
    """
    assert gathered.domain is not None
    if not gathered.problems:
        return Diagnostic(
            SC.NO_PROBLEM, "--gaps searches plans of a problem, and no problem is named", help="add --problem FILE"
        )
    plans = []
    for path in examples:
        plan_file = gathered.discovery.read(path, "plan", "--example")
        if isinstance(plan_file, Diagnostic):
            return plan_file
        plans.append(plan_file.source)
    options = GapOptions(judge=judge)
    options = options if seconds is None else options._replace(time_limit_s=seconds)
    specs = gathered.with_kinds([spec.source for spec in gathered.specs])
    return find_gaps(
        gathered.domain.source,
        gathered.problems,
        specs,
        examples=plans,
        library=gathered.with_kinds(_library(gathered)),
        options=options,
        resolve=gathered.resolve,
    )


def _library(gathered: LintInputs) -> list[Source]:
    """The shipped rules for this domain that are not part of the checked specification."""
    assert gathered.domain is not None
    name = gathered.domain.source.name
    stem = next((d for d in domain_names() if shipped_domain(d) == name), None)
    paths = [spec_path(spec) for spec in default_specs(stem)] if stem is not None else []
    used = {spec.path for spec in gathered.specs}
    library = []
    for path in paths:
        if not any(path.endswith(used_path) for used_path in used):
            with open(path, "rb") as file:
                library.append(Source.from_bytes(path, file.read()))
    return library


def format_gaps(result: GapsResult, form: str, style: Style) -> str:
    """Format the gaps in a format of ``lint``."""
    if form == "json":
        from plansafe.app.render.json import json_line  # noqa: PLC0415 - for this format alone

        notes = [{"code": d.code, "message": d.message, "in": _where(d)} for d in result.diagnostics]
        return json_line({"schema": SCHEMA, "gaps": [_data(gap) for gap in result.gaps], "notes": notes})
    if form == "concise":
        messages = [f"{visible(_where(d))}: {d.code} {visible(d.message)}\n" for d in result.diagnostics]
        return "".join(
            [*messages, *[f"{visible(gap.problem)}: {gap.code} {_first_reason(gap)}\n" for gap in result.gaps]]
        )
    blocks = ["\n".join(_block(gap, style)) for gap in result.gaps]
    errors = [f"{_severity(d, style)}[{d.code}]: {visible(d.message)}" for d in result.diagnostics]
    count = f"{len(result.gaps)} gap{'' if len(result.gaps) == 1 else 's'}"
    effort = f"{result.explored:,} steps tried, {result.candidates:,} rules considered"
    return "\n\n".join([*errors, *blocks, f"{style.bold(count)}   {effort}"]) + "\n"


def failed(result: GapsResult) -> bool:
    """Whether there are errors: the input could not be used."""
    return any([d.severity is Severity.ERROR for d in result.diagnostics])


def _severity(diagnostic: Diagnostic, style: Style) -> str:
    return style.error("error") if diagnostic.severity is Severity.ERROR else diagnostic.severity.value


def _where(diagnostic: Diagnostic) -> str:
    return diagnostic.labels[0].source if diagnostic.labels else ""


def _first_reason(gap: Gap) -> str:
    return visible(gap.reasons[0] if gap.reasons else gap.kind)


def _block(gap: Gap, style: Style) -> Iterator[str]:
    yield f"{style.warning('gap')}[{gap.code}]: {_first_reason(gap)}"
    for reason in gap.reasons[1:4]:
        yield f"  = why: {visible(reason)}"
    yield f"  this plan for {visible(gap.problem)} is safe by the current rules, and would break the rule below:"
    for number, step in enumerate(gap.plan, 1):
        mark = ">" if number in gap.steps else " "
        yield f"  {mark} {number:>3}  {visible(step)}"
    yield "  a rule that this plan would break, and that another plan keeps:"
    yield from ("    " + visible(line) for line in gap.rule.splitlines())
    if gap.replayed is None:
        yield "  = note: not independently replayed"


def _data(gap: Gap) -> dict[str, object]:
    data = gap._asdict()
    data["bindings"] = [dict(binding) for binding in gap.bindings]
    return data
