"""Small random tasks whose rules are often idle, contradictory or alike: what a linter has to tell apart."""

from __future__ import annotations

from random import Random

from case import Case, Sexp
from formulas import Formulas
from generate import _Generator

STREAMS = ("pddl3", "ltl", "past", "steps", "steps", "steps", "ends", "mixed")
FIELDS = (":forbid", ":require", ":formula", ":when", ":then", ":forbid-after", ":require-after")


class _Few(_Generator):
    """A domain with few actions, so that much cannot change."""

    def free_actions(self) -> list[Sexp]:
        """Some of them, so that something can be done."""
        every = super().free_actions()
        kept = [action for action in every if self.random.random() < 0.25]
        names = {str(action[1]) for action in kept}
        for name in [str(action[1]) for action in every]:
            if name not in names:
                self.formulas.actions.pop(name, None)
                self.in_domain.actions.pop(name, None)
        return kept


def small_case(seed: int, number: int, rules: int = 5) -> Case:
    """The case with this number: a function of its arguments."""
    random = Random(f"lint {seed} {number}")
    stream = random.choice(STREAMS)
    generator = _Few(stream, Random(f"lint {stream} {seed} {number}"))
    case = generator.case(f"lint-{seed}-{number}", rules, 0)
    more = [rule for own in case.rules if random.random() < 0.6 for rule in _variant(random, generator, own)]
    return case._replace(rules=(*case.rules, *more))


def other_problem(case: Case, seed: int) -> Case:
    """The same domain and rules from another initial state."""
    random = Random(f"other {case.name} {seed}")
    ground = Formulas(random, dict(case.objects), _Generator("mixed", random).style)
    init: list[Sexp] = [*{ground.atom({}, ground.basic) for _ in range(random.randint(0, 8))}]
    numbers = [fact for fact in case.init if fact[0] == "="]
    return case._replace(init=tuple(sorted(init, key=str)) + tuple(numbers))


def _variant(random: Random, generator: _Generator, rule: Sexp) -> list[Sexp]:
    """A rule that is weaker or stronger than another one, the same, or its opposite."""
    assert isinstance(rule, tuple)
    name = f"{rule[1]}-{random.choice(('like', 'or', 'and', 'not'))}"
    way = name.rpartition("-")[2]
    made: list[Sexp] = [rule[0], name, *rule[2:]]
    for place in range(2, len(made)):
        if made[place] in FIELDS and random.random() < 0.7 and not _at_top(made[place + 1]):
            formula = made[place + 1]
            if way == "not":
                made[place + 1] = ("not", formula)
            elif way == "like" and made[place] in (":forbid", ":require") and random.random() < 0.5 and ":on" in made:
                made[place] = f"{made[place]}-after"
            elif way != "like":
                made[place + 1] = (way, formula, generator.in_domain.formula(1, {}))
    return [tuple(made)]


def _at_top(formula: Sexp) -> bool:
    """Whether a formula may stand at the top alone."""
    return isinstance(formula, tuple) and formula[0] in ("at", "preference")
