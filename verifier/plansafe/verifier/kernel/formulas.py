"""Traces, and the value of a formula at every letter of one (docs/language.md, sections 2 and 4).

Truth values are 0 (false), 1 (undefined) and 2 (true): Kleene's ``and`` is min, ``or`` is max, ``not`` is 2 - v.
A formula is a tuple headed by its operator; its *row* is the list of its values at letters 0..n.
"""

# fmt: off
# ruff: noqa: D102, D103, D204, E701, E702, RUF021
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate, product
from typing import Any

from .reader import bounded

Formula = tuple[Any, ...]
Fact = tuple[str, ...]  # (predicate, object ..); a fluent is ("#", function, object ..)
Binding = Mapping[str, Any]  # variable -> object; also ?duration -> number, "@" -> phase of a durative action
Domains = tuple[tuple[str, tuple[str, ...]], ...]  # variables with the objects they range over
Row = list[int]
Taken = tuple[str, int, Fact]  # "action", "action-end" or "action-during"; step number; (name, object ..)

COMPARE: dict[str, Any] = {"=": operator.eq, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
ARITHMETIC: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
ASSIGN = ("increase", "decrease", "assign", "scale-up", "scale-down")
PAST = {"yesterday": 1, "weak-yesterday": 1, "once": 1, "historically": 1, "since": 2}  # with their number of formulas
FUTURE = {"next": 1, "weak-next": 1, "until": 2, "release": 2, "always": 1, "sometime": 1, "sometime-after": 2}
WHOLE = {"at end": 1, "within": 1, "hold-during": 1, "hold-after": 1, "always-within": 2, "sometime-before": 2}
WHOLE["at-most-once"] = 1
BOUNDS = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}  # how many times come first
PDDL3 = {"always": 1, "sometime": 1, "sometime-after": 2, **WHOLE}
UNFOLD: dict[str, Callable[[Row, Row], Row]] = {  # the value here, from the value one letter before or after
    "yesterday": lambda f, _: [0, *f[:-1]],
    "weak-yesterday": lambda f, _: [2, *f[:-1]],
    "once": lambda f, _: [*accumulate(f, max)],
    "historically": lambda f, _: [*accumulate(f, min)],
    "since": lambda f, g: scan(f, g, lambda since, f, g: max(g, min(f, since)), 0),
    "next": lambda f, _: [*f[1:], 0],
    "weak-next": lambda f, _: [*f[1:], 2],
    "sometime": lambda f, _: [*accumulate(f[::-1], max)][::-1],
    "always": lambda f, _: [*accumulate(f[::-1], min)][::-1],
    "until": lambda f, g: scan(f[::-1], g[::-1], lambda until, f, g: max(g, min(f, until)), 0)[::-1],
    "release": lambda f, g: scan(f[::-1], g[::-1], lambda release, f, g: min(g, max(f, release)), 2)[::-1],
    "sometime-after": lambda f, g: UNFOLD["always"](implies(f, UNFOLD["sometime"](g, g)), f),
}

def scan(f: Row, g: Row, step: Callable[[int, int, int], int], value: int) -> Row:  # running results over two rows
    return [value := step(value, *now) for now in zip(f, g, strict=True)]
def implies(f: Row, g: Row) -> Row: return [max(2 - v, w) for v, w in zip(f, g, strict=True)]
def fold(pick: Callable[[int, int], int], rows: Iterable[Row], result: Row, decided: Row) -> Row:  # least or greatest
    for values in rows:
        result = list(map(pick, result, values))
        if result == decided: break
    return result

