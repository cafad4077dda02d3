"""The loaders find the shipped domains and specifications, and refuse other names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plansafe.domains import domain_names, domain_path
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_names, spec_path
from plansafe.verifier.api import Checker


def test_every_domain_name_has_a_file() -> None:
    assert "household" in domain_names()
    for name in domain_names():
        assert Path(domain_path(name)).read_text(encoding="utf-8")
    assert domain_path("HouseHold") == domain_path("household")


@pytest.mark.parametrize("name", domain_names())
def test_a_shipped_domain_has_no_diagnostics(name: str) -> None:
    """A warning would appear in every report of the world."""
    domain = Source("domain", Path(domain_path(name)).read_text(encoding="utf-8"))
    problem = Source("problem", f"(define (problem p) (:domain {name}) (:goal (and)))")
    assert not Checker(domain, problem).diagnostics


def test_specifications_have_their_names_and_domains_their_default_specifications() -> None:
    assert "household" in spec_names()
    for name in spec_names():
        text = Path(spec_path(name)).read_text(encoding="utf-8")
        assert f"(define (safety {name})" in text or f"(define (mapping {name})" in text
    for domain in domain_names():
        assert set(default_specs(domain)) <= set(spec_names())
    assert default_specs("Household") == ("household",)
    assert default_specs("VirtualHome") == ("home", "home-virtualhome")
    assert default_specs("elsewhere") == ()


@pytest.mark.parametrize(
    "name", ["", "nothing", "../domains/household", "/etc/passwd", "household/domain", "a\0b", "__init__"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(KeyError):
        domain_path(name)
    with pytest.raises(KeyError):
        spec_path(name)


def test_the_loaders_import_no_slow_modules() -> None:
    """The ``site`` module imports some for an editable install: compare with an interpreter without our imports."""
    listing = "print({'importlib.resources', 'zipfile', 'tempfile'} & set(sys.modules))"
    with_loaders, without_loaders = (
        subprocess.run([sys.executable, "-c", code + listing], capture_output=True, text=True, check=True).stdout
        for code in ("import sys, plansafe.specs, plansafe.domains; ", "import sys; ")
    )
    assert with_loaders == without_loaders
