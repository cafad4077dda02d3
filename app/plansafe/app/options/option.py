"""Options of commands, each declared once: flag, help, type, key of the project file, field of a request.

A command declares its options as attributes of a class (:class:`Options`). The command line, ``--set``, the project
file and the requests of HTTP and MCP are made from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from plansafe.grammar.named_tuple import NamedTuple

Kind = Literal["text", "integer", "number", "choice", "switch"]
_ON = ("true", "yes", "1")
_OFF = ("false", "no", "0")


class RequestField(NamedTuple):
    """The field of an HTTP or MCP request that sets an option. ``longest``: maximum characters of a text."""

    name: str
    about: str
    longest: int | None = None


class Option(NamedTuple):
    """One option or argument of a command.

    ``off`` is the flag that turns a switch off; ``key`` is the option's name in the project file and for ``--set``.
    An option with ``only_set`` is set with ``--set KEY=VALUE``; its flag still works, with a warning.
    ``setting`` is the field of :class:`plansafe.app.session.model.Settings` that gets the value, after ``convert``.
    ``action`` is called as soon as the option is read, such as for ``--version``.
    """

    flags: tuple[str, ...]
    help: str
    kind: Kind
    default: Any = None
    metavar: str = ""
    many: bool = False
    choices: tuple[str, ...] = ()
    enum: type[StrEnum] | None = None
    low: float | None = None
    high: float | None = None
    off: str = ""
    required: bool = False
    group: str = ""
    key: str = ""
    only_set: bool = False
    in_project: bool = False
    setting: str = ""
    convert: Callable[[Any], Any] | None = None
    field: RequestField | None = None
    argument: bool = False
    action: Callable[[Any], None] | None = None
    hidden: bool = False

    @property
    def flag(self) -> str:
        """The flag that messages name."""
        return self.flags[0] if self.flags else ""

    def read(self, text: str) -> Any:
        """Read one value. Raises :class:`ValueError`, whose message describes the expected values."""
        match self.kind:
            case "switch":
                if text.lower() in (*_ON, *_OFF):
                    return text.lower() in _ON
                raise ValueError(f"is true or false, not {text!a}")
            case "choice":
                if text not in self.choices:
                    raise ValueError(f"is one of {', '.join(self.choices)}, not {text!a}")
                return text if self.enum is None else self.enum(text)
            case "integer" | "number":
                return self._number(text)
            case "text":
                return text

    def _number(self, text: str) -> int | float:
        is_integer = self.kind == "integer"
        try:
            value: int | float = int(text) if is_integer else float(text)
        except ValueError:
            raise ValueError(f"is {'a whole' if is_integer else 'a'} number, not {text!a}") from None
        if (
            (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
            or value != value
        ):
            bounds = [f"at least {self.low:g}"] if self.low is not None else []
            bounds += [f"at most {self.high:g}"] if self.high is not None else []
            raise ValueError(f"is {' and '.join(bounds) or 'a number'}, not {text!a}")
        return value


def _option(kind: Kind, flags: tuple[str, ...], help: str, extra: Mapping[str, Any]) -> Any:
    option = Option(flags, help, kind, **_fields(extra))
    return option._replace(default=()) if option.many and option.default is None else option


def text(*flags: str, help: str, **extra: Any) -> Any:
    """Declare an option that takes a text."""
    return _option("text", flags, help, extra)


def integer(*flags: str, help: str, **extra: Any) -> Any:
    """Declare an option that takes a whole number."""
    return _option("integer", flags, help, {"metavar": "N", **extra})


def number(*flags: str, help: str, **extra: Any) -> Any:
    """Declare an option that takes a number."""
    return _option("number", flags, help, extra)


def switch(*flags: str, help: str, **extra: Any) -> Any:
    """Declare a switch: its flag turns it on."""
    return _option("switch", flags, help, {"default": False, **extra})


def choice(*flags: str, values: tuple[str, ...] | type[StrEnum], help: str, **extra: Any) -> Any:
    """Declare an option that takes one of these texts, or a member of an enumeration."""
    if isinstance(values, tuple):
        return _option("choice", flags, help, {"choices": values, **extra})
    return _option("choice", flags, help, {"choices": tuple([item.value for item in values]), "enum": values, **extra})


def argument(metavar: str, help: str, **extra: Any) -> Any:
    """Declare an argument without a flag."""
    return _option("text", (), help, {"argument": True, "metavar": metavar, **extra})


def changed(option: Any, **changes: Any) -> Any:
    """A declared option with changes, such as another default."""
    assert isinstance(option, Option)
    return option._replace(**_fields(changes))


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an option. ``set_key`` is a ``key`` with ``only_set``."""
    fields = dict(given)
    if "set_key" in fields:
        fields |= {"key": fields.pop("set_key"), "only_set": True}
    return fields