class Trace:
    """Letters 0..n: their times, step numbers, what is taken there, and how each fact and fluent changed."""
    def __init__(self, facts: set[Fact], numbers: dict[Fact, Fraction]) -> None:
        self.times, self.steps, self.taken = list[Fraction](), list[int](), list[list[Taken]]()
        self.history: dict[Fact, list[tuple[int, Any]]] = {}  # (letter, new value) ..
        self.facts, self.numbers = set[Fact](), dict[Fact, Fraction]()  # of the last letter
        self.timed, self.shared = False, set[int]()  # letters may come closer than 1; another may come at their time
        self.append(facts, numbers, Fraction(0), 0)

    def append(self, facts: set[Fact], numbers: dict[Fact, Fraction], time: Fraction, step: int) -> None:
        changed = [(f, 2 * (f in facts)) for f in self.facts ^ facts]
        for fact, value in (*changed, *(numbers.items() - self.numbers.items() if numbers is not self.numbers else ())):
            self.history.setdefault(fact, []).append((len(self.times), value))
        self.facts, self.numbers = facts, numbers
        self.times.append(time); self.steps.append(step); self.taken.append([])

    def values(self, fact: Fact, default: Any) -> list[Any]:  # 0 or 2 of a fact, numbers of a fluent
        result = list[Any]()
        for letter, value in (*self.history.get(fact, ()), (len(self.times), None)):
            result += [default] * (letter - len(result)); default = value
        return result

    def states(self) -> tuple[frozenset[Fact], ...]:
        rows = {fact: self.values(fact, 0) for fact in self.history if fact[0] != "#"}
        return tuple(frozenset(fact for fact, row in rows.items() if row[i]) for i in range(len(self.times)))

def ground(terms: Sequence[str], b: Binding) -> Fact: return tuple(b.get(x, x) for x in terms)
def symbol(fact: Fact) -> Fact: return fact[:1 + (fact[0] == "#")]  # a fact or fluent without its objects
def bindings(domains: Domains, b: Binding) -> Iterator[dict[str, Any]]:  # b with the variables bound in every way
    return ({**b, **dict(zip(dict(domains), objects, strict=True))} for objects in product(*dict(domains).values()))
def unify(pattern: Sequence[str], taken: Taken, b: Binding) -> dict[str, Any] | None:
    # b, extended so that (mode, name, term ..) is what was taken, "_" being anything; None if it cannot be.
    result = dict(b)
    for wanted, found in zip(pattern, (taken[0], *taken[2]), strict=False):
        if wanted != "_" and found != (result.setdefault(wanted, found) if wanted[0] == "?" else wanted): return None
    return result

def numbers(e: Formula, b: Binding, t: Trace) -> Sequence[Fraction | None]:  # undefined: None
    if e[0] == "#": return t.values(ground(e, b), None)
    if e[0] == "given": return [b.get(e[1], e[1])] * len(t.times)
    def apply(xs: Sequence[Any]) -> Fraction | None:
        return None if None in xs or e[0] == "/" and not xs[1] else bounded(reduce(ARITHMETIC[e[0]], xs))
    return [apply(xs) for xs in zip(*(numbers(x, b, t) for x in e[1:]), strict=True)]

