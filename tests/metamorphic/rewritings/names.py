"""All names replaced by others, also by those that look like operators."""

from __future__ import annotations

from random import Random

from metamorphic_task import Task
from traversal import Traversal
from verdicts import Names

from rewritings.base import Rewritten, rewriting

PLAIN = ("alpha", "x_", "a.b", "thing-", "\u00e9t\u00e9")
LIKE_OPERATORS = (
    *("and-1", "forall1", "not-x", "or.", "exists_", "when-", "always-2", "sometime-x", "at-end", "start-", "end-of"),
    *("once-", "since.", "within-3", "preference-x", "unknown-", "oneof1", "either-", "object-", "?not-a-variable"[1:]),
    *("not-not", "imply-", "total-cost-", "e9", "inf", "nan", "x:", "x,y", "a/b", "a--b", "start", "all-"),
)
KEYWORDS = (
    *(
        "and",
        "or",
        "not",
        "forall",
        "exists",
        "imply",
        "when",
        "at",
        "over",
        "start",
        "end",
        "all",
        "always",
        "sometime",
    ),
    *("within", "preference", "increase", "assign", "oneof", "unknown", "either", "once", "since", "next", "until"),
    *("action", "number", "define", "domain", "problem", "safety", "yesterday", "release", "minimize", "is-violated"),
)
NAMES_OF_PREDICATES = (
    *("at", "over", "once", "since", "next", "until", "yesterday", "weak-yesterday", "release", "historically"),
    *("weak-next", "oneof", "unknown", "action", "action-end", "start", "either", "object", "duration", "define"),
)
"""Keywords that the language allows as names of predicates."""


class _Renaming(Traversal):
    def __init__(self, random: Random, style: str) -> None:
        self.random = random
        self.style = style
        self.used: dict[str, dict[str, str]] = {}
        self.fixed = {"types": {"object", "number"}, "functions": {"total-cost", "total-time"}}

    def _renamed(self, space: str, name: str, keywords: tuple[str, ...]) -> str:
        new_names = self.used.setdefault(space, {})
        if name in self.fixed.get(space, ()):
            return name
        if name not in new_names:
            stems = {"plain": PLAIN, "operators": LIKE_OPERATORS, "keywords": keywords}[self.style]
            new = self.random.choice(stems)
            while new in new_names.values() or new in self.fixed.get(space, ()):
                new = f"{self.random.choice(stems if self.style == 'plain' else LIKE_OPERATORS)}{len(new_names)}"
            new_names[name] = new
        return new_names[name]

    def type_name(self, name: str) -> str:
        # `either` before a list of types is an operator
        return self._renamed("types", name, tuple(word for word in KEYWORDS if word not in ("either", "number")))

    def object_name(self, name: str) -> str:
        return self._renamed("objects", name, KEYWORDS)

    def predicate_name(self, name: str) -> str:
        return self._renamed("predicates", name, NAMES_OF_PREDICATES)

    def function_name(self, name: str) -> str:
        return self._renamed("functions", name, ("at", "over"))

    def action_name(self, name: str) -> str:
        return self._renamed("actions", name, KEYWORDS)

    def rule_name(self, name: str) -> str:
        return self._renamed("rules", name, KEYWORDS)


def renamed(task: Task, random: Random, style: str) -> Rewritten:
    """The task with other names of a style."""
    renaming = _Renaming(random, style)
    # Words in plans that are declared nowhere stay unknown: their new names are declared nowhere, either.
    rewritten = renaming.task(task)
    back = {space: {new: old for old, new in new_names.items()} for space, new_names in renaming.used.items()}
    specs = tuple(
        (spec[0], spec[1], *[(":domain", "renamed") if part[0] == ":domain" else part for part in spec[2:]])
        for spec in rewritten.specs
    )
    problem = tuple((":domain", "renamed") if part[0] == ":domain" else part for part in rewritten.problem)
    rewritten = rewritten._replace(
        domain=(rewritten.domain[0], ("domain", "renamed"), *rewritten.domain[2:]), problem=problem, specs=specs
    )
    plans = tuple(
        tuple(
            tuple((":domain", "renamed") if part[0] == ":domain" else part for part in entry)
            if isinstance(entry, tuple) and entry[0] == "define"
            else entry
            for entry in plan
        )
        for plan in rewritten.plans
    )
    rewritten = rewritten._replace(plans=plans)
    return Rewritten(rewritten, Names(objects=back.get("objects", {}), rules=back.get("rules", {})))


@rewriting()
def other_names(task: Task, random: Random) -> Rewritten:
    """Replace all names by plain ones."""
    return renamed(task, random, "plain")


@rewriting()
def names_like_operators(task: Task, random: Random) -> Rewritten:
    """Replace all names by names such as ``and-1`` and ``forall1``."""
    return renamed(task, random, "operators")


@rewriting()
def names_like_keywords(task: Task, random: Random) -> Rewritten:
    """Replace all names by keywords, where the language allows these."""
    return renamed(task, random, "keywords")
