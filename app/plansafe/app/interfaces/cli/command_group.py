"""Commands that have commands of their own: typed alone they are listed, a misspelt one has its near name."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from plansafe.grammar.diagnostics import near


class Group(TyperGroup):
    """A command with commands of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments; without any, the help goes to standard error, and the exit code is 2."""
        if not (args or ctx.resilient_parsing or self.invoke_without_command):
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


def group(about: str) -> typer.Typer:
    """An empty command for commands."""
    return typer.Typer(
        cls=Group, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, help=about
    )
