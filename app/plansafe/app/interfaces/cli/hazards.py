"""The commands ``rules hazards`` and ``rules detector``: hazards that rules cover; rules from a detector's table."""

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
from plansafe.grammar.diagnostics import Diagnostic, Severity, suggest_name
from plansafe.specs import find_detector_path, list_detector_worlds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plansafe.specs.taxonomy import Taxonomies, Taxonomy
    from plansafe.verifier.api import Checker

_LIBRARY = "home"
_RULES_SHOWN = 6


class HazardsOptions(Assignments):
    """The options of ``rules hazards``."""

    taxonomy: str | None = argument("[TAXONOMY]", "Show only this taxonomy: safel, safeplan-bench, ..")
    domain: str = text(
        "--domain", metavar="NAME", default="virtualhome", help="Count only rules that apply in this shipped domain."
    )
    categories: str | None = text(
        "--table", metavar="FILE", help="Use this table of categories (TOML).", set_key="hazards.table"
    )
    list_all: bool = switch("--all", help="List all rules of a category.")


class DetectorOptions(Options):
    """The options of ``rules detector``."""

    source: str = argument("TABLE", "A detector's table (TOML), or a world with a shipped table.", required=True)
    output: str | None = text("--output", "-o", metavar="FILE", help="Write the specification to this file.")


@command(HazardsOptions)
def hazards(options: HazardsOptions) -> int:
    """Show which rules of the hazard library cover which category of published taxonomies, and which have no rule.

    A category without a rule is shown with its reason and is not an error. Exit codes: 0, or 2 if a table cannot be
    used.
    """
    return guarded(lambda: _hazards(options.taxonomy, options.domain, options.categories, options.list_all))


def _hazards(taxonomy_name: str | None, domain: str, custom_table: str | None, list_all: bool) -> int:
    from plansafe.specs.taxonomy import check_taxonomies, load_taxonomies, read_taxonomies  # noqa: PLC0415 - for this command alone

    table_file = None if custom_table is None else Discovery(Choice()).read(custom_table, "table", "--table")
    if isinstance(table_file, Diagnostic):
        return complain(table_file)
    taxonomies = load_taxonomies() if table_file is None else read_taxonomies(table_file.source)
    checker = library(domain)
    if isinstance(checker, Diagnostic):
        return complain(checker)
    problems = taxonomies.diagnostics or check_taxonomies(taxonomies, checker.rules)
    errors = [diagnostic for diagnostic in problems if diagnostic.severity is Severity.ERROR]
    if problems:
        print_diagnostics(errors or problems, {taxonomies.table.name: taxonomies.table})
    if errors:
        return 2
    if not taxonomies.taxonomies:
        message = f"the table {visible(taxonomies.table.name)} has no taxonomy"
        return complain(
            Diagnostic(SC.BAD_TAXONOMY, message, help="write `[NAME.categories]` with at least one category")
        )
    chosen = [t for t in taxonomies.taxonomies if taxonomy_name is None or t.name == taxonomy_name.lower()]
    if not chosen:
        names = [t.name for t in taxonomies.taxonomies]
        help = suggest_name((taxonomy_name or "").lower(), names) or f"taxonomies: {', '.join(names)}"
        return complain(Diagnostic(SC.BAD_OPTION, f"unknown taxonomy {taxonomy_name!a}", help=help))
    stream = standard_output()
    stream.write("\n".join(_table_lines(taxonomies, chosen, checker, domain, list_all)) + "\n")
    return 0


def _table_lines(
    taxonomies: Taxonomies, chosen: Iterable[Taxonomy], checker: Checker, domain: str, list_all: bool
) -> Iterable[str]:
    from plansafe.specs.taxonomy import find_category_coverage  # noqa: PLC0415 - for this command alone

    applicable = [rule for rule in checker.rules if rule.applicable]
    counts = f"{len(applicable)} of {len(checker.rules)} rules of `{_LIBRARY}`"
    yield f"{counts} apply to {domain}  ({visible(taxonomies.table.name)})"
    for taxonomy in chosen:
        yield f"\n{visible(taxonomy.name)}: {visible(taxonomy.title)}"
        for covered in find_category_coverage(taxonomy, applicable, domain):
            names = covered.rules if list_all else covered.rules[:_RULES_SHOWN]
            more = f", and {len(covered.rules) - len(names)} more" if len(names) < len(covered.rules) else ""
            description = ", ".join(names) + more if names else f"no rule: {covered.reason or 'no reason is given'}"
            yield f"  {visible(covered.category.name):<32} {len(covered.rules):>3}  {visible(description)}"


@command(DetectorOptions)
def detector(options: DetectorOptions) -> int:
    """Make a specification from a safety detector: a table that maps actions and states to harm categories.

    docs/own-rules.md leads through a table, which needs no knowledge of the rule language.

    Exit codes: 0 made, 2 the table cannot be used.
    """
    return guarded(lambda: _detector(options.source, options.output))


def _detector(path: str, output: str | None) -> int:
    from plansafe.specs.detector import compile_detector  # noqa: PLC0415 - for this command alone

    if not os.path.exists(path):
        path = find_detector_path(path) or path
    table = Discovery(Choice()).read(path, "table", "given")
    if isinstance(table, Diagnostic):
        if table.code == SC.NO_FILE:
            names = list_detector_worlds()
            shipped = f"name a file, or a world with a shipped table: {', '.join(names)}"
            other_help = table.help if os.path.splitext(path)[1] else None
            table = table._replace(help=suggest_name(path.lower(), names) or other_help or shipped)
        return complain(table)
    source = table.source
    compiled = compile_detector(source)
    if compiled.specification is None:
        return print_diagnostics(compiled.diagnostics, {source.name: source})
    text = compiled.specification.text

    if output is None or output in STANDARD_OUTPUT:
        print_text(text)
        return 0
    try:
        remark(save(output, text, Guard((source.name,))))
    except NotWritten as refused:
        return complain(refused.diagnostic)
    return 0
