"""The command line as Typer has it: commands and parameters made of their tables, help, completion, messages.

Start-up is most of a small run, so the module of a command is imported when that command is called.
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

from plansafe.app.interfaces.cli.command_table import (
    DEFAULT,
    Command,
    CommandGroup,
    below,
    find,
    with_present_name,
)
from plansafe.app.options.option import CommandFunction, Option, Options, UsageError
from plansafe.grammar.diagnostics import near

_COMPLETION = (["--install-completion"], ["--show-completion"])
_HELP = ("--help", "-h")
_TYPES: dict[str, type] = {"text": str, "integer": int, "number": float, "switch": bool}
_COMMON = "Common"


@contextmanager
def _legible() -> Iterator[None]:
    """Mistakes on the command line may repeat the name of a file that somebody else has chosen."""
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            from plansafe.app.system.terminal_text import visible  # noqa: PLC0415 - for a mistake alone

            error.message = visible(error.message)  # type: ignore[attr-defined] # typer's
        raise


class _Group(TyperGroup):
    """A command with commands of its own: typed alone they are listed, a misspelt one has its near name."""

    def below(self) -> dict[str, Command | CommandGroup]:
        """The commands of the table directly below this one."""
        return below(tuple((self.name or "").split()))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments; without any, the help goes to standard error, and the exit code is 2."""
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
            help_ = near(name, self.list_commands(ctx))
            ctx.fail(f"no such command: {name[:60]}" + (f"; {help_}" if help_ else ""))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as click calls it
        """The names of the commands."""
        return list(self.below())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as click calls it
        """The command of that name, made of its table."""
        entry = find(*(self.name or "").split(), cmd_name)
        return None if entry is None else _built(entry)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as click calls it
        """List the commands with their summaries, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.below().items()])


class _Commands(_Group):
    """``safecheck PLAN..`` is short for ``safecheck audit PLAN..``; the name of a command wins over a file's."""

    def below(self) -> dict[str, Command | CommandGroup]:
        """The commands at the top."""
        return below(())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, beginning with the name of a command."""
        if not ctx.resilient_parsing or args:  # a shell that asks for the first word wants the commands
            args = self._with_command(args)
        return TyperGroup.parse_args(self, ctx, args)

    def _with_command(self, args: list[str]) -> list[str]:
        args, former = with_present_name(args)
        first = args[0] if args else ""
        if first in {name for parameter in self.params for name in parameter.opts}:  # of completion
            return args
        if not former and (find(first) is not None or (first[:1] == "-" and args not in (["--help"], ["-h"]))):
            return args if find(first) is not None else [DEFAULT, *args]
        from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - for this alone

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
        """The command of that name, made of its table."""
        entry = find(cmd_name)
        return None if entry is None else _built(entry)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, or a flag of ``audit``."""
        if incomplete.startswith("-"):
            audit_command = self.get_command(ctx, DEFAULT)
            with audit_command.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True) as inner:
                return [*super().shell_complete(ctx, incomplete), *audit_command.shell_complete(inner, incomplete)]
        return super().shell_complete(ctx, incomplete)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """The context, with legible messages."""
        with _legible():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with legible messages."""
        with _legible():
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


def _built(entry: Command | CommandGroup) -> Any:
    """The command of Typer for an entry of the table."""
    if isinstance(entry, CommandGroup):
        text = entry.summary[:1].upper() + entry.summary[1:] + "."
        if entry.default:
            text += f" Without a command: `{entry.name} {entry.default}`."
        return _Group(name=entry.name, help=text, rich_markup_mode=None)
    loaded = entry.load()
    holder = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    help_ = inspect.getdoc(loaded.run)
    holder.command(entry.words[-1], cls=_Command, help=help_, short_help=entry.summary)(_callback(loaded, entry))
    built: Any = typer.main.get_command(holder)
    built.table = loaded.options.table()
    return built


def _callback(loaded: CommandFunction[Any], entry: Command) -> Callable[..., None]:
    """A function with the parameters of a table, as Typer reads them; it runs the command."""
    table = loaded.options.table()

    def call(typer_context: typer.Context, **values: Any) -> None:
        if entry.replaced_by:
            from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - for this alone

            usage.warn_of_old_name(entry.name)
        given = {name: value for name, value in values.items() if _is_given(typer_context, name)}
        for name, value in given.items():
            if table[name].many:
                plain = table[name].enum is None
                given[name] = tuple([str(item) if plain else item for item in value])
            if table[name].only_set and not table[name].hidden:
                from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - for this alone

                usage.warn_of_old_flag(table[name])
        assigned = _assigned(typer_context, table, given)
        options: Options = loaded.options(**{**assigned, **given})
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
    """The type and the help of a parameter, as Typer wants them."""
    kind: Any = _TYPES.get(option.kind)
    if option.kind == "choice":
        kind = option.enum or Literal[option.choices]
        if option.many and option.enum is None:  # Typer takes no list of literals
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


def _assigned(context: typer.Context, table: Mapping[str, Option], given: dict[str, Any]) -> dict[str, Any]:
    """The values that ``--set`` gives."""
    keys = {option.key: name for name, option in table.items() if option.key and option.kind and not option.argument}
    found: dict[str, Any] = {}
    for text in given.get("assignments", ()):
        key, equals, value = text.partition("=")
        if not equals:
            context.fail(f"--set takes KEY=VALUE, not {text!a}")
        name = keys.get(key)
        if name is None:
            advice = near(key[:60], tuple(keys)) or f"keys: {', '.join(keys)}"
            context.fail(f"--set: {key[:60]!a} is not a setting of this command; {advice}")
        option = table[name]
        if name in given:
            context.fail(f"--set {key} and {option.flag} set the same value")
        try:
            read = option.read(value)
        except ValueError as wrong:
            context.fail(f"--set: {key} {wrong}")
        found[name] = (*found.get(name, ()), read) if option.many else read
    return found


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
    """Keep ``audit`` a command among others."""


def run() -> int:
    """Run the command line; an exit code, where Typer does not end the process with one."""
    if "_SAFECHECK_COMPLETE" in os.environ or sys.argv[1:2] in _COMPLETION:
        from plansafe.app.interfaces.cli import usage  # noqa: PLC0415 - for this alone

        usage.complete(_Commands)
    app(prog_name="safecheck")
    return 0
