"""The command line in Typer: make commands and parameters from their tables; help, completion and messages.

The module of a command is imported when the command is called, because start-up takes most of a small run.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from plansafe.app.interfaces.cli.command_table import DEFAULT, Command, CommandGroup, below, find, with_current_name
from plansafe.app.options.option import CommandFunction, Option, Options, UsageError
from plansafe.grammar.diagnostics import suggest_name

_COMPLETION = (["--install-completion"], ["--show-completion"])
_HELP = ("--help", "-h")
_TYPES: dict[str, type] = {"text": str, "integer": int, "number": float, "switch": bool}
_COMMON = "Common"


@contextmanager
def _readable_messages() -> Iterator[None]:
    """Escape control characters in error messages: they can contain file names that the user has not chosen."""
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            from plansafe.app.system.terminal_text import visible  # noqa: PLC0415 - for a mistake alone

            error.message = visible(error.message)  # type: ignore[attr-defined] # typer's
        raise


class _Group(TyperGroup):
    """A command with subcommands. Without a subcommand it prints its help; for a misspelt one it suggests a name."""

    def below(self) -> dict[str, Command | CommandGroup]:
        """The commands of the table directly below this one."""
        return below(tuple((self.name or "").split()))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; without arguments, print the help on standard error and exit with 2."""
        entry = find(*(self.name or "").split())
        default = entry.default if isinstance(entry, CommandGroup) else ""
        if default and not ctx.resilient_parsing and (not args or (args[0][:1] == "-" and args[0] not in _HELP)):
            args = [default, *args]
        if not (args or ctx.resilient_parsing):
            print(ctx.get_help(), file=sys.stderr)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names."""
        name = args[0]
        if name[:1] != "-" and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            help_ = suggest_name(name, self.list_commands(ctx))
            ctx.fail(f"no such command: {name[:60]}" + (f"; {help_}" if help_ else ""))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as click calls it
        """The names of the commands."""
        return list(self.below())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as click calls it
        """Make the command with this name from its table."""
        entry = find(*(self.name or "").split(), cmd_name)
        return None if entry is None else _build_command(entry)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as click calls it
        """List the commands with their summaries, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.below().items()])


class _Commands(_Group):
    """``safecheck PLAN..`` is short for ``safecheck audit PLAN..``; a name of a command is not read as a file."""

    def below(self) -> dict[str, Command | CommandGroup]:
        """The commands at the top level."""
        return below(())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, after adding the name of the command if it is missing."""
        if not ctx.resilient_parsing or args:  # for the first word, a shell completes the names of commands
            args = self._with_command(args)
        return TyperGroup.parse_args(self, ctx, args)

    def _with_command(self, args: list[str]) -> list[str]:
        args, former = with_current_name(args)
        first = args[0] if args else ""
        if first in {name for parameter in self.params for name in parameter.opts}:  # of completion
            return args
        if not former and (find(first) is not None or (first[:1] == "-" and args not in (["--help"], ["-h"]))):
            return args if find(first) is not None else [DEFAULT, *args]
        from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - not needed for an audit

        if former:
            usage.warn_of_old_name(former)
        if not args:
            raise typer.Exit(usage.print_usage())
        if args in (["--help"], ["-h"], ["help"]):
            raise typer.Exit(usage.print_overview())
        if find(first) is not None:
            return args
        if first.replace("-", "").isalpha():
            if first == "help":
                return usage.help_for(args[1:])
            usage.check_spelling(first)
        return [DEFAULT, *args]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as click calls it
        """Make the command with this name from its table."""
        entry = find(cmd_name)
        return None if entry is None else _build_command(entry)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, or a flag of ``audit``."""
        if incomplete.startswith("-"):
            audit_command = self.get_command(ctx, DEFAULT)
            with audit_command.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True) as inner:
                return [*super().shell_complete(ctx, incomplete), *audit_command.shell_complete(inner, incomplete)]
        return super().shell_complete(ctx, incomplete)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Make the context, with readable messages."""
        with _readable_messages():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with readable messages."""
        with _readable_messages():
            return super().invoke(ctx)


class _Command(TyperCommand):
    """A command whose help groups the options by their headings."""

    table: Mapping[str, Option] = {}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options by heading, and the settings for ``--set``."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            option = self.table.get(str(parameter.name))
            record: Any = parameter.get_help_record(ctx)
            if record is None or (option is not None and option.group == _COMMON):
                continue
            is_argument = option is not None and option.argument
            heading = (
                "Arguments"
                if is_argument
                else f"{option.group} options"
                if option is not None and option.group
                else "Options"
            )
            sections.setdefault(heading, []).append(record)
        if "Options" in sections:
            sections["Options"] = sections.pop("Options")
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        keys = [option.key for option in self.table.values() if option.only_set]
        if keys:
            with formatter.section("Settings for --set KEY=VALUE, explained by `safecheck help settings`"):
                formatter.write_text(", ".join(keys))
        formatter.write_paragraph()
        common = [option.flag for option in self.table.values() if option.group == _COMMON]
        formatter.write_text(f"Also: {', '.join(common)}; see `safecheck --help`." if common else "")


