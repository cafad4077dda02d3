"""The command line: flags to settings, results to text, verdicts to exit codes.

Start-up is most of a small run, so everything that ``--help`` or a misspelt flag does not need is imported inside the
command.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from plansafe.app.service import Settings

INTERRUPTED = 130
_MANY = 20
"""Plans in a batch from which findings are replayed on request alone (``--replay always``)."""
BROKEN_PIPE = 141
_REPORT = """
safecheck: internal error. This is a bug in safecheck, not in your files.
Please report it with the text above, the command line, and the files if you can share them;
`safecheck --version` says which version this is.
"""


class Format(StrEnum):
    """How reports are written."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"


class BlameChoice(StrEnum):
    """Which violations are listed."""

    INTRODUCED = "introduced"
    WORSENED = "worsened"
    PRE_EXISTING = "pre-existing"


class Replay(StrEnum):
    """When the independent kernel replays a plan."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Color(StrEnum):
    """When the output is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class _Commands(TyperGroup):
    """``safecheck PLAN..`` is short for ``safecheck audit PLAN..``; the name of a command wins over a file's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = ["audit", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A verifier for plans.",
)


@app.callback()
def _root() -> None:
    """Keep ``audit`` a command among others."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from plansafe.app.render import version  # noqa: PLC0415

        print(f"safecheck {version()}")
        raise typer.Exit


def _show_page(code: str | None) -> None:
    if code is None:
        return
    from plansafe.app.explain import codes, page  # noqa: PLC0415

    text = page(code)
    if text is None:
        print(f"error[SC607]: no such code: {code!a}\nknown codes: {' '.join(codes())}", file=sys.stderr)
        raise typer.Exit(2)
    print(text, end="")
    raise typer.Exit


@app.command()
def audit(
    plans: Annotated[
        list[str], typer.Argument(metavar="PLAN..", help="Plan files, folders of plans, or `-` for standard input.")
    ],
    domain: Annotated[str | None, typer.Option(metavar="FILE", help="The domain.")] = None,
    problem: Annotated[str | None, typer.Option(metavar="FILE", help="The problem.")] = None,
    spec: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A safety specification, or the name of a shipped one. May be repeated."),
    ] = None,
    no_default_spec: Annotated[
        bool, typer.Option("--no-default-spec", help="Use no specification that --spec does not name.")
    ] = False,
    require_rules: Annotated[
        bool, typer.Option("--require-rules", help="Exit with 2 if no rule had anything to check.")
    ] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Ignore what the plan itself says about its domain and problem.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="How to write the report.")] = Format.FULL,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the report to a file, which is replaced only when it is complete."),
    ] = None,
    color: Annotated[Color, typer.Option(help="Colour the report.")] = Color.AUTO,
    full_state: Annotated[
        bool, typer.Option("--full-state", help="Show the whole state that each finding was judged in.")
    ] = False,
    blame: Annotated[
        list[BlameChoice] | None, typer.Option(help="List only violations with this blame. May be repeated.")
    ] = None,
    lenient_types: Annotated[bool, typer.Option("--lenient-types", help="Take type mismatches for warnings.")] = False,
    tolerance: Annotated[str, typer.Option(metavar="TIME", help="Tolerance of durations and separation.")] = "0.001",
    replay: Annotated[Replay, typer.Option(help="Check findings with the independent kernel.")] = Replay.AUTO,
    time_limit: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="For each plan; 0: none.")] = 300.0,
    memory_limit: Annotated[int, typer.Option(min=0, metavar="MIB", help="For the whole run; 0: none.")] = 8192,
    max_findings: Annotated[
        int, typer.Option(min=1, metavar="N", help="List at most so many findings for a plan.")
    ] = 100,
    max_instances: Annotated[
        int, typer.Option(min=1, metavar="N", help="Give up on a rule with more instances at work than this.")
    ] = 5_000_000,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", is_eager=True, callback=_show_page, help="Explain a code such as SC201, and exit."
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version, and exit.")
    ] = False,
) -> None:
    """Judge plans: can they be executed, do they reach the goal, are they safe?

    Without flags, the domain, the problem and the specification are found beside the plan or among the shipped ones;
    the report says what was used. Exit codes: 0 SAFE or VALID, 1 INVALID or UNSAFE, 2 usage, unreadable file or
    ill-formed step, 3 UNKNOWN, 4 a bug in safecheck. A batch returns the first present of 4, 2, 1, 3, 0.
    """
    from plansafe.app.service import Settings  # noqa: PLC0415

    settings = Settings(
        domain=domain,
        problem=problem,
        specs=tuple(spec or ()),
        default_spec=not no_default_spec,
        gate=gate,
        require_rules=require_rules,
        lenient_types=lenient_types,
        blame=tuple(choice.value for choice in blame or ()),
        tolerance=tolerance,
        time_limit=time_limit,
        max_findings=max_findings,
        max_instances=max_instances,
        full_state=full_state,
        replay=replay.value,
        hashes=form is Format.JSON,
    )
    _limit_memory(memory_limit)
    raise typer.Exit(_guarded(plans, settings, form.value, output, color.value))


