"""``NamedTuple`` of the grammar against ``typing.NamedTuple``."""

from __future__ import annotations

import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

from plansafe.grammar import named_tuple

T = TypeVar("T")


class Point(named_tuple.NamedTuple):
    """A point."""

    x: int
    new: str = "name of a helper"
    z: tuple[int, ...] = ()

    @property
    def double(self) -> int:
        """Two times x."""
        return 2 * self.x

    def describe(self) -> str:
        """Use the parent class."""
        return super().__repr__()


class Reference(typing.NamedTuple):
    """A point."""

    x: int
    new: str = "name of a helper"
    z: tuple[int, ...] = ()


class Box(named_tuple.NamedTuple, Generic[T]):
    """A generic named tuple."""

    content: T


class Nothing(named_tuple.NamedTuple):
    """No fields."""


def test_a_class_has_what_a_class_of_typing_has() -> None:
    assert type(Point) is type
    assert Point._fields == Reference._fields
    assert Point.__match_args__ == Reference.__match_args__
    assert Point.__doc__ == Reference.__doc__
    assert Point.__module__ == __name__
    parameters = [[(p.name, p.default) for p in inspect.signature(c).parameters.values()] for c in (Point, Reference)]
    assert parameters[0] == parameters[1]


def test_a_value_behaves_as_one_of_typing() -> None:
    point, reference = Point(1, z=(2,)), Reference(1, z=(2,))
    assert point == reference
    assert hash(point) == hash(reference)
    assert repr(point) == repr(reference).replace("Reference", "Point") == point.describe()
    assert point._asdict() == reference._asdict()
    assert point._replace(new="a") == reference._replace(new="a")
    assert type(point._replace(x=3)) is Point
    assert Point._make((1, "a", ())) == Reference._make((1, "a", ()))
    assert named_tuple.make_constructor(Point)((1, "a", ())) == Point(1, "a", ())
    assert Point._field_defaults == Reference._field_defaults
    assert point.double == 2
    copied = pickle.loads(pickle.dumps(point))
    assert (type(copied), copied) == (Point, point)
    match point:
        case Point(x, new):
            assert (x, new) == (1, "name of a helper")
    assert Box[int](3).content == 3
    assert tuple(Nothing()) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        Point,
        lambda: Point(1, y=2),
        lambda: Point(1)._replace(y=2),
        lambda: Point._make((1, 2)),
    ],
)
def test_an_unknown_or_missing_field_is_an_error(wrong: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):  # Python 3.11 and 3.13 differ
        wrong()


def test_a_field_without_a_default_after_one_with_a_default_is_an_error() -> None:
    with pytest.raises(TypeError, match="Late"):

        class Late(named_tuple.NamedTuple):  # type: ignore[misc] - the mistake under test
            a: int = 1
            b: int


def test_a_value_cannot_be_changed_or_extended() -> None:
    for name in ("x", "other"):
        with pytest.raises(AttributeError):
            setattr(Point(1), name, 2)
