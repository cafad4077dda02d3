"""The command ``serve lsp``: the language server over standard input and output (docs/service.md#editors)."""

from __future__ import annotations

import sys

from plansafe.app.options.option import command, switch
from plansafe.app.options.shared import MemoryLimit
from plansafe.app.system.process import complain, for_a_program, guarded, limit_memory
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic


class LspOptions(MemoryLimit):
    """The options of ``serve lsp``."""

    stdio: bool = switch(
        "--stdio", default=True, hidden=True, help="Use standard input and output, which is the only transport."
    )


@command(LspOptions)
def server(options: LspOptions) -> int:
    """Run the language server: diagnostics while typing, the effects of each step, repairs as quick fixes.

    It speaks the Language Server Protocol over standard input and output. Editors start it (docs/service.md#editors).
    It finds the domain, the problem and the rules of a file in the same way as the other commands.

    Exit codes: 0 the editor ended the server, 2 a package is missing.
    """
    limit_memory(options.memory_limit)
    return guarded(_serve)


def _serve() -> int:
    try:
        import lsprotocol.types  # noqa: F401, PLC0415 - an optional package
        import pygls.lsp.server  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - only needed for this error

        advice = how_to_install("lsp")
        return complain(Diagnostic(SC.BAD_OPTION, f"the language server needs the package {error.name}", help=advice))
    from plansafe.app.interfaces.editor.server import make_server  # noqa: PLC0415 - needs the optional package
    from plansafe.app.system.version import version  # noqa: PLC0415

    for_a_program("an editor", "docs/service.md#editors")
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # printed text must not mix with protocol messages
    make_server(version()).start_io(sys.stdin.buffer, output)
    return 0