def _guarded(plans: list[str], settings: Settings, form: str, output: str | None, color: str) -> int:
    """Run the audit; whatever goes wrong has an exit code that is no verdict."""
    try:
        return _audit(plans, settings, form, output, color)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on. The interpreter would complain about the unflushed rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception:
        import traceback  # noqa: PLC0415 - for bugs alone

        traceback.print_exc()
        print(_REPORT, file=sys.stderr)
        return 4


def _audit(plans: list[str], settings: Settings, form: str, output: str | None, color: str) -> int:
    import gc  # noqa: PLC0415

    from plansafe.app.progress import Progress  # noqa: PLC0415
    from plansafe.app.render import renderer  # noqa: PLC0415
    from plansafe.app.service import audit as results  # noqa: PLC0415
    from plansafe.app.service import combined_exit_code, expand, usage_problem  # noqa: PLC0415

    # Millions of small tuples, hardly any cycles: the default would spend a third of the time on looking.
    gc.set_threshold(200_000, 50, 100)
    problem = usage_problem(settings)
    if problem is not None:
        print(f"error[{problem.code}]: {problem.message}", file=sys.stderr)
        return 2
    paths = expand(plans)
    if settings.replay == "auto" and len(paths) > _MANY:
        settings = settings._replace(replay="never")  # the kernel would take most of a batch's time
    progress = Progress(len(paths))
    stream = sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    file = None
    try:
        if output is not None:
            file = stream = _temporary(output)
        view = renderer(form, settings, _wants_color(color, stream))
        codes = set()
        for result in results(paths, settings):
            codes.add(result.exit_code)
            text = view.plan(result)
            progress.clear()
            stream.write(text)
            if result.failure is not None:
                print(result.failure + _REPORT, file=sys.stderr)
            progress.step()
        progress.clear()
        stream.write(view.end())
        stream.flush()
        if file is not None and output is not None:
            file.close()
            os.replace(file.name, output)
            file = None
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        where = output if output is not None else "standard output"
        print(f"error[SC607]: cannot write {where}: {error.strerror or error}", file=sys.stderr)
        return 2
    finally:
        progress.clear()
        if file is not None:
            file.close()
            os.unlink(file.name)
    return combined_exit_code(codes)


def _temporary(output: str) -> TextIO:
    """Open a file beside ``output``, to be renamed when complete: a reader never sees half a report."""
    folder, name = os.path.split(output)
    path = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    return open(path, "x", encoding="utf-8", errors="backslashreplace", newline="\n")


def _wants_color(choice: str, stream: TextIO) -> bool:
    if choice == "auto":
        return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def _limit_memory(mebibytes: int) -> None:
    """Bound the address space of this process, so that a huge input ends in an answer and not in a frozen machine."""
    if not mebibytes:
        return
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    limit = mebibytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def main() -> None:
    """Run the command line; the entry point of ``safecheck``."""
    try:
        app(prog_name="safecheck")
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except OSError as error:
        print(f"error[SC607]: cannot write standard output: {error.strerror or error}", file=sys.stderr)
        os._exit(2)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = BROKEN_PIPE
    # The process ends here. Taking a large model apart object by object would cost as much as a tenth of the audit.
    os._exit(code)


if __name__ == "__main__":
    main()
