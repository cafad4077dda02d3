"""The commands, each registered once: name, module, summary, heading of the help, former names.

A module is loaded only when its command is called. This file imports only modules that every audit needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plansafe.grammar.named_tuple import NamedTuple

if TYPE_CHECKING:
    from plansafe.app.options.option import CommandFunction

DEFAULT = "audit"
_HERE = "plansafe.app.interfaces.cli."


class Command(NamedTuple):
    """A command. ``place`` is ``module:function``; ``former`` are old names, which still work with a warning.

    A command with ``replaced_by`` is itself deprecated: that command line replaces it.
    """

    name: str
    place: str
    summary: str
    heading: str = ""
    former: tuple[str, ...] = ()
    replaced_by: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return tuple(self.name.split())

    def load(self) -> CommandFunction[Any]:
        """Import the module of the command."""
        from importlib import import_module  # noqa: PLC0415 - for a command that is called

        module, _, function = self.place.partition(":")
        command_function: CommandFunction[Any] = getattr(
            import_module(module if module.startswith("plansafe.") else _HERE + module), function
        )
        return command_function


class CommandGroup(NamedTuple):
    """A command with subcommands; ``default`` is the subcommand that runs if the user names none."""

    name: str
    summary: str
    heading: str = ""
    former: tuple[str, ...] = ()
    default: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return tuple(self.name.split())


CHECK, WRITE, STUDY, CONNECT = (
    "Check and repair plans",
    "Write rules and projects",
    "Many plans, many models",
    "Connect",
)
HEADINGS = (CHECK, WRITE, STUDY, CONNECT)

COMMANDS: tuple[Command | CommandGroup, ...] = (
    Command("audit", "audit:audit", "decide whether plans are executable, reach the goal and are safe", CHECK),
    Command("repair", "repair:repair", "find the nearest safe plan", CHECK),
    Command("diagnose", "diagnose:diagnose", "locate where a plan went wrong, and name the cause", CHECK),
    Command("plan", "plan:plan", "ask a language model for a safe plan", CHECK),
    Command("lint", "lint:lint", "find mistakes in a specification", WRITE),
    Command("init", "init:init", "write a project file for a folder of plans", WRITE),
    CommandGroup("rules", "write rules from sentences or tables; list the hazards that rules cover", WRITE),
    Command(
        "rules formalise",
        "formalise:formalise",
        "turn a sentence into a rule with a language model",
        "",
        ("formalise",),
    ),
    Command("rules hazards", "hazards:hazards", "list the rules for each category of hazards", "", ("hazards",)),
    Command("rules detector", "hazards:detector", "turn a detector's table into rules", "", ("detector",)),
    CommandGroup(
        "worlds", "list the home worlds; show the kinds of objects; write a scene as PDDL", WRITE, ("domains",), "list"
    ),
    Command("worlds list", "domains:list_worlds", "list the worlds and their specifications", "", ("domains list",)),
    Command(
        "worlds show", "domains:show", "show the files, formats, actions and rules of a world", "", ("domains show",)
    ),
    Command("worlds kinds", "object_kinds:kinds", "show the kinds of the objects of a scene, and why"),
    Command("worlds scene", "domains:export", "write a scene, and a plan for it, as PDDL", "", ("domains export",)),
    CommandGroup("runs", "count, compare, view and export runs of `audit --run`", STUDY),
    Command("runs stats", "run_tables:stats", "count violations over runs, as a table or plot", "", ("stats",)),
    Command("runs compare", "run_tables:compare", "compare two runs plan by plan", "", ("compare",)),
    Command("runs view", "plansafe.app.interfaces.pages.run_page:view", "write a run as one page", "", ("view",)),
    Command("runs export", "run_tables:export", "write runs as Parquet", "", ("export",)),
    CommandGroup("bench", "run benchmarks of language models, and score their outputs", STUDY),
    Command("bench safel", "bench.commands:safel", "run SAFEL's four tests"),
    Command("bench safeplan", "bench.commands:safeplan", "run SafePlan-Bench"),
    Command("bench despite", "bench.commands:despite", "run DESPITE"),
    Command("bench cells", "bench.commands:cells", "run all tests with all baselines"),
    Command("bench plan", "bench.commands:plan", "ask for plans of drawn household tasks"),
    Command("bench tables", "bench.commands:tables", "put runs of `bench plan` side by side"),
    Command("bench compare", "bench.commands:compare", "compare two runs of the same tasks"),
    Command("bench score", "bench.commands:score", "score outputs that were made elsewhere", "", ("score",)),
    CommandGroup("bench scenario", "check, correct, propose and review scenarios", "", ("scenario",)),
    Command("bench scenario check", "scenario.commands:check", "check scenarios against criteria"),
    Command("bench scenario fix", "scenario.commands:fix", "correct what rules can correct"),
    Command("bench scenario accept", "scenario.acceptance:accept", "judge scenarios for a set"),
    Command("bench scenario new", "scenario.generation:new", "let a language model propose scenarios"),
    Command("bench scenario sheet", "scenario.review_sheets:sheet", "write a sheet on which a person judges scenarios"),
    Command("bench scenario agreement", "scenario.review_sheets:agreement", "measure how far two sheets agree"),
    CommandGroup("align", "make training data from verdicts; train and evaluate a model", STUDY),
    Command("align pairs", "pairs:pairs", "make pairs of a safe and an unsafe plan", "", ("pairs",)),
    Command("align train", "align.commands:train", "train a model, or continue a run"),
    Command("align merge", "align.commands:merge", "merge an adapter into its base, for other programs"),
    Command("align eval", "align.evaluation:evaluation", "let a model plan for tasks, and audit every answer"),
    Command("align tables", "align.evaluation:tables", "put runs of `align eval` side by side"),
    Command("align knowledge", "align.knowledge:knowledge", "write questions on effects, places and rules"),
    CommandGroup("serve", "serve robots over HTTP, editors by LSP, agents by MCP", CONNECT, (), "http"),
    Command("serve http", "serve:serve", "answer over HTTP"),
    Command("serve lsp", "language_server:server", "answer an editor by LSP", "", ("server",)),
    Command("serve mcp", "serve:mcp", "answer an agent by the Model Context Protocol", "", ("mcp",)),
    CommandGroup("models", "list the language models that can be asked; ask one", CONNECT, (), "list"),
    Command("models list", "models:models", "list the providers of language models"),
    Command("models ask", "models:ask", "ask a model one question", "", ("ask",)),
    Command(
        "verify-certificate",
        "verify_certificate:verify_certificate",
        "use `audit --verify-certificate`",
        replaced_by="audit --verify-certificate FILE",
    ),
)


def find(*words: str) -> Command | CommandGroup | None:
    """Find the command with this name."""
    return next((command for command in COMMANDS if command.words == words), None)


def below(words: tuple[str, ...]) -> dict[str, Command | CommandGroup]:
    """The commands directly below a group, or at the top, by their last word."""
    size = len(words) + 1
    return {c.words[-1]: c for c in COMMANDS if len(c.words) == size and c.words[:-1] == words and not is_replaced(c)}


def is_replaced(command: Command | CommandGroup) -> bool:
    """Whether a command is deprecated."""
    return isinstance(command, Command) and command.replaced_by != ""


def former_names() -> dict[tuple[str, ...], str]:
    """The old names, each with the current name."""
    return {tuple(old.split()): command.name for command in COMMANDS if (former := command.former) for old in former}


def with_current_name(words: list[str]) -> tuple[list[str], str]:
    """Replace an old name of a command; returns the arguments and the old name, or an empty text."""
    names = former_names()
    for size in (2, 1):
        present = names.get(tuple(words[:size]))
        if present is not None and len(words) >= size:
            return [*present.split(), *words[size:]], " ".join(words[:size])
    return words, ""
