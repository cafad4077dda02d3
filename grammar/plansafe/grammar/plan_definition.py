"""Plans as ``(define (plan name) section ..)``: steps with times or labels, and ``(:ordering (< a b) ..)``."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Span, suggest_name
from plansafe.grammar.node_places import Places
from plansafe.grammar.plan_steps import OrderedPair, PlanReader, PlanText, Step, shorten_token
from plansafe.grammar.sexpr import Node, parse_number, parse_source
from plansafe.grammar.source import Source

SECTIONS = (":domain", ":problem", ":steps", ":ordering")
_MAX_LISTED = 12
"""Maximum number of labels in the message about a cycle."""


def read_definition(source: Source) -> PlanText:
    """Read ``(define (plan name) (:domain d) (:problem p) (:steps step ..))``. Mistakes become diagnostics."""
    top, syntax_diagnostics = parse_source(source)
    if top is None:
        return PlanText((), syntax_diagnostics)
    reader = _DefinitionReader(source, top)
    if not reader.read():
        return PlanText((), tuple(reader.diagnostics))
    return PlanText(
        tuple(reader.steps),
        tuple(reader.diagnostics),
        reader.find_reference(":domain"),
        reader.find_reference(":problem"),
        reader.ordering,
        reader.decimals,
        syntax_diagnostics,
    )


class _DefinitionReader(PlanReader):
    """Reads the form of one plan."""

    def __init__(self, source: Source, top: list[Node]) -> None:
        super().__init__(source)
        self.ordering: tuple[OrderedPair, ...] | None = None
        self._top = top
        self._places = Places(source, top)
        self._sections: dict[str, list[Node]] = {}
        """The first section with each head."""

    def read(self) -> bool:
        """Read the form, and return whether it is a plan."""
        form = self._top[0]
        assert isinstance(form, list)
        if len(self._top) > 1:
            place = self._places.span(self._top, 1)
            self.report(SC.STRUCTURE, "text after the end of the plan", place, "a file contains one plan")
        header = form[1] if len(form) > 1 else None
        if not isinstance(header, list) or len(header) != 2 or header[0] != "plan" or not isinstance(header[1], str):
            self.report(SC.STRUCTURE, "expected `(define (plan name) ..)`", self._places.span(form), "not a plan")
            return False
        for child in range(2, len(form)):
            self._read_section(form, child)
        if ":steps" not in self._sections:
            label = "expected a section `(:steps step ..)`"
            self.report(SC.STRUCTURE, "the plan has no `(:steps ..)`", self._places.span(form, 1), label)
        if ":ordering" in self._sections:
            self._read_ordering(self._sections[":ordering"], self._number_labels())
        elif any([step.label is not None for step in self.steps]):
            self._number_labels()
        return True

    def find_reference(self, head: str) -> str | None:
        """Return the name or path in ``(:domain d)`` or ``(:problem p)``, as it is spelt."""
        section = self._sections.get(head)
        if section is None or not _is_reference(section):
            return None
        written = self.source.slice(self._places.span(section, 1))
        return written[1:-1] if written.startswith('"') else written

    def _read_section(self, form: list[Node], child: int) -> None:
        """Read a section; only the first section with each head is used."""
        section, places = form[child], self._places
        head = section[0] if isinstance(section, list) and section else None
        if not isinstance(section, list) or not isinstance(head, str) or head not in SECTIONS:
            message = "expected `(:domain ..)`, `(:problem ..)`, `(:steps ..)` or `(:ordering ..)`"
            help = suggest_name(head, SECTIONS) if isinstance(head, str) else None
            self.report(SC.STRUCTURE, message, places.span(form, child), "not a section of a plan", help)
            return
        if head in self._sections:
            self.report(SC.DECLARED_TWICE, f"section `{head}` occurs twice", places.span(section), "again here")
            return
        self._sections[head] = section
        if head == ":steps":
            for position in range(1, len(section)):
                self._read_step(section, position)
        elif head != ":ordering" and not _is_reference(section):
            message = f"`{head}` takes one name or path"
            self.report(SC.STRUCTURE, message, places.span(section), "expected one name or path")

    def _read_step(self, section: list[Node], position: int) -> None:
        """Read ``(action object ..)``, ``(at time step [duration [tolerance]])`` or ``(label step)``."""
        node, places = section[position], self._places
        span = places.span(section, position)
        time = duration = tolerance = label = None
        if isinstance(node, list) and node and node[0] == "at" and len(node) in (3, 4, 5) and isinstance(node[2], list):
            time = self.read_number(node[1]) if isinstance(node[1], str) else None
            if time is None:
                self.report(SC.STRUCTURE, "expected a time", places.span(node, 1), "expected a number")
            if len(node) >= 4:
                duration = self.read_number(node[3]) if isinstance(node[3], str) else None
                if duration is None:
                    self.report(SC.STRUCTURE, "expected a duration", places.span(node, 3), "expected a number")
            if len(node) == 5:
                tolerance = parse_number(node[4])
                if tolerance is None or tolerance < 0:
                    text = "expected a number" if tolerance is None else "negative"
                    self.report(SC.STRUCTURE, "expected a tolerance of the duration", places.span(node, 4), text)
            span = places.span(node, 2)
            node = node[2]
        elif isinstance(node, list) and len(node) == 2 and isinstance(node[0], str) and isinstance(node[1], list):
            label = node[0]
            if parse_number(label) is not None:
                message = f"`{shorten_token(label)}` cannot label a step"
                self.report(SC.STRUCTURE, message, places.span(node, 0), "a number names a step without a label")
            span = places.span(node, 1)
            node = node[1]
        if not isinstance(node, list) or not node or any([not isinstance(token, str) for token in node]):
            self.report(SC.STRUCTURE, "expected a step", span, "expected `(action object ..)`")
            return
        self.steps.append(Step(tuple([str(token) for token in node]), time, duration, span, label, tolerance))

    # -- labels and the ordering --------------------------------------------------------------------------------------

    def _number_labels(self) -> dict[str, int]:
        """Return the number of the step with each label; a step without a label is named by its number."""
        numbers: dict[str, int] = {}
        for number, step in enumerate(self.steps, 1):
            label = str(number) if step.label is None else step.label
            first = numbers.setdefault(label, number)
            if first != number:
                second = Label(self.source.name, self.steps[first - 1].span, "this step also has it", False)
                message = f"label `{label}` names two steps"
                self.report(SC.STEP_ORDER, message, step.span, "its second step", second=second)
        return numbers

    def _read_ordering(self, section: list[Node], numbers: dict[str, int]) -> None:
        """Read ``(:ordering (< label label ..) ..)``. Linear in the text."""
        timed_step = next((step for step in self.steps if step.time is not None), None)
        if timed_step is not None:
            self.report(SC.STRUCTURE, "a plan with an ordering cannot have times", timed_step.span, "this step has one")
        pairs: dict[OrderedPair, Span] = {}
        for child in range(1, len(section)):
            chain = section[child]
            if isinstance(chain, list) and len(chain) > 2 and chain[0] == "<":
                self._read_chain(chain, numbers, pairs)
            else:
                place = self._places.span(section, child)
                self.report(SC.STRUCTURE, "expected an order of steps", place, "expected `(< label label ..)`")
        cycle = _find_cycle(len(self.steps), list(pairs))
        if cycle:
            labels = [self.steps[number - 1].label or str(number) for number in cycle]
            if len(labels) > _MAX_LISTED:
                labels = [*labels[: _MAX_LISTED - 2], "..", labels[-1]]
            message = f"the ordering has a cycle: {' < '.join(labels)}"
            help = "remove one of these orders"
            self.report(SC.STEP_ORDER, message, pairs[cycle[0], cycle[1]], "on the cycle", help)
        self.ordering = tuple(pairs)

    def _read_chain(self, chain: list[Node], numbers: dict[str, int], pairs: dict[OrderedPair, Span]) -> None:
        """Add the pairs of neighbours in ``(< label label ..)``, each with the place of its second label."""
        previous_number: int | None = None
        for position in range(1, len(chain)):
            label, place = chain[position], self._places.span(chain, position)
            number = numbers.get(label) if isinstance(label, str) else None
            if not isinstance(label, str):
                self.report(SC.STRUCTURE, "expected the label of a step", place, "expected a label")
            elif number is None:
                help = self._suggest_label(label, numbers)
                self.report(SC.STEP_ORDER, f"no step is named `{label}`", place, "unknown", help)
            elif previous_number is not None:
                pairs.setdefault((previous_number, number), place)
            previous_number = number

    def _suggest_label(self, label: str, numbers: dict[str, int]) -> str | None:
        if label.isdecimal() and label.isascii() and len(label) < 10 and 0 < int(label) <= len(self.steps):
            step_label = self.steps[int(label) - 1].label
            if step_label is not None:
                return f"step {int(label)} is named `{step_label}`"
        return suggest_name(label, list(numbers))


def _is_reference(section: list[Node]) -> bool:
    return len(section) == 2 and isinstance(section[1], str)


def _find_cycle(count: int, pairs: list[OrderedPair]) -> list[int]:
    """Return the steps of a cycle, with the first step repeated at the end; an empty list without a cycle."""
    successors_of: list[list[int]] = [[] for _ in range(count + 1)]
    for first, second in pairs:
        successors_of[first].append(second)
    finished_steps = set[int]()
    for root in range(1, count + 1):
        if root in finished_steps:
            continue
        path, path_steps = [root], {root}
        unvisited = [iter(successors_of[root])]
        while path:
            step = next(unvisited[-1], None)
            if step is None:
                unvisited.pop()
                path_steps.remove(path[-1])
                finished_steps.add(path.pop())
            elif step in path_steps:
                return [*path[path.index(step) :], step]
            elif step not in finished_steps:
                path.append(step)
                path_steps.add(step)
                unvisited.append(iter(successors_of[step]))
    return []
