"""``NamedTuple`` for the modules that an audit loads.

A small audit creates 170 classes of named tuples, each several times as fast as with ``typing.NamedTuple``: annotations
are not parsed, the methods are inherited, and ``__new__`` is compiled once for each number of fields. The type checker
sees ``typing.NamedTuple``. The annotations of fields stay strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeVar

T = TypeVar("T")


def make_constructor(named_tuple: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """Return a function from a tuple of all fields to the named tuple. It checks nothing and is twice as fast."""
    new: Any = tuple.__new__
    return partial(new, named_tuple)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter

    class _Record(tuple):
        """The methods of named tuples, as of ``collections.namedtuple``."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()
        _field_defaults: Mapping[str, Any] = {}

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            record = tuple.__new__(cls, values)
            if len(record) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(record)}")
            return record

        def _replace(self, /, **changes: Any) -> Self:
            record = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return record

        __replace__ = _replace

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            values = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)])
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _NamedTupleMeta(type):
        """Creates a subclass of ``_Record``, whose metaclass is ``type``."""

        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"a field without a default follows one with a default in {name}")
            new = FunctionType(_compile_new(fields), _GLOBALS, "__new__", tuple(defaults.values()))
            new.__qualname__ = f"{name}.__new__"
            members = {"__new__": new, "__match_args__": fields, "_fields": fields, "_field_defaults": defaults}
            members |= body
            for position, field in enumerate(fields):
                members[field] = _tuplegetter(position, "")
            members["__slots__"] = ()
            return type(name, (_Record, *[base for base in bases if base is not _PLACEHOLDER]), members)

    _GLOBALS = {"new_tuple": tuple.__new__, "__builtins__": {}}
    _codes: dict[int, CodeType] = {}

    def _compile_new(fields: tuple[str, ...]) -> CodeType:
        """Return the code of ``__new__`` for these fields. The codes of one length differ in their names alone."""
        if len(fields) not in _codes:
            arguments = "".join([f"v{number}, " for number in range(len(fields))])
            _codes[len(fields)] = eval(f"lambda _cls, {arguments}: new_tuple(_cls, ({arguments}))").__code__
        return _codes[len(fields)].replace(co_name="__new__", co_varnames=("_cls", *fields))

    _PLACEHOLDER = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})

    class _NamedTuple:
        """Stands for ``_PLACEHOLDER`` among the bases of a class, which :class:`_NamedTupleMeta` then creates."""

        def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
            return (_PLACEHOLDER,)

    NamedTuple = _NamedTuple()