def row(f: Formula, b: Binding, t: Trace) -> Row:  # linear in the trace, apart from always-within
    n = len(t.times)
    match f:
        case ("atom", *terms): return t.values(ground(terms, b), 0)
        case ("same", x, y): return [2 * (b.get(x, x) == b.get(y, y))] * n
        case ("not", g): return [2 - v for v in row(g, b, t)]
        case ("imply", g, h): return implies(row(g, b, t), row(h, b, t))
        case ("and", *parts): return fold(min, (row(g, b, t) for g in parts), [2] * n, [0] * n)
        case ("or", *parts): return fold(max, (row(g, b, t) for g in parts), [0] * n, [2] * n)
        case ("forall", v, objects, g): return fold(min, (row(g, {**b, v: o}, t) for o in objects), [2] * n, [0] * n)
        case ("exists", v, objects, g): return fold(max, (row(g, {**b, v: o}, t) for o in objects), [0] * n, [2] * n)
        case ("preference", *_): return [2] * n
        case ("count", wanted, *atoms):
            every = {ground(atom, c) for domains, atom in atoms for c in bindings(domains, b)}
            return [2 * (sum(v) // 2 in wanted) for v in zip([0] * n, *(t.values(f, 0) for f in every), strict=True)]
        case ("taken", *pattern): return [2 * any(unify(pattern, x, b) is not None for x in here) for here in t.taken]
        case (str(op), g) if op[0] == "@": return row(g, b, t) if b["@"] == op else [2] * n
        case (op, x, y) if op in COMPARE:
            pairs = zip(numbers(x, b, t), numbers(y, b, t), strict=True)
            return [1 if None in p else 2 * COMPARE[op](*p) for p in pairs]
    rows = [row(g, b, t) for g in f[1 + BOUNDS.get(f[0], 0):]]
    return UNFOLD[f[0]](rows[0], rows[-1]) if f[0] in UNFOLD else [whole(f, rows, t.times)] * n

def reads(f: Formula, b: Binding, negative: bool = False) -> Iterator[tuple[Fact, bool]]:
    # The ground atoms and fluents of a formula or effect, quantifiers expanded; and whether under a negation.
    match f:
        case (("atom" | "#"), *terms): yield ground(f if f[0] == "#" else terms, b), negative
        case (("forall" | "exists"), v, objects, g):
            for o in objects: yield from reads(g, {**b, v: o}, negative)
        case (op, _, x) if op in ASSIGN: yield from reads(x, b)
        case (op, *parts) if op not in ("add", "del", "preference") and (op[0] != "@" or b["@"] == op):
            for i, g in enumerate(parts):
                if isinstance(g, tuple): yield from reads(g, b, negative != (op == "not" or op == "imply" and i == 0))

def operators(f: Formula) -> set[str]:  # with "empty", if it has an ``and``, ``or`` or quantifier over nothing
    inside = f[3:] if f[0] in ("forall", "exists") else f[1:]
    empty = {"empty"} if not inside or f[0] in ("forall", "exists") and not f[2] else set[str]()
    return {f[0], *empty}.union(*(operators(g) for g in inside if isinstance(g, tuple)))

def whole(f: Formula, rows: Sequence[Row], times: Sequence[Fraction]) -> int:  # a PDDL3 operator on an entire trace
    x, y, n = rows[0], rows[-1], len(times) - 1
    match f:
        case ("at end", _): return x[n]
        case ("within", t, _): return max((v for v, time in zip(x, times, strict=True) if time <= t), default=0)
        case ("sometime-before", *_): return min(implies(x, UNFOLD["yesterday"](UNFOLD["once"](y, y), y)))
        case ("always-within", t, *_):
            return min(implies(x, [answer(y, i, t, times) if v else 2 for i, v in enumerate(x)]))
        case ("at-most-once", _):  # not: f, later not f, later f
            held = ceased = again = 0
            for v in x: held, ceased, again = max(held, v), max(ceased, min(held, 2 - v)), max(again, min(ceased, v))
            return 2 - again
        case (("hold-during" | "hold-after") as op, u, *v):
            if times[n] <= u: return x[n]
            force = max(i for i in range(n) if times[i] <= u)
            return min(x[i] for i in range(force, n + 1) if i == force or op == "hold-after" or times[i] < v[0])
    return UNFOLD[f[0]](x, y)[0]

def answer(g: Row, start: int, within: Fraction, times: Sequence[Fraction]) -> int:  # g from start on, in time
    best, i = 0, start
    while best < 2 and i < len(times) and times[i] - times[start] <= within: best, i = max(best, g[i]), i + 1
    return best

def doomed(f: Formula, rows: Sequence[Row], t: Trace) -> bool:
    # Whether a prefix with these rows (of state formulas) violates the PDDL3 operator whatever comes after.
    n = len(rows[0]) - 1; times = t.times[:n + 1]
    def closed(time: Fraction) -> bool:  # no later letter has at most this time; the first step may be at 0
        return times[n] + (not t.timed) > time or times[n] == time and n not in {0} | t.shared
    if f[0] in ("at end", "sometime", "sometime-after") or whole(f, rows, times) > 0: return False
    if f[0] != "always-within": return f[0] not in ("within", "hold-during", "hold-after") or closed(f[1])
    due = [i for i in range(n + 1) if rows[0][i] == 2 and closed(times[i] + f[1])]
    return any(answer(rows[1], i, f[1], times) == 0 for i in due)
