"""The fields of requests: JSON is read with these tables, and the schemas of HTTP and MCP are made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from plansafe.app.options.option import Option
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.grammar.shallow_json import loads

Kind = Literal["string", "integer", "number", "boolean"]
LONGEST_TEXT = 32 * 1024 * 1024
"""Characters of a domain, problem, scene, plan or specification."""
LONGEST_WORD = 300
_MAX_DIGITS = 100
_KINDS: dict[Kind, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}


class BadRequest(Exception):
    """A request that cannot be read; ``diagnostic`` names the mistake (SC680)."""

    def __init__(self, message: str, help: str | None = None, code: str = SC.BAD_REQUEST) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, help=help)


class Field(NamedTuple):
    """One field.

    ``many``: the field is a list of such values, at most ``items``. ``max_length``: characters of a string. ``low``,
    ``high``: bounds of a number.
    """

    name: str
    about: str
    kind: Kind = "string"
    many: bool = False
    choices: tuple[str, ...] = ()
    max_length: int = LONGEST_WORD
    items: int = 1000
    low: float = 0
    high: float = 1_000_000
    required: bool = False
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """The field as JSON Schema."""
        value: dict[str, Any] = {"type": self.kind}
        if self.kind == "string":
            value |= {"enum": list(self.choices)} if self.choices else {"maxLength": self.max_length}
        elif self.kind != "boolean":
            value |= {"minimum": self.low, "maximum": self.high}
        if self.many:
            value = {"type": "array", "items": value, "maxItems": self.items}
        return {**value, "description": self.about, **({} if self.default is None else {"default": self.default})}

    def brief_schema(self, described: bool = True) -> dict[str, Any]:
        """The field as JSON Schema without bounds, and without a description if the agent has read it elsewhere."""
        value: dict[str, Any] = {"enum": list(self.choices)} if self.choices else {"type": self.kind}
        if self.many:
            value = {"type": "array", "items": value}
        return {**value, "description": self.about} if described else value

    def read(self, value: Any) -> Any:
        """Check a value and return it. Raises :class:`BadRequest`."""
        if not self.many:
            return self._read_item(value)
        if not isinstance(value, list):
            raise BadRequest(f"`{self.name}` must be a list")
        if len(value) > self.items:
            raise BadRequest(f"`{self.name}` has {len(value):,} items; the limit is {self.items:,}")
        return tuple([self._read_item(item) for item in value])

    def _read_item(self, value: Any) -> Any:
        fits = isinstance(value, _KINDS[self.kind]) and (self.kind == "boolean" or not isinstance(value, bool))
        if not fits:
            raise BadRequest(f"{'each item of ' if self.many else ''}`{self.name}` must be of type {self.kind}")
        if self.choices and value not in self.choices:
            raise BadRequest(
                f"`{self.name}` must be one of: {', '.join(self.choices)}", suggest_name(value[:60], self.choices)
            )
        if isinstance(value, str) and len(value) > self.max_length:
            raise BadRequest(f"`{self.name}` has {len(value):,} characters; the limit is {self.max_length:,}")
        if self.kind in ("integer", "number") and not self.low <= value <= self.high:
            raise BadRequest(f"`{self.name}` must be between {self.low:g} and {self.high:g}")
        return value


_KIND_OF: dict[str, Kind] = {
    "text": "string",
    "choice": "string",
    "integer": "integer",
    "number": "number",
    "switch": "boolean",
}


def field_for(option: Any, **changes: Any) -> Field:
    """The field that sets an option of the command line."""
    assert isinstance(option, Option)
    assert option.field is not None
    default = option.default if option.convert is None else option.convert(option.default)
    field = Field(
        option.field.name,
        option.field.about,
        _KIND_OF[option.kind],
        many=option.many,
        choices=option.choices,
        max_length=option.field.longest or LONGEST_WORD,
        default=None if option.many else default,
    )
    if option.low is not None:
        field = field._replace(low=option.low)
    return field._replace(**changes)


Values = Mapping[str, Any]
"""The fields of a request, each with a value of its type or its default."""


def read_object(body: bytes) -> dict[str, Any]:
    """Read a body as a JSON object. The length of the body bounds memory and depth. Raises :class:`BadRequest`."""
    try:
        data = loads(
            body or b"{}",
            parse_constant=_reject_constant,
            parse_int=_read_integer,
            object_pairs_hook=_reject_duplicate_keys,
        )
    except (ValueError, RecursionError) as error:  # also raised for a number with many digits
        raise BadRequest("the body is not JSON", "send one JSON object, in UTF-8") from error
    if not isinstance(data, dict):
        raise BadRequest("the body is not a JSON object")
    return data


def read_fields(fields: tuple[Field, ...], request: Mapping[str, Any]) -> dict[str, Any]:
    """Check a request against its fields. Raises :class:`BadRequest`, also for an unknown key."""
    names = tuple([field.name for field in fields])
    for key in request:
        if key not in names:
            help = suggest_name(key[:60].lower(), names) or f"the fields are {', '.join(names)}"
            raise BadRequest(f"unknown field {key[:60]!a}", help)
    out: dict[str, Any] = {}
    for field in fields:
        value = request.get(field.name)
        if value is None and field.required:
            raise BadRequest(f"the field `{field.name}` is missing", field.about)
        out[field.name] = (field.default if not field.many else ()) if value is None else field.read(value)
    return out


def schema(fields: tuple[Field, ...]) -> dict[str, Any]:
    """A request as JSON Schema."""
    return {
        "type": "object",
        "properties": {field.name: field.schema() for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _read_integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:  # the conversion takes quadratic time
        raise ValueError("a number has too many digits")
    return int(digits)


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs. Two readers could read a duplicate key differently. Raises :class:`ValueError`."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object has a duplicate key")
    return members
