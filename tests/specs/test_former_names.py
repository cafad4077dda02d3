"""Former names of the Python API are importable, with a warning that gives the present name."""

from __future__ import annotations

from importlib import import_module

import pytest

from plansafe.specs import former_names


@pytest.mark.parametrize("name", sorted(former_names.FORMER_NAMES))
def test_a_former_name_gives_the_present_object_and_a_warning(name: str) -> None:
    module, present_name = former_names.FORMER_NAMES[name]
    with pytest.warns(DeprecationWarning, match=f"{name} is now {module}.{present_name};"):
        assert getattr(former_names, name) is getattr(import_module(module), present_name)


def test_other_names_are_not_importable() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Monitors'"):
        former_names.Monitors  # noqa: B018
