"""Small random tasks whose rules are often without effect, contradictory or equivalent."""

from __future__ import annotations

from random import Random

from case import Case, Sexp
from formulas import Formulas
from generate import _Generator

STREAMS = ("pddl3", "ltl", "past", "steps", "steps", "steps", "ends", "mixed")
FIELDS = (":forbid", ":require", ":formula", ":when", ":then", ":forbid-after", ":require-after")


class _FewActions(_Generator):
    """A domain with few actions, so that many facts cannot change."""

    def free_actions(self) -> list[Sexp]:
        """A quarter of the actions."""
        all_actions = super().free_actions()
        actions = [action for action in all_actions if self.random.random() < 0.25]
        names = {str(action[1]) for action in actions}
        for name in [str(action[1]) for action in all_actions]:
            if name not in names:
                self.formulas.actions.pop(name, None)
                self.in_domain.actions.pop(name, None)
        return actions


def small_case(seed: int, number: int, rules: int = 5) -> Case:
    """The case with this number: a function of its arguments."""
    random = Random(f"lint {seed} {number}")
    stream = random.choice(STREAMS)
    generator = _FewActions(stream, Random(f"lint {stream} {seed} {number}"))
    case = generator.case(f"lint-{seed}-{number}", rules, 0)
    variants = [_variant(random, generator, rule) for rule in case.rules if random.random() < 0.6]
    return case._replace(rules=(*case.rules, *variants))


def other_problem(case: Case, seed: int) -> Case:
    """The same domain and rules with another initial state."""
    random = Random(f"other {case.name} {seed}")
    ground = Formulas(random, dict(case.objects), _Generator("mixed", random).style)
    init: list[Sexp] = [*{ground.atom({}, ground.basic) for _ in range(random.randint(0, 8))}]
    numbers = [fact for fact in case.init if fact[0] == "="]
    return case._replace(init=tuple(sorted(init, key=str)) + tuple(numbers))


def _variant(random: Random, generator: _Generator, rule: Sexp) -> Sexp:
    """A rule that is weaker or stronger than another, equivalent, or its opposite."""
    assert isinstance(rule, tuple)
    name = f"{rule[1]}-{random.choice(('like', 'or', 'and', 'not'))}"
    change = name.rpartition("-")[2]
    variant: list[Sexp] = [rule[0], name, *rule[2:]]
    for place in range(2, len(variant)):
        if variant[place] in FIELDS and random.random() < 0.7 and not _at_top(variant[place + 1]):
            formula = variant[place + 1]
            if change == "not":
                variant[place + 1] = ("not", formula)
            elif (
                change == "like"
                and variant[place] in (":forbid", ":require")
                and random.random() < 0.5
                and ":on" in variant
            ):
                variant[place] = f"{variant[place]}-after"
            elif change != "like":
                variant[place + 1] = (change, formula, generator.in_domain.formula(1, {}))
    return tuple(variant)


def _at_top(formula: Sexp) -> bool:
    """Whether a formula is allowed only at the top."""
    return isinstance(formula, tuple) and formula[0] in ("at", "preference")