def _build_command(entry: Command | CommandGroup) -> Any:
    """Make the Typer command for an entry of the table."""
    if isinstance(entry, CommandGroup):
        text = entry.summary[:1].upper() + entry.summary[1:] + "."
        if entry.default:
            text += f" Without a command: `{entry.name} {entry.default}`."
        return _Group(name=entry.name, help=text, rich_markup_mode=None)
    loaded = entry.load()
    typer_app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    help_ = inspect.getdoc(loaded.run)
    typer_app.command(entry.words[-1], cls=_Command, help=help_, short_help=entry.summary)(_callback(loaded, entry))
    typer_command: Any = typer.main.get_command(typer_app)
    typer_command.table = loaded.options.table()
    return typer_command


def _callback(loaded: CommandFunction[Any], entry: Command) -> Callable[..., None]:
    """Make the function that runs the command, with the signature that Typer reads."""
    table = loaded.options.table()

    def call(typer_context: typer.Context, **values: Any) -> None:
        if entry.replaced_by:
            from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - not needed for an audit

            usage.warn_of_old_name(entry.name)
        explicit = {name: value for name, value in values.items() if _is_given(typer_context, name)}
        for name, value in explicit.items():
            if table[name].many:
                plain = table[name].enum is None
                explicit[name] = tuple([str(item) if plain else item for item in value])
            if table[name].only_set and not table[name].hidden:
                from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - not needed for an audit

                usage.warn_of_old_flag(table[name])
        assigned = _read_assignments(typer_context, table, explicit)
        options: Options = loaded.options(**{**assigned, **explicit})
        options.assigned = frozenset(assigned)
        try:
            code = loaded.run(options)
        except UsageError as wrong:
            typer_context.fail(str(wrong))
        raise typer.Exit(code)

    parameters = [_parameter("typer_context", typer.Context, inspect.Parameter.empty)]
    for name, option in _arguments_first(table):
        parameters.append(_parameter(name, _annotation(option), _default(option)))
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # Typer reads it
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _arguments_first(table: Mapping[str, Option]) -> list[tuple[str, Option]]:
    return sorted(table.items(), key=lambda item: not item[1].argument)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _default(option: Option) -> Any:
    if option.required:
        return inspect.Parameter.empty
    return None if option.many else option.default


def _annotation(option: Option) -> Any:
    """The type and the help of a parameter, in the form that Typer reads."""
    kind: Any = _TYPES.get(option.kind)
    if option.kind == "choice":
        kind = option.enum or Literal[option.choices]
        if option.many and option.enum is None:  # Typer does not support lists of literals
            enumeration: Any = StrEnum
            kind = enumeration("Choice", [(value.upper().replace("-", "_"), value) for value in option.choices])
    if option.many:
        kind = list[kind]
    if not option.required and option.kind != "switch":
        kind = kind | None
    if option.argument:
        return Annotated[kind, typer.Argument(metavar=option.metavar, help=option.help)]
    flags = [f"{option.flags[0]}/{option.off}"] if option.off else list(option.flags)
    extra: dict[str, Any] = {"metavar": option.metavar or None, "hidden": option.only_set or option.hidden}
    if option.kind in ("integer", "number"):
        extra |= {"min": option.low, "max": option.high}
    if option.action is not None:
        extra |= {"is_eager": True, "callback": option.action}
    return Annotated[kind, typer.Option(*flags, help=option.help, **extra)]


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _read_assignments(context: typer.Context, table: Mapping[str, Option], explicit: dict[str, Any]) -> dict[str, Any]:
    """Read the values that ``--set`` gives."""
    keys = {option.key: name for name, option in table.items() if option.key and option.kind and not option.argument}
    values: dict[str, Any] = {}
    for text in explicit.get("assignments", ()):
        key, equals, value = text.partition("=")
        if not equals:
            context.fail(f"--set takes KEY=VALUE, not {text!a}")
        name = keys.get(key)
        if name is None:
            advice = suggest_name(key[:60], tuple(keys)) or f"keys: {', '.join(keys)}"
            context.fail(f"--set: {key[:60]!a} is not a setting of this command; {advice}")
        option = table[name]
        if name in explicit:
            context.fail(f"--set {key} and {option.flag} set the same value")
        try:
            parsed = option.read(value)
        except ValueError as wrong:
            context.fail(f"--set: {key} {wrong}")
        values[name] = (*values.get(name, ()), parsed) if option.many else parsed
    return values


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A verifier for plans.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root() -> None:
    """Make Typer treat ``audit`` as a subcommand."""


def run() -> int:
    """Run the command line. Typer usually ends the process; otherwise the result is the exit code."""
    if "_SAFECHECK_COMPLETE" in os.environ or sys.argv[1:2] in _COMPLETION:
        from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - not needed for an audit

        usage.complete(_Commands)
    app(prog_name="safecheck")
    return 0
