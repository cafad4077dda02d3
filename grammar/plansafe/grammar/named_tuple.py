"""``NamedTuple`` for the modules that an audit loads.

A small audit creates 150 classes of named tuples, each three times as fast as with ``typing.NamedTuple``, which parses
every annotation. The type checker sees ``typing.NamedTuple``. The annotations of fields stay strings.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined] # what collections.namedtuple uses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple


class _Tuple(tuple[Any, ...]):
    """The methods of all named tuples."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, /, **changes: object) -> _Tuple:
        replaced = tuple.__new__(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise TypeError(f"unknown fields: {', '.join(changes)}")
        return replaced

    def __repr__(self) -> str:
        fields = [f"{name}={value!r}" for name, value in self._asdict().items()]
        return f"{type(self).__name__}({', '.join(fields)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Meta(type):
    """Turns the body of a class into a class of tuples, whose metaclass is ``type``."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body[field] for field in fields if field in body}
        parameters = ["_cls", *[f"{f}=_defaults[{f!r}]" if f in defaults else f for f in fields]]
        function = f"lambda {', '.join(parameters)}: _new(_cls, ({''.join([field + ', ' for field in fields])}))"
        body["__new__"] = eval(function, {"_new": tuple.__new__, "_defaults": defaults})
        body["__new__"].__qualname__ = f"{name}.__new__"
        for index, field in enumerate(fields):
            body[field] = _tuplegetter(index, field)
        body.update(_fields=fields, __match_args__=fields, __slots__=())
        return type(name, (_Tuple, *[base for base in bases if base is not _MARKER]), body)


_MARKER = type.__new__(_Meta, "NamedTuple", (), {})
if not TYPE_CHECKING:

    class _NamedTuple:
        def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
            return (_MARKER,)

    NamedTuple = _NamedTuple()
