"""Generate domains in which objects move, swap and change their state: most have groups, and many nearly have one.

Actions are drawn from patterns that keep a group, and then disturbed: a literal is dropped, doubled, moved below a
condition, a quantifier or a choice, or gets another variable.
"""

from __future__ import annotations

from random import Random

PREDICATES = {
    "at": ("thing", "place"),
    "held": ("thing",),
    "by": ("thing", "thing"),
    "free": ("place",),
    "hot": ("thing",),
    "cold": ("object",),
    "calm": (),
}
OBJECTS = "a b - box c - cup k - room l m - shelf"
TYPES = "(:types thing place - object box cup - thing room shelf - place)"
KINDS = {"thing": ("thing", "thing", "box", "cup"), "place": ("place", "place", "room", "shelf")}
KINDS["object"] = ("object", "thing", "place")


def random_domain(random: Random) -> str:
    """A domain with one to four actions."""
    actions = " ".join([_ActionGenerator(random, f"act{n}").text() for n in range(random.randint(1, 4))])
    declared = " ".join(
        [
            "(" + " ".join([name, *[f"?v{i} - {kind}" for i, kind in enumerate(kinds)]]) + ")"
            for name, kinds in PREDICATES.items()
        ]
    )
    return f"{TYPES} (:predicates {declared}) (:functions (level ?x - thing)) {actions}"


class _ActionGenerator:
    def __init__(self, random: Random, name: str) -> None:
        self.random = random
        self.name = name
        self.variables: dict[str, str] = {}
        self.before: list[str] = []
        self.effects: list[str] = []

    def text(self) -> str:
        """The action as PDDL."""
        random = self.random
        for _ in range(random.choice((1, 1, 1, 2))):
            self._pattern()
        for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
            self._disturb()
        typed = " ".join([f"{v} - {kind}" for v, kind in self.variables.items()])
        return (
            f"(:action {self.name} :parameters ({typed}) "
            f":precondition (and {' '.join(self.before)}) :effect (and {' '.join(self.effects)}))"
        )

    # -- terms --------------------------------------------------------------------------------------------------------

    def _variable(self, kind: str, fresh: bool = False) -> str:
        fitting = [v for v, variable_kind in self.variables.items() if variable_kind in KINDS[kind]]
        if fitting and not fresh and self.random.random() < 0.6:
            return self.random.choice(fitting)
        name = f"?x{len(self.variables)}"
        wider = self.random.random() < 0.05  # facts of objects that the predicate does not take
        self.variables[name] = "object" if wider else self.random.choice(KINDS[kind])
        return name

    def _fact(self, scope: dict[str, str] | None = None) -> str:
        name = self.random.choice(list(PREDICATES))
        words = [name]
        for kind in PREDICATES[name]:
            fitting = [v for v, variable_kind in (scope or {}).items() if variable_kind in KINDS[kind]]
            words.append(
                self.random.choice(fitting) if fitting and self.random.random() < 0.6 else self._variable(kind)
            )
        return f"({' '.join(words)})"

    def _condition(self) -> str:
        roll = self.random.random()
        if roll < 0.25:
            return self._fact()
        if roll < 0.45:
            return f"(not {self._fact()})"
        if roll < 0.6:
            kind = self.random.choice(("thing", "place"))
            return self._maybe_not(f"(= {self._variable(kind)} {self._variable(kind)})")
        if roll < 0.7:
            return f"(or {self._fact()} {self._maybe_not(self._fact())})"
        if roll < 0.8:
            return self._maybe_not(f"(> (level {self._variable('thing')}) 0)")
        kind = self.random.choice(("thing", "place", "box", "shelf"))
        scope = {"?q": kind}
        word = self.random.choice(("exists", "forall"))
        return self._maybe_not(f"({word} (?q - {kind}) {self._maybe_not(self._fact(scope))})")

    def _maybe_not(self, text: str) -> str:
        return f"(not {text})" if self.random.random() < 0.5 else text

    # -- patterns -----------------------------------------------------------------------------------------------------

    def _pattern(self) -> None:
        random = self.random
        x = self._variable("thing")
        p, q = self._variable("place", True), self._variable("place", True)
        match random.randrange(9):
            case 0:
                self._move(f"(at {x} {p})", f"(at {x} {q})")
            case 1:
                self._move(f"(at {x} {p})", f"(held {x})")
            case 2:
                self._move(f"(held {x})", f"(at {x} {p})")
            case 3:
                self._move(f"(at {x} {p})", f"(at {x} {q})")
                self._move(f"(free {q})", f"(free {p})")
            case 4:
                y = self._variable("thing", True)
                self._move(f"(at {x} {p})", f"(by {x} {y})")
            case 5:
                y, z = self._variable("thing", True), self._variable("thing", True)
                self._move(f"(by {x} {y})", f"(by {x} {z})")
            case 6:  # an effect deletes all other places
                kind = random.choice(("place", "place", "object", "room", "shelf"))
                self.effects += [f"(forall (?f - {kind}) (not (at {x} ?f)))", f"(at {x} {q})"]
            case 7:  # the precondition excludes all other places
                kind = random.choice(("place", "place", "object", "room", "shelf"))
                self.before.append(f"(not (exists (?f - {kind}) (at {x} ?f)))")
                self.effects.append(f"(at {x} {q})")
            case _:
                self._move(*random.sample([f"(hot {x})", f"(cold {x})", f"(held {x})"], 2))

    def _move(self, deleted: str, added: str) -> None:
        self.before.append(deleted)
        self.effects += [f"(not {deleted})", added]

    def _disturb(self) -> None:
        random, effects = self.random, self.effects
        place = random.randrange(len(effects))
        chosen = effects[place]
        match random.randrange(11):
            case 0 if self.before:
                self.before.pop(random.randrange(len(self.before)))
            case 1 if len(effects) > 1:
                effects.pop(place)
            case 2:
                effects.append(self._fact())
            case 3:
                effects.append(f"(not {self._fact()})")
            case 4:
                effects[place] = f"(when {self._condition()} {chosen})"
            case 5:
                self.before.append(self._condition())
            case 6:
                effects[place] = f"(oneof {chosen} {self._maybe_not(self._fact())})"
            case 7 if len(effects) > 1:
                effect = effects.pop(random.randrange(len(effects)))
                effects[0] = f"(oneof {effect} (and {effect} {effects[0]}))"
            case 8:
                kind = random.choice(("thing", "place", "cup", "shelf", "room"))
                inner = self._maybe_not(self._fact({"?g": kind}))
                if random.random() < 0.5:
                    inner = f"(when {self._fact({'?g': kind})} {inner})"
                elif random.random() < 0.3:
                    inner = f"(oneof {inner} {self._maybe_not(self._fact({'?g': kind}))})"
                effects.append(f"(forall (?g - {kind}) {inner})")
            case 9:
                kinds = KINDS[random.choice(("thing", "place"))]
                a, b = [
                    random.choice([v for v, kind in self.variables.items() if kind in (*kinds, "object")]) for _ in "ab"
                ]
                self.before = [text.replace(a + " ", b + " ").replace(a + ")", b + ")") for text in self.before]
            case _:
                condition = self._condition()
                effects[place] = f"(when {condition} {chosen})"
                effects.append(f"(when (not {condition}) {random.choice([chosen, self._fact()])})")
