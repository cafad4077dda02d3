"""``NamedTuple`` for the modules that an audit loads.

A small audit creates 150 classes of named tuples, each almost three times as fast as with ``typing.NamedTuple``, which
parses every annotation. The type checker sees ``typing.NamedTuple``. The annotations of fields stay strings.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _NamedTupleMeta(type):
        """Turns the body of a class into a subclass of a ``collections.namedtuple``, whose metaclass is ``type``."""

        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = [body.pop(field) for field in fields if field in body]
            record = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            return type(
                name, (record, *[base for base in bases if base is not _PLACEHOLDER]), {**body, "__slots__": ()}
            )

    _PLACEHOLDER = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})

    class _NamedTuple:
        """Stands for ``_PLACEHOLDER`` among the bases of a class, which :class:`_NamedTupleMeta` then creates."""

        def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
            return (_PLACEHOLDER,)

    NamedTuple = _NamedTuple()
