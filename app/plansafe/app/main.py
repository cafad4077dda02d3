"""The entry point of ``safecheck``."""

from __future__ import annotations

import os
import sys

from plansafe.app.interfaces.cli import audit_without_typer
from plansafe.grammar.codes import SC


def _run() -> int:
    """Run the command line: a plain audit by itself, anything else with every flag. An exit code."""
    asked = None if "_SAFECHECK_COMPLETE" in os.environ else audit_without_typer.read(sys.argv[1:])
    code = None if asked is None else audit_without_typer.run(asked)
    if code is not None:
        return code
    from plansafe.app.interfaces.cli.commandline import run  # noqa: PLC0415 - loads Typer, which takes half of the start

    return run()


def main() -> None:
    """Run the command line, and end the process."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: the exit code is all that they want
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
    try:
        code = _run()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except OSError as error:
        print(f"error[{SC.BAD_OPTION}]: cannot write standard output: {error.strerror or error}", file=sys.stderr)
        os._exit(2)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        from plansafe.app.system.process import BROKEN_PIPE  # noqa: PLC0415 - when a pipe breaks alone

        code = BROKEN_PIPE
    # The process ends here. Taking a large model apart object by object would cost as much as a tenth of the audit.
    os._exit(code)


if __name__ == "__main__":
    main()
