"""The entry point of ``safecheck``."""

from __future__ import annotations

import os
import sys

from plansafe.app.interfaces.cli.audit import AuditOptions, audit
from plansafe.app.options.option import parse
from plansafe.grammar.codes import SC


def _run() -> int:
    """Run the command line: a plain audit without Typer, whose import takes half of the start. An exit code."""
    words = sys.argv[1:]
    if "_SAFECHECK_COMPLETE" not in os.environ and (options := plain_audit(words)) is not None:
        return audit.run(options)
    from plansafe.app.interfaces.cli.commandline import run  # noqa: PLC0415 - loads Typer

    return run()


def plain_audit(words: list[str]) -> AuditOptions | None:
    """The options of a command line that asks for an audit and has no mistake; ``None`` for any other."""
    if words[:1] == ["audit"]:
        words = words[1:]
    elif not words or (words[0][:1] != "-" and words[0].replace("-", "").isalpha()):
        return None  # the first word may be the name of a command, or nearly one
    values = parse(words, AuditOptions.table())
    return AuditOptions(**values) if values is not None and "plans" in values else None


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
