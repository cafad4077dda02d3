"""BDDL goals as PDDL formulas.

What the quantifiers mean is what the ``bddl`` package evaluates (condition_evaluation.py of bddl 3.6.0), which
docs/home-worlds.md states and tests/domains/behavior compares, case by case:

- ``forall``, ``exists``: over the instances that are declared of exactly this category;
- ``(forn (n) (?x - c) f)``: for exactly n instances;
- ``(forpairs (?x - c) (?y - d) f)``: with m the smaller number of instances, at least m of c have some partner in d,
  and at least m of d have some partner in c. Nothing is its own partner. Of two variables with one
  name, the second counts. If c and d are one category of k instances, m is k - 1, and the second half counts positions
  in the rows (the j-th partner of each instance);
- ``(fornpairs (n) (?x - c) (?y - d) f)``: the same with n for m.

How many of some formulas hold, as a formula.

PDDL has no counting quantifier, and BDDL's ``forn`` and ``forpairs`` count. The encoding splits the formulas in halves:
at least k of them hold iff at least i of the first half and k - i of the second do, for some i. Halves are shared, so
the result is a graph of O(n k) nodes; written out it is a tree, of size n^O(log n) at worst, and small for the handful
of objects that activities count (:func:`written_size` says how large).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.domains.behavior.bddl import Activity, report_name, report_predicate
from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, format_token, is_object_name

MAX_QUANTIFIERS = 500
MAX_WORK = 200_000
MAX_TOKENS = 1_000_000
COUNTED = {"forn": 2, "forpairs": 3, "fornpairs": 4}
POSITIONS = frozenset(["inside", "ontop", "under", "nextto", "onfloor"])


class Term(NamedTuple):
    """The meaning of a name of BDDL: a variable or object of PDDL, and its category."""

    text: str
    category: str


class _Work(NamedTuple):
    """A formula still to be translated: into ``out``, with these names bound."""

    formula: Node
    at: Place
    bound: dict[str, Term]
    depth: int
    out: list[Node]


class Goals:
    """Translates the formulas of one activity. Mistakes go to the context, at their places."""

    def __init__(
        self, context: Context, activity: Activity, names: dict[str, str], cut: frozenset[str] = frozenset()
    ) -> None:
        """``names`` are the PDDL names of instances; objects of the categories ``cut`` may be in pieces."""
        self.context = context
        self.activity = activity
        self.names = names
        self.categories = {category: category.replace(".", "_") for category in activity.objects.values()}
        self.instances = activity.instances()
        self.predicates = activity.vocabulary.predicates
        self.cut = cut
        self.work = 0

    def translate(self, formula: Node, at: Place) -> Node:
        """The formula in PDDL. Counting multiplies: too large a result is an error, reported before it is built."""
        out: list[Node] = []
        stack = [_Work(formula, at, {}, 0, out)]
        while stack and self.work <= MAX_WORK:
            self._one(stack.pop(), stack)
        if self.work > MAX_WORK or (out and written_size(out, MAX_TOKENS) > MAX_TOKENS):
            self.context.error(
                SC.FOREIGN_FORMULA,
                "the goal quantifies over too many combinations",
                at,
                help="split it, or count fewer",
            )
        return out[0] if out else ["and"]

    def _one(self, work: _Work, stack: list[_Work]) -> None:
        node = work.formula
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            self.context.error(SC.UNREADABLE_WORLD, "expected a formula", work.at)
            return
        head = node[0]
        if head in ("and", "or", "not", "imply"):
            formula_count = {"not": 1, "imply": 2}.get(head)
            if formula_count is not None and len(node) != formula_count + 1:
                plural = "" if formula_count == 1 else "s"
                self.context.error(
                    SC.ARITY, f"`{head}` takes {formula_count} formula{plural}, not {len(node) - 1}", Place(node, 0)
                )
                return
            output: list[Node] = [head]
            work.out.append(output)
            stack.extend(
                [work._replace(formula=node[i], at=Place(node, i), out=output) for i in range(len(node) - 1, 0, -1)]
            )
        elif head in ("forall", "exists") or head in COUNTED:
            self._quantified(head, node, work, stack)
        else:
            self._atom(node, work)

    # -- quantifiers --------------------------------------------------------------------------------------------------

    def _quantified(self, head: str, node: list[Node], work: _Work, stack: list[_Work]) -> None:
        counting = head in ("forn", "fornpairs")
        pairs = head in ("forpairs", "fornpairs")
        first = 2 if counting else 1
        body_at = first + (2 if pairs else 1)
        if len(node) != body_at + 1:
            shape = f"({head} {'(N) ' if counting else ''}{'(?x - category) ' * (2 if pairs else 1)}FORMULA)"
            self.context.error(SC.ARITY, f"`{head}` is written `{shape}`", Place(node, 0))
            return
        if work.depth >= MAX_QUANTIFIERS:
            self.context.error(SC.FOREIGN_FORMULA, f"more than {MAX_QUANTIFIERS} nested quantifiers", Place(node, 0))
            return
        count = self._count(node) if counting else 0
        variables = [self._variable(node, position) for position in range(first, body_at)]
        if count is None or None in variables:
            return
        bindings = [variable for variable in variables if variable is not None]
        body = work._replace(formula=node[body_at], at=Place(node, body_at), depth=work.depth + 1)
        if not pairs:
            label, category = bindings[0]
            if head == "forn":
                self._warn_too_many(node, count, len(self.instances[category]))
                if self._too_much(count, len(self.instances[category])):
                    return
                bodies = [self._copy(body, {label: self._constant(name)}, stack) for name in self.instances[category]]
                work.out.append(exactly(count, bodies))
            else:
                variable = self._fresh(label, work.bound)
                output: list[Node] = [head, [variable, "-", self.categories[category]]]
                work.out.append(output)
                stack.append(body._replace(bound=work.bound | {label: Term(variable, category)}, out=output))
            return
        rows, columns = [self.instances[category] for _, category in bindings]
        smaller = min(len(rows), len(columns))
        if bindings[0][1] == bindings[1][1]:
            smaller = max(len(rows) - 1, 0)
        if counting:
            self._warn_too_many(node, count, smaller)
        minimum = count if counting else smaller
        if bindings[0][1] == bindings[1][1]:
            work.out.append(self._pairs_of_one_category(minimum, bindings, body, stack))
        else:
            rows_have = self._partners(minimum, bindings[0], bindings[1], False, body, stack)
            columns_have = self._partners(minimum, bindings[1], bindings[0], True, body, stack)
            work.out.append(["and", rows_have, columns_have])

    def _partners(
        self,
        minimum: int,
        these: tuple[str, str],
        partners: tuple[str, str],
        second_wins: bool,
        body: _Work,
        stack: list[_Work],
    ) -> Node:
        """At least ``wanted`` of ``these`` have a partner among ``others``.

        Of two variables with one name the second counts: ``second_wins`` is true if that is the variable of ``these``.
        """
        label, category = these
        other_label, other_category = partners
        instances = self.instances[category]
        partner_variable = self._fresh(other_label, body.bound)
        if minimum == len(instances):
            variable = self._fresh(label, body.bound | {other_label: Term(partner_variable, other_category)})
            term, partner_term = Term(variable, category), Term(partner_variable, other_category)
            bound = _bind(label, term, other_label, partner_term, second_wins)
            partner: list[Node] = ["exists", [partner_variable, "-", self.categories[other_category]]]
            self._push(body, bound, partner, stack)
            return ["forall", [variable, "-", self.categories[category]], partner]
        if self._too_much(minimum, len(instances)):
            return ["and"]
        disjuncts: list[Node] = []
        for name in instances:
            bound = _bind(label, self._constant(name), other_label, Term(partner_variable, other_category), second_wins)
            partner = ["exists", [partner_variable, "-", self.categories[other_category]]]
            self._push(body, bound, partner, stack)
            disjuncts.append(partner)
        return at_least(minimum, disjuncts)

    def _pairs_of_one_category(
        self, minimum: int, bindings: list[tuple[str, str]], body: _Work, stack: list[_Work]
    ) -> Node:
        """Pairs within one category: the second half counts positions in each row, not objects, as ``bddl`` does."""
        (first, category), (second, _) = bindings
        instances = self.instances[category]
        if self._too_much(minimum, len(instances)) or self._too_much(len(instances), len(instances)):
            return ["and"]
        rows: list[Node] = []
        columns: list[Node] = [["or"] for _ in instances[1:]]
        for number, name in enumerate(instances):
            row: list[Node] = ["or"]
            for position, partner in enumerate(instances[:number] + instances[number + 1 :]):
                bound = {first: self._constant(name)} | {second: self._constant(partner)}
                pair = self._copy(body, bound, stack)
                row.append(pair)
                column = columns[position]
                assert isinstance(column, list)
                column.append(pair)
            rows.append(row)
        return ["and", at_least(minimum, rows), at_least(minimum, columns)]

    def _too_much(self, count: int, size: int) -> bool:
        """Add the work of counting to ``count`` among ``size`` formulas; true if it exceeds the limit."""
        self.work += size * (1 + max(0, min(count, size - count)))
        return self.work > MAX_WORK

    def _copy(self, body: _Work, bound: dict[str, Term], stack: list[_Work]) -> Node:
        """The body with these names bound, to be translated later."""
        output: list[Node] = ["and"]
        self._push(body, bound, output, stack)
        return output

    def _push(self, body: _Work, bound: dict[str, Term], out: list[Node], stack: list[_Work]) -> None:
        self.work += 1
        if self.work <= MAX_WORK:
            stack.append(body._replace(bound=body.bound | bound, out=out))

    def _count(self, node: list[Node]) -> int | None:
        written = node[1]
        token = written[0] if isinstance(written, list) and len(written) == 1 else written
        if isinstance(token, str) and token.isascii() and token.isdigit() and len(token) < 10:
            return int(token)
        self.context.error(SC.UNREADABLE_WORLD, "expected a number in parentheses", Place(node, 1), "such as `(2)`")
        return None

    def _variable(self, node: list[Node], position: int) -> tuple[str, str] | None:
        """The name that a quantifier binds, and the category."""
        written = node[position]
        if not isinstance(written, list) or len(written) != 3 or written[1] != "-":
            self.context.error(SC.UNREADABLE_WORLD, "expected `(?x - category)`", Place(node, position))
            return None
        label, _, category = written
        plain = label.strip("?") if isinstance(label, str) else ""
        if not plain or not is_object_name(plain) or not isinstance(category, str):
            self.context.error(SC.UNREADABLE_WORLD, "expected `(?x - category)`", Place(node, position))
            return None
        if category not in self.instances:
            near = did_you_mean(category, self.instances)
            self.context.error(
                SC.UNKNOWN_TYPE, f"no object is of the category `{category}`", Place(written, 2), help=near
            )
            return None
        return plain, category

    def _warn_too_many(self, node: list[Node], count: int, there_are: int) -> None:
        if count > there_are:
            message = f"{count} are required, but there are at most {there_are}: this can never be true"
            self.context.warning(SC.FOREIGN_FORMULA, message, Place(node, 1))

    def _constant(self, name: str) -> Term:
        return Term(self.names[name], self.activity.objects[name])

    def _fresh(self, label: str, bound: dict[str, Term]) -> str:
        """A variable that is not taken: two names of BDDL may look the same in PDDL."""
        variable = "?" + label.replace(".", "_").replace("?", "_")
        used_names = {term.text for name, term in bound.items() if name != label}
        used_names |= {bound[label].text} if label in bound else set()
        while variable in used_names:
            variable += "_"
        return variable

    # -- atoms --------------------------------------------------------------------------------------------------------

    def _atom(self, node: list[Node], work: _Work) -> None:
        predicate = format_token(node[0])
        if self.predicates.get(predicate) != len(node) - 1:
            report_predicate(self.context, node, self.activity.vocabulary)
            return
        terms: list[Term] = []
        for number, token in enumerate(node[1:], 1):
            name = token.strip("?") if isinstance(token, str) else ""
            term = work.bound.get(name)
            if term is None and name in self.names:
                term = self._constant(name)
            if term is None:
                report_name(self.context, node, number, self.activity.objects, tuple(work.bound))
                return
            terms.append(term)
        atom: list[Node] = [predicate, *[term.text for term in terms]]
        if predicate in POSITIONS and terms[0].category in self.cut:
            work.out.append(["or", atom, _all_pieces(atom)])
        else:
            work.out.append(atom)


def _bind(label: str, term: Term, other_label: str, partner: Term, this_wins: bool) -> dict[str, Term]:
    return {other_label: partner, label: term} if this_wins else {label: term, other_label: partner}


def _all_pieces(atom: list[Node]) -> Node:
    """Where a thing is that was cut: where all its pieces are."""
    object_name = atom[1]
    variable = "?a.piece"  # other variables have no dots
    piece: list[Node] = [atom[0], variable, *atom[2:]]
    pieces: Node = ["forall", [variable, "-", "piece"], ["imply", ["piece_of", variable, object_name], piece]]
    return ["and", ["sliced", object_name], pieces]


def at_least(count: int, formulas: Sequence[Node]) -> Node:
    """Build a formula that holds iff at least ``count`` of ``formulas`` do. Nodes are shared, not copied."""
    return _Threshold(formulas).at_least(count, 0, len(formulas))


def exactly(count: int, formulas: Sequence[Node]) -> Node:
    """Build a formula that holds iff ``count`` of ``formulas`` do, no more and no fewer."""
    if count > len(formulas) or count < 0:
        return ["or"]
    threshold = _Threshold(formulas)
    enough = threshold.at_least(count, 0, len(formulas))
    if count == len(formulas):
        return enough
    few: Node = ["not", threshold.at_least(count + 1, 0, len(formulas))]
    return few if count == 0 else ["and", enough, few]


class _Threshold:
    def __init__(self, formulas: Sequence[Node]) -> None:
        self.formulas = formulas
        self.cache: dict[tuple[int, int, int], Node] = {}

    def at_least(self, count: int, start: int, end: int) -> Node:
        """At least ``count`` of the formulas from ``start`` to ``end``. The recursion is as deep as log2 of them."""
        size = end - start
        if count <= 0:
            return ["and"]
        if count > size:
            return ["or"]
        if size == 1:
            return self.formulas[start]
        key = (count, start, end)
        formula = self.cache.get(key)
        if formula is None:
            if count == size:
                formula = ["and", *self.formulas[start:end]]
            elif count == 1:
                formula = ["or", *self.formulas[start:end]]
            else:
                formula = ["or", *self._splits(count, start, end)]
            self.cache[key] = formula
        return formula

    def _splits(self, count: int, start: int, end: int) -> list[Node]:
        middle = (start + end) // 2
        splits: list[Node] = []
        for left in range(max(0, count - (end - middle)), min(count, middle - start) + 1):
            parts = [(left, start, middle), (count - left, middle, end)]
            sides = [self.at_least(*part) for part in parts if part[0] > 0]
            splits.append(sides[0] if len(sides) == 1 else ["and", *sides])
        return splits


def written_size(formula: Node, limit: int) -> int:
    """How many tokens ``formula`` has when shared nodes are written out; more than ``limit`` is not counted exactly.

    Linear in the number of distinct nodes.
    """
    sizes: dict[int, int] = {}
    stack = [formula]
    while stack:
        node = stack[-1]
        if isinstance(node, str) or id(node) in sizes:
            stack.pop()
            continue
        waiting = [child for child in node if isinstance(child, list) and id(child) not in sizes]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        total = 2 + sum([1 if isinstance(child, str) else sizes[id(child)] for child in node])
        sizes[id(node)] = min(total, limit + 1)
    return 1 if isinstance(formula, str) else sizes[id(formula)]
