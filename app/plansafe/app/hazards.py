"""The commands ``hazards`` and ``detector``: what the rules stand for, and rules made of a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from plansafe.app.render.text import visible
from plansafe.app.running import complain, guarded, standard_output, unwritable, written
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plansafe.specs.taxonomy import Taxonomies, Taxonomy
    from plansafe.verifier.api import Checker

_LIBRARY = "home"
_RULES_SHOWN = 6


def hazards(
    taxonomy: Annotated[
        str | None, typer.Argument(metavar="[TAXONOMY]", help="Show only this one: safel, safeplan-bench, ..")
    ] = None,
    domain: Annotated[
        str, typer.Option("--domain", metavar="NAME", help="A shipped domain: only rules that apply there count.")
    ] = "virtualhome",
    table: Annotated[
        str | None, typer.Option("--table", metavar="FILE", help="Use this table of categories (TOML).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Name all rules of a category.")] = False,
) -> None:
    """Show which rules of the hazard library stand for which category of published taxonomies, and what has none.

    Exit codes: 0, or 2 for a table that cannot be used.
    """
    raise typer.Exit(guarded(lambda: _hazards(taxonomy, domain, table, every)))


def _hazards(wanted: str | None, domain: str, table: str | None, every: bool) -> int:
    from plansafe.app.domains import library  # noqa: PLC0415 - loads the engine
    from plansafe.specs.taxonomy import check, load  # noqa: PLC0415

    try:
        taxonomies = load(table)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        return complain(Diagnostic("SC601", f"cannot read {visible(table or '')}: {reason}"))
    checker = library(domain)
    if isinstance(checker, Diagnostic):
        return complain(checker)
    wrong = taxonomies.diagnostics or check(taxonomies, checker.rules)
    if wrong:
        return told(wrong, {taxonomies.table.name: taxonomies.table})
    chosen = [t for t in taxonomies.taxonomies if wanted is None or t.name == wanted.lower()]
    if not chosen:
        names = ", ".join([t.name for t in taxonomies.taxonomies])
        return complain(Diagnostic("SC607", f"no taxonomy is named {wanted!a}", help=f"there are: {names}"))
    stream = standard_output()
    stream.write("\n".join(_shown(taxonomies, chosen, checker, domain, every)) + "\n")
    return 0


def _shown(
    taxonomies: Taxonomies, chosen: Iterable[Taxonomy], checker: Checker, domain: str, every: bool
) -> Iterable[str]:
    from plansafe.specs.taxonomy import coverage  # noqa: PLC0415

    applicable = [rule for rule in checker.rules if rule.applicable]
    counts = f"{len(applicable)} of {len(checker.rules)} rules of `{_LIBRARY}`"
    yield f"{counts} apply to {domain}  ({visible(taxonomies.table.name)})"
    for taxonomy in chosen:
        yield f"\n{taxonomy.name}: {taxonomy.title}"
        for covered in coverage(taxonomy, applicable, domain):
            names = covered.rules if every else covered.rules[:_RULES_SHOWN]
            more = f", and {len(covered.rules) - len(names)} more" if len(names) < len(covered.rules) else ""
            what = ", ".join(names) + more if names else f"no rule: {covered.reason or 'no reason is given'}"
            yield f"  {covered.category.name:<32} {len(covered.rules):>3}  {what}"


def detector(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A detector's table (TOML), or the name of a shipped one's world.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the specification to this file.")
    ] = None,
) -> None:
    """Make a specification of a safety detector: a table from actions, and states at the end, to harm categories.

    Exit codes: 0 made, 2 a table that cannot be used.
    """
    raise typer.Exit(guarded(lambda: _detector(table, output)))


def _detector(path: str, output: str | None) -> int:
    import os  # noqa: PLC0415

    from plansafe.specs import table_path  # noqa: PLC0415
    from plansafe.specs.detector import compile_detector  # noqa: PLC0415

    if not os.path.exists(path):
        path = table_path(path) or path
    try:
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read())
    except OSError as error:
        help = "name a file, or a world with a shipped table: virtualhome, igibson"
        return complain(Diagnostic("SC601", f"cannot read {visible(path)}: {error.strerror}", help=help))
    made = compile_detector(source)
    if made.specification is None:
        return told(made.diagnostics, {source.name: source})
    text = made.specification.text

    def work(stream: object) -> int:
        print(text, end="", file=stream)  # type: ignore[call-overload]
        return 0

    try:
        return written(output, work)
    except OSError as error:
        return complain(unwritable(visible(output or "standard output"), error))


def told(diagnostics: Iterable[Diagnostic], sources: dict[str, Source]) -> int:
    """Say what is wrong with a file of the user, with its places, on standard error; the exit code of that."""
    from plansafe.app.render.full import FullRenderer  # noqa: PLC0415 - for a mistake alone
    from plansafe.app.render.text import Style  # noqa: PLC0415
    from plansafe.app.service import Result, unjudged  # noqa: PLC0415

    view = FullRenderer(Style(False), False)
    result = Result("", unjudged(""), (), sources)
    for diagnostic in diagnostics:
        print(view.diagnostic(diagnostic, result), file=sys.stderr)
    return 2
