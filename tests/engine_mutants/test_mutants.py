"""The mutants of a small module."""

from __future__ import annotations

import ast

from mutants import mutants_of

TEXT = '''"""A module; ä."""

LIMIT = 3

def first(names: list[str], start: int = 1) -> str:
    """Say `a < b`."""
    assert start < 9
    if start <= len(names) and names:
        names.append("ö")
    while not names:
        raise ValueError(f"{start + 1}")
    return find(names, start)
'''


def test_one_change_each_and_only_in_code_of_functions() -> None:
    mutants = mutants_of(TEXT, "m.py")
    changes = {(mutant.line, mutant.kind, mutant.before, mutant.after) for mutant in mutants}
    assert changes == {
        (8, "boolean", "start <= len(names) and names", "(start <= len(names) or names)"),
        (8, "comparison", "start <= len(names)", "(start < len(names))"),
        (9, "dropped statement", 'names.append("ö")', "pass"),
        (10, "boolean", "not names", "(names)"),
        (12, "swapped arguments", "find(names, start)", "find(start, names)"),
    }
    assert len({mutant.name for mutant in mutants}) == len(mutants)


def test_the_rest_of_the_text_is_kept() -> None:
    for mutant in mutants_of(TEXT, "m.py"):
        mutated = mutant.source(TEXT)
        ast.parse(mutated)
        before, after = TEXT.encode()[: mutant.start].decode(), TEXT.encode()[mutant.end :].decode()
        assert mutated == before + mutant.after + after and mutated != TEXT
