"""The commands ``hazards`` and ``detector``: what the rules stand for, and rules made of a table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, command, switch, text
from plansafe.app.options.shared import Assignments
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.catalogue import library
from plansafe.app.system.file_writing import STANDARD_OUTPUT, Guard, NotWritten, save
from plansafe.app.system.process import complain, guarded, print_text, remark, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity, near
from plansafe.specs import table_names, table_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plansafe.specs.taxonomy import Taxonomies, Taxonomy
    from plansafe.verifier.api import Checker

_LIBRARY = "home"
_RULES_SHOWN = 6


class HazardsOptions(Assignments):
    """The options of ``rules hazards``."""

    taxonomy: str | None = argument("[TAXONOMY]", "Show only this one: safel, safeplan-bench, ..")
    domain: str = text(
        "--domain", metavar="NAME", default="virtualhome", help="Count only rules that apply in this shipped domain."
    )
    categories: str | None = text(
        "--table",
        metavar="FILE",
        help="Use this table of categories (TOML).",
        key="hazards.table",
        only_set=True,
    )
    every: bool = switch("--all", help="Name all rules of a category.")


class DetectorOptions(Options):
    """The options of ``rules detector``."""

    source: str = argument("TABLE", "A detector's table (TOML), or the name of a shipped one's world.", required=True)
    output: str | None = text("--output", "-o", metavar="FILE", help="Write the specification to this file.")


@command(HazardsOptions)
def hazards(options: HazardsOptions) -> int:
    """Show which rules of the hazard library stand for which category of published taxonomies, and what has none.

    What a table leaves out is said, and no mistake. Exit codes: 0, or 2 for a table that cannot be used.
    """
    return guarded(lambda: _hazards(options.taxonomy, options.domain, options.categories, options.every))


def _hazards(wanted: str | None, domain: str, table: str | None, every: bool) -> int:
    from plansafe.specs.taxonomy import check, load, read  # noqa: PLC0415 - for this command alone

    given = None if table is None else Discovery(Choice()).read(table, "table", "--table")
    if isinstance(given, Diagnostic):
        return complain(given)
    taxonomies = load() if given is None else read(given.source)
    checker = library(domain)
    if isinstance(checker, Diagnostic):
        return complain(checker)
    said = taxonomies.diagnostics or check(taxonomies, checker.rules)
    wrong = [diagnostic for diagnostic in said if diagnostic.severity is Severity.ERROR]
    if said:
        print_diagnostics(wrong or said, {taxonomies.table.name: taxonomies.table})
    if wrong:
        return 2
    if not taxonomies.taxonomies:
        message = f"the table {visible(taxonomies.table.name)} has no taxonomy"
        return complain(Diagnostic(SC.BAD_TAXONOMY, message, help="write `[NAME.categories]`, and a category below it"))
    chosen = [t for t in taxonomies.taxonomies if wanted is None or t.name == wanted.lower()]
    if not chosen:
        names = [t.name for t in taxonomies.taxonomies]
        help = near((wanted or "").lower(), names) or f"there are: {', '.join(names)}"
        return complain(Diagnostic(SC.BAD_OPTION, f"no taxonomy is named {wanted!a}", help=help))
    stream = standard_output()
    stream.write("\n".join(_shown(taxonomies, chosen, checker, domain, every)) + "\n")
    return 0


def _shown(
    taxonomies: Taxonomies, chosen: Iterable[Taxonomy], checker: Checker, domain: str, every: bool
) -> Iterable[str]:
    from plansafe.specs.taxonomy import coverage  # noqa: PLC0415 - for this command alone

    applicable = [rule for rule in checker.rules if rule.applicable]
    counts = f"{len(applicable)} of {len(checker.rules)} rules of `{_LIBRARY}`"
    yield f"{counts} apply to {domain}  ({visible(taxonomies.table.name)})"
    for taxonomy in chosen:
        yield f"\n{visible(taxonomy.name)}: {visible(taxonomy.title)}"
        for covered in coverage(taxonomy, applicable, domain):
            names = covered.rules if every else covered.rules[:_RULES_SHOWN]
            more = f", and {len(covered.rules) - len(names)} more" if len(names) < len(covered.rules) else ""
            what = ", ".join(names) + more if names else f"no rule: {covered.reason or 'no reason is given'}"
            yield f"  {visible(covered.category.name):<32} {len(covered.rules):>3}  {visible(what)}"


@command(DetectorOptions)
def detector(options: DetectorOptions) -> int:
    """Make a specification of a safety detector: a table from actions, and states at the end, to harm categories.

    Exit codes: 0 made, 2 a table that cannot be used.
    """
    return guarded(lambda: _detector(options.source, options.output))


def _detector(path: str, output: str | None) -> int:
    from plansafe.specs.detector import compile_detector  # noqa: PLC0415 - for this command alone

    if not os.path.exists(path):
        path = table_path(path) or path
    found = Discovery(Choice()).read(path, "table", "given")
    if isinstance(found, Diagnostic):
        if found.code == SC.NO_FILE:
            names = table_names()
            shipped = f"name a file, or a world with a shipped table: {', '.join(names)}"
            beside = found.help if os.path.splitext(path)[1] else None
            found = found._replace(help=near(path.lower(), names) or beside or shipped)
        return complain(found)
    source = found.source
    made = compile_detector(source)
    if made.specification is None:
        return print_diagnostics(made.diagnostics, {source.name: source})
    text = made.specification.text

    if output is None or output in STANDARD_OUTPUT:
        print_text(text)
        return 0
    try:
        remark(save(output, text, Guard((source.name,))))
    except NotWritten as refused:
        return complain(refused.diagnostic)
    return 0
