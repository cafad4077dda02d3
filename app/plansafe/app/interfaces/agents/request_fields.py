"""The fields of requests: one table from which JSON is read, and from which the schemas of both doors are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from plansafe.app.options.option import Option
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, near
from plansafe.grammar.shallow_json import loads

Kind = Literal["string", "integer", "number", "boolean"]
LONGEST_TEXT = 32 * 1024 * 1024
"""Characters of a domain, problem, scene, plan or specification."""
LONGEST_WORD = 300
_MOST_DIGITS = 100
_KINDS: dict[Kind, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


class BadRequest(Exception):
    """A request that is not understood; ``diagnostic`` says what is wrong with it (SC680)."""

    def __init__(self, message: str, help: str | None = None, code: str = SC.BAD_REQUEST) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, help=help)


class Field(NamedTuple):
    """One field. ``many``: a list of such values. ``most``: characters of a string; ``low``, ``high``: of a number."""

    name: str
    about: str
    kind: Kind = "string"
    many: bool = False
    choices: tuple[str, ...] = ()
    most: int = LONGEST_WORD
    items: int = 1000
    low: float = 0
    high: float = 1_000_000
    required: bool = False
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """The field as JSON Schema."""
        one: dict[str, Any] = {"type": self.kind}
        if self.kind == "string":
            one |= {"enum": list(self.choices)} if self.choices else {"maxLength": self.most}
        elif self.kind != "boolean":
            one |= {"minimum": self.low, "maximum": self.high}
        if self.many:
            one = {"type": "array", "items": one, "maxItems": self.items}
        return {**one, "description": self.about, **({} if self.default is None else {"default": self.default})}

    def read(self, value: Any) -> Any:
        """The value, checked. Raises :class:`BadRequest`."""
        if not self.many:
            return self._one(value)
        if not isinstance(value, list):
            raise BadRequest(f"`{self.name}` wants a list")
        if len(value) > self.items:
            raise BadRequest(f"`{self.name}` has {len(value):,} items, and at most {self.items:,} are read")
        return tuple([self._one(one) for one in value])

    def _one(self, value: Any) -> Any:
        fits = isinstance(value, _KINDS[self.kind]) and (self.kind == "boolean" or not isinstance(value, bool))
        if not fits:
            raise BadRequest(f"`{self.name}` wants a {self.kind}{' in each place' if self.many else ''}")
        if self.choices and value not in self.choices:
            raise BadRequest(f"`{self.name}` is one of: {', '.join(self.choices)}", near(value[:60], self.choices))
        if isinstance(value, str) and len(value) > self.most:
            raise BadRequest(f"`{self.name}` has {len(value):,} characters, and at most {self.most:,} are read")
        if self.kind in ("integer", "number") and not self.low <= value <= self.high:
            raise BadRequest(f"`{self.name}` lies between {self.low:g} and {self.high:g}")
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
        most=option.field.longest or LONGEST_WORD,
        default=None if option.many else default,
    )
    if option.low is not None:
        field = field._replace(low=option.low)
    return field._replace(**changes)


Values = Mapping[str, Any]
"""The fields of a request, each with a value of its type or its default."""


def read_object(body: bytes) -> dict[str, Any]:
    """The object that a body is. Raises :class:`BadRequest`; memory and depth are bounded by the length of the body."""
    try:
        found = loads(body or b"{}", parse_constant=_no_number, parse_int=_whole, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:  # a number of many digits is a ValueError, too
        raise BadRequest("the body is not JSON", "send one object, in UTF-8") from error
    if not isinstance(found, dict):
        raise BadRequest("the body is not an object of JSON")
    return found


def read_fields(fields: tuple[Field, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check a request against its fields. Raises :class:`BadRequest`; an unknown key is a mistake."""
    known = {field.name: field for field in fields}
    for key in given:
        if key not in known:
            raise BadRequest(f"there is no field {key[:60]!a}", near(key[:60].lower(), tuple(known)))
    out: dict[str, Any] = {}
    for field in fields:
        value = given.get(field.name)
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


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:  # to read them takes the square of their number
        raise ValueError("a number of too many digits")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """What is said twice could be read in two ways by two readers."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return found