class Options:
    """The options of a command: attributes that hold declarations in the class, and values in an instance.

    ``set_by_user`` names the options that the user has set; ``assigned`` names the subset set by ``--set``. A subclass
    can name the heading of its options in the help.
    """

    set_by_user: frozenset[str]
    assigned: frozenset[str]
    _declared: dict[str, Option]

    def __init_subclass__(cls, group: str = "") -> None:
        super().__init_subclass__()
        declared: dict[str, Option] = {}
        for base in cls.__bases__:
            declared.update(getattr(base, "_declared", {}))
        for name, value in list(vars(cls).items()):
            if isinstance(value, Option):
                if hasattr(Options, name):
                    raise TypeError(f"{name} is a method of all options")
                option = value if value.group or not group else value._replace(group=group)
                setattr(cls, name, option)
                declared[name] = option
        cls._declared = declared

    def __init__(self, **values: Any) -> None:
        for name, option in self._declared.items():
            setattr(self, name, values.get(name, option.default))
        self.set_by_user = frozenset(values)
        self.assigned = frozenset()

    def origin(self, name: str) -> str:
        """How the user has set an option on the command line: its flag, or ``--set KEY``."""
        option = self._declared[name]
        return f"--set {option.key}" if name in self.assigned else option.flag

    @classmethod
    def table(cls) -> dict[str, Option]:
        """The options by the names of their attributes, in the order of the help."""
        return cls._declared

    def settings(self) -> dict[str, Any]:
        """The values for an audit, by the fields of ``Settings``."""
        values: dict[str, Any] = {}
        for name, option in self._declared.items():
            if option.setting:
                value = getattr(self, name)
                values[option.setting] = value if option.convert is None else option.convert(value)
        return values


Chosen = TypeVar("Chosen", bound=Options)


class CommandFunction(NamedTuple, Generic[Chosen]):
    """A command: the class of its options, and the function that runs it and returns an exit code."""

    options: type[Chosen]
    run: Callable[[Chosen], int]


def command(options: type[Chosen]) -> Callable[[Callable[[Chosen], int]], CommandFunction[Chosen]]:
    """Make a function a command with these options."""
    return lambda run: CommandFunction(options, run)


class UsageError(Exception):
    """A mistake on the command line, such as a missing argument; the message names it."""


def parse(words: list[str], table: Mapping[str, Option]) -> dict[str, Any] | None:
    """Read a simple command line without Typer, whose import takes half of the start-up time.

    Returns ``None`` if Typer is needed: for mistakes, help, completion, and options with a warning.
    """
    name_of_flag = {flag: name for name, option in table.items() for flag in option.flags}
    argument_name = next((name for name, option in table.items() if option.argument and option.many), None)
    values: dict[str, Any] = {}
    remaining = iter(words)
    for word in remaining:
        if word[:1] != "-" or word == "-":
            if argument_name is None:
                return None
            values[argument_name] = (*values.get(argument_name, ()), word)
            continue
        name = name_of_flag.get(word, "")
        option = table.get(name)
        if option is None or option.action is not None or option.only_set or option.off or name == "assignments":
            return None
        if option.kind == "switch":
            values[name] = True
            continue
        value = next(remaining, "-")
        if value[:1] == "-" or (name in values and not option.many):
            return None
        try:
            parsed = option.read(value)
        except ValueError:
            return None
        values[name] = (*values.get(name, ()), parsed) if option.many else parsed
    return values
