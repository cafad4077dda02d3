"""Lint the hazard library with its mappings (``run_home_lint.py`` checks every world)."""

from __future__ import annotations

import pytest
from run_home_lint import decided_findings, lint_world


@pytest.mark.slow
@pytest.mark.parametrize("world", ["household", pytest.param("omnigibson", marks=pytest.mark.whole)])
def test_every_rule_that_applies_in_a_world_can_be_violated_there(world: str) -> None:
    pytest.importorskip("pysat", reason="lint needs a SAT solver (the extra `solve`)")
    result = lint_world(world, 2.0)
    assert result.usable
    assert result.rules > 30
    assert decided_findings(result) == []
