"""Shrink a failing case: remove parts of its texts while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from case import Sexp, write
from worlds_case import WorldsCase

from plansafe.verifier.kernel.reader import read_expressions


def shrink_case(case: WorldsCase, fails: Callable[[WorldsCase], bool], attempts: int = 2_000) -> WorldsCase:
    """A failing case from which no part can be removed or replaced by a part of itself; after ``attempts``, the
    smallest failing case of these attempts. If ``fails`` raises ``ValueError`` (as the kernel does), the case passes.
    """
    texts: list[tuple[Sexp, ...]] = [
        read_expressions(text, strings=True) for text in (case.domain, case.problem, *case.specs)
    ]
    texts.append(read_expressions(case.plan))

    def build_case() -> WorldsCase:
        domain, problem, *specs, plan = ["\n".join(map(write, text)) + "\n" for text in texts]
        return WorldsCase(domain, problem, tuple(spec for spec in specs if spec.strip()), plan, case.name)

    def still_fails() -> bool:
        try:
            return fails(build_case())
        except ValueError:
            return False

    changed = True
    while changed and attempts > 0:
        changed = False
        for i in reversed(range(len(texts))):
            shrinks = True
            while shrinks and attempts > 0:
                shrinks = False
                for smaller in _smaller_lists(texts[i]):
                    previous, texts[i] = texts[i], smaller
                    attempts -= 1
                    if still_fails():
                        shrinks = changed = True
                        break
                    texts[i] = previous
                    if attempts <= 0:
                        break
    return build_case()


def _smaller_lists(parts: tuple[Sexp, ...]) -> Iterator[tuple[Sexp, ...]]:
    """The list without one of its parts, or with one part replaced by a part of itself; large parts first."""
    for i in sorted(range(len(parts)), key=lambda i: -len(write(parts[i]))):
        yield parts[:i] + parts[i + 1 :]
        if i and parts[i - 1] == "-" and i > 1:
            yield parts[: i - 2] + parts[i + 1 :]  # a variable or object with its type
        part = parts[i]
        if isinstance(part, tuple):
            for nested in part:
                if isinstance(nested, tuple):
                    yield (*parts[:i], nested, *parts[i + 1 :])
            for smaller_part in _smaller_lists(part):
                yield (*parts[:i], smaller_part, *parts[i + 1 :])
