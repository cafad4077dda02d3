"""The command ``server``: the language server over standard input and output (docs/editor.md)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from plansafe.app.interfaces.cli.options import MemoryLimit
from plansafe.app.system.process import MEMORY_MIB, complain, for_a_program, guarded, limit_memory
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic


def server(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Speak over standard input and output; that is what it does anyway.")
    ] = True,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Serve an editor: diagnostics as one types, what each step changes, the nearest safe plan as a fix.

    It speaks the Language Server Protocol over standard input and output, and is started by an editor (docs/editor.md).
    What files are checked with is what the other commands check them with: project files, then what lies beside them.

    Exit codes: 0 the editor ended it, 2 a package is missing.
    """
    del stdio
    limit_memory(memory_limit)
    raise typer.Exit(guarded(_serve))


def _serve() -> int:
    try:
        import lsprotocol.types  # noqa: F401, PLC0415 - an optional package
        import pygls.lsp.server  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - where it is missing alone

        advice = how_to_install("lsp")
        return complain(Diagnostic(SC.BAD_OPTION, f"the language server needs the package {error.name}", help=advice))
    from plansafe.app.interfaces.editor.server import make_server  # noqa: PLC0415 - needs the optional package
    from plansafe.app.render import version  # noqa: PLC0415

    for_a_program("an editor", "docs/editor.md")
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything prints must not get between the messages
    make_server(version()).start_io(sys.stdin.buffer, output)
    return 0
