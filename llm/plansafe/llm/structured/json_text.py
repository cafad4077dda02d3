"""JSON with the places of its values, by the decoder of the standard library."""

from __future__ import annotations

import json
from json import decoder, scanner
from typing import Any

from plansafe.llm.structured.tree import DEPTH, Kind, Node, NotThisFormat, too_deep

_MOST_DIGITS = 100


def read_json(text: str, start: int, end: int) -> Node:
    """Return the object or list that begins at ``start``.

    Raises :class:`NotThisFormat` if it is not JSON or does not end before ``end``, :class:`Unreadable` if it nests too
    deeply.
    """
    try:
        node: Node = _Decoder().scan_once(text, start)[0]
    except (ValueError, StopIteration):
        raise NotThisFormat from None
    if node.end > end:
        raise NotThisFormat
    return node


class _Decoder(json.JSONDecoder):
    """A decoder whose values are nodes. Repeated keys are kept; ``NaN`` and ``Infinity`` are not JSON."""

    def __init__(self) -> None:
        super().__init__(strict=False, parse_float=_number, parse_int=_number, parse_constant=_reject)
        self.depth = 0
        make: Any = scanner.py_make_scanner  # type: ignore[attr-defined] # the C scanner knows no places
        self.object_pairs_hook = list
        self.parse_object: Any = self._object
        self.parse_array: Any = self._array
        plain = make(self)

        def scan(string: str, index: int) -> tuple[Node, int]:
            value, end = plain(string, index)
            match value:
                case Node():
                    return value, end
                case str() if string[index] == '"':
                    return Node(Kind.TEXT, value, index, end), end
                case _:
                    return Node(Kind.WORD, string[index:end], index, end), end

        self.scan_once: Any = scan

    def _object(self, at: tuple[str, int], strict: bool, _scan: Any, *_rest: Any) -> tuple[Node, int]:
        self._descend(at[1] - 1)
        read: Any = decoder.JSONObject  # type: ignore[attr-defined] # what the pure Python scanner calls
        pairs, end = read(at, strict, self.scan_once, None, list)
        self.depth -= 1
        keys = tuple([key for key, _ in pairs])
        return Node(Kind.MAP, "", at[1] - 1, end, tuple([value for _, value in pairs]), keys), end

    def _array(self, at: tuple[str, int], _scan: Any) -> tuple[Node, int]:
        self._descend(at[1] - 1)
        read: Any = decoder.JSONArray  # type: ignore[attr-defined] # what the pure Python scanner calls
        items, end = read(at, self.scan_once)
        self.depth -= 1
        return Node(Kind.LIST, "", at[1] - 1, end, tuple(items)), end

    def _descend(self, start: int) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            raise too_deep(start)


def _number(text: str) -> str:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number with too many digits")
    return text


def _reject(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
