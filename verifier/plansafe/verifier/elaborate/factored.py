"""Factored tasks (MA-PDDL): the parts of several agents, merged on the tree into one domain and one problem.

docs/language.md, section 2, Dialects, defines the result. Each part is elaborated alone first, so that mistakes are
reported in its own text; the merged lists keep the places of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple, Protocol

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.context import Context, Place, format_token, is_object_name, is_variable
from plansafe.verifier.elaborate.section_variables import find_argument_objects, find_typed_lists
from plansafe.verifier.elaborate.symbols import Agent, Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.model.nodes import Predicate, Task, Variable


class Elaboration(Protocol):
    """The result of elaborating a domain and a problem."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def symbols(self) -> Symbols:
        """Its names."""


ElaborateFunction = Callable[[Context, list[Node], list[Node]], Elaboration | None]
TopNodes = tuple[list[Node], list[Node]]
"""The top-level nodes of a domain and of a problem."""


class MergedParts(NamedTuple):
    """The top-level nodes of the merged domain and problem, and the agents."""

    domain_top: list[Node]
    problem_top: list[Node]
    agents: tuple[Agent, ...]


_STRUCTURES = (":action", ":durative-action", ":process", ":event")


class _Part(NamedTuple):
    """The domain and problem of one agent: the sections by their heads, and the elaborated task."""

    sections: Mapping[str, list[list[Node]]]
    elaborated: Elaboration
    private_names: Mapping[str, set[str]]
    """The names that are private, by the head of their section."""

    @property
    def private_objects(self) -> set[str]:
        return self.private_names[":objects"] | self.private_names[":constants"]

    def find_objects(self, type_names: tuple[str, ...] | None) -> set[str]:
        return _find_objects(self.elaborated, type_names)


class _MergedDeclaration(NamedTuple):
    """A name that parts declare: its types, its first place, and the numbers of the parts.

    ``types``: the type alternatives of an object, or of each argument of a predicate or function.
    """

    types: tuple[tuple[str, ...], ...]
    at: Place
    parts: list[int]
    is_private: bool


_StructureKey = tuple[str, str]
"""The kind (``:action``) and the name of an action, process or event."""


class _MergedStructure(NamedTuple):
    """An action, process or event: its tree, and the numbers of the parts that have it."""

    section: list[Node]
    parts: list[int]


def merge_parts(
    context: Context, domain_top: list[Node], problem_top: list[Node], elaborate: ElaborateFunction
) -> MergedParts | None:
    """Return the merged domain and problem; ``None`` after an error."""
    if len(domain_top) != len(problem_top):
        message = f"a factored task needs a problem for each domain, not {len(problem_top)} for {len(domain_top)}"
        at = Place(problem_top, len(problem_top) - 1) if problem_top else Place(domain_top, 0)
        context.error(SC.CONTRADICTORY_PARTS, message, at, "the last problem")
        return None
    parts = []
    for number, (domain, problem) in enumerate(zip(domain_top, problem_top, strict=True)):
        part_context = _make_context_sharing_places(context)
        tops = (
            part_context.record_origin([domain], Place(domain_top, number)),
            part_context.record_origin([problem], Place(problem_top, number)),
        )
        elaborated = elaborate(part_context, *tops)
        if elaborated is None or part_context.errors:
            context.diagnostics += part_context.diagnostics
            context.errors += max(part_context.errors, 1)
        else:
            parts.append(_make_part(context, tops, elaborated))
    if len(parts) < len(domain_top):
        return None
    merger = _PartMerger(context, parts)
    tops = merger.merge({})
    if context.errors:
        return None
    merged_context = _make_context_sharing_places(context)
    merged = elaborate(merged_context, *tops)
    if merged is None or merged_context.errors:
        return MergedParts(*tops, ())  # reported where the result is elaborated
    merger.report_unknown_objects(merged)
    if context.errors:
        return None
    symbols_of_parts = [part.elaborated.symbols for part in parts]
    agents = tuple([Agent(frozenset(symbols.actions), frozenset(symbols.objects)) for symbols in symbols_of_parts])
    return MergedParts(*merger.merge(dict(merger.find_knowledge_conditions(merged))), agents)


def _make_context_sharing_places(context: Context) -> Context:
    """Return a context with the places of ``context`` and with diagnostics of its own."""
    shared = Context(context.lenient_types)
    shared.places, shared.origin, shared.replaced = context.places, context.origin, context.replaced
    return shared


def _make_part(context: Context, tops: TopNodes, elaborated: Elaboration) -> _Part:
    sections: dict[str, list[list[Node]]] = {}
    private_names: dict[str, set[str]] = {head: set() for head in dialects.PRIVATE}
    for top in tops:
        for section in top[0][2:] if isinstance(top[0], list) else ():
            assert isinstance(section, list)
            head = format_token(section[0])
            if head in dialects.PRIVATE:
                for block in [child for child in section if isinstance(child, list) and child[:1] == [":private"]]:
                    private_names[head] |= _list_private_names(head, block)
                section = dialects.inline_private_blocks(context, Place(section), True, is_reported=False).node
            sections.setdefault(":constraints" if head == ":constraint" else head, []).append(section)
    return _Part(sections, elaborated, private_names)


def _list_private_names(head: str, block: list[Node]) -> set[str]:
    """Return the names that a ``(:private ..)`` declares in the section ``head``."""
    if head in (":predicates", ":functions"):
        return {format_token(declared[0]) for declared in block[1:] if isinstance(declared, list)}
    return {entry.name for entry in parse_typed_list(Context(), block, 1, is_object_name, "an object")}


class _PartMerger:
    """Merges parts; reports contradictions to the context."""

    def __init__(self, context: Context, parts: list[_Part]) -> None:
        self.context = context
        self.parts = parts
        self._objects = self._merge_objects()
        self._predicates = self._merge_declarations("predicate")
        self._functions = self._merge_declarations("function")
        self._structures = self._merge_structures()
        self._axioms = self._merge_axioms()
        self._metric = self._merge_metric()

    def _report_contradiction(self, message: str, at: Place, first: Place, help: str | None = None) -> None:
        self.context.error(
            SC.CONTRADICTORY_PARTS, message, at, "in this part", related=(first, "in another part"), help=help
        )

    # -- declarations -------------------------------------------------------------------------------------------------

    def _merge_objects(self) -> dict[str, _MergedDeclaration]:
        """Return the objects by name; report objects that are private to two agents or have other types."""
        merged: dict[str, _MergedDeclaration] = {}
        for number, part in enumerate(self.parts):
            symbols = part.elaborated.symbols
            for name, types, at in zip(symbols.objects, symbols.object_types, symbols.object_at, strict=True):
                names = tuple(sorted([symbols.types.names[t] for t in types]))
                is_private = name in part.private_objects
                first = merged.setdefault(name, _MergedDeclaration((names,), at, [], is_private))
                if first.parts and (is_private or first.is_private):
                    message = f"object `{name}` is private to another agent"
                    self._report_contradiction(message, at, first.at, "give the objects of two agents two names")
                elif first.types != (names,):
                    message = f"object `{name}` has types `{' '.join(first.types[0])}` and `{' '.join(names)}`"
                    self._report_contradiction(message, at, first.at)
                first.parts.append(number)
        return merged

    def _merge_declarations(self, kind: str) -> dict[str, _MergedDeclaration]:
        """Return the predicates or functions by name; report contradictory declarations."""
        merged: dict[str, _MergedDeclaration] = {}
        for number, part in enumerate(self.parts):
            symbols = part.elaborated.symbols
            for declared in symbols.predicates if kind == "predicate" else symbols.functions:
                name, types, at = declared.name, _find_type_names(part, declared), Place(_require_list(declared.node))
                is_private = name in part.private_names[f":{kind}s"]
                first = merged.setdefault(name, _MergedDeclaration(types, at, [], is_private))
                if first.is_private != is_private:
                    message = f"{kind} `{name}` is private to one agent, and not to another"
                    self._report_contradiction(message, at, first.at)
                elif first.types != types and not (is_private and len(first.types) == len(types)):
                    self._report_contradiction(f"{kind} `{name}` has other types", at, first.at)
                elif first.types != types:
                    joined = [tuple(sorted({*names, *more})) for names, more in zip(first.types, types, strict=True)]
                    merged[name] = first._replace(types=tuple(joined))
                first.parts.append(number)
        self._check_private_facts(kind, {name: d for name, d in merged.items() if d.is_private and d.parts[1:]})
        return merged

    def _check_private_facts(self, kind: str, shared: Mapping[str, _MergedDeclaration]) -> None:
        """Report private predicates and functions whose facts could be the same for two agents."""
        arities = {name: len(declared.types) for name, declared in shared.items()}
        heads = (*_STRUCTURES, ":derived", ":init", ":goal", ":constraints", ":metric")
        arguments = []
        for part in self.parts if shared else ():
            sections = [section for head in heads for section in part.sections.get(head, ())]
            arguments.append(find_argument_objects(sections, arities, part.find_objects))
        for name, declared in shared.items():
            for first, second in combinations(declared.parts, 2):
                pairs = zip(arguments[first][name], arguments[second][name], strict=True)
                if all([ours & theirs for ours, theirs in pairs]):
                    message = f"{kind} `{name}` is private to two agents, whose facts could be the same"
                    help = "give it a parameter for an object of the agent, with a type of its own; or use two names"
                    places = [self._find_declaration(kind, name, number) for number in (second, first)]
                    self._report_contradiction(message, places[0], places[1], help)
                    break

    def _find_declaration(self, kind: str, name: str, number: int) -> Place:
        symbols = self.parts[number].elaborated.symbols
        if kind == "predicate":
            return Place(_require_list(symbols.predicates[symbols.predicate_index[name]].node))
        return Place(_require_list(symbols.functions[symbols.function_index[name]].node))

    def _make_signature(self, declared: _MergedDeclaration) -> Place:
        """Return the declaration of a predicate or function with the types of all parts."""
        parameters = [
            (_make_token(f"?{n}"), _make_token("-"), _make_type(names)) for n, names in enumerate(declared.types, 1)
        ]
        children = [Place(_require_list(declared.at.subtree), 0), *[p for parameter in parameters for p in parameter]]
        return Place(dialects.generate_list(self.context, children))

    # -- actions, axioms, metric --------------------------------------------------------------------------------------

    def _merge_structures(self) -> dict[_StructureKey, _MergedStructure]:
        """Return the actions, processes and events; report those that parts write differently."""
        merged: dict[_StructureKey, _MergedStructure] = {}
        for number, part in enumerate(self.parts):
            for head in _STRUCTURES:
                for section in part.sections.get(head, ()):
                    first, parts = merged.setdefault((head, format_token(section[1])), _MergedStructure(section, []))
                    if parts and format_node(first) != format_node(section):
                        message = f"{head[1:]} `{format_token(section[1])}` is not the same in all parts"
                        self._report_contradiction(
                            message, Place(section, 1), Place(first, 1), "write it in the same way"
                        )
                    parts.append(number)
        return merged

    def _merge_axioms(self) -> list[list[Node]]:
        merged: dict[str, list[list[Node]]] = {}
        for part in self.parts:
            sections_by_predicate: dict[str, list[list[Node]]] = {}
            for section in part.sections.get(":derived", ()):
                sections_by_predicate.setdefault(format_token(_require_list(section[1])[0]), []).append(section)
            for name, sections in sections_by_predicate.items():
                first = merged.setdefault(name, sections)
                if [format_node(section) for section in first] != [format_node(section) for section in sections]:
                    message = f"derived predicate `{name}` is not the same in all parts"
                    self._report_contradiction(
                        message, Place(sections[0], 1), Place(first[0], 1), "write it in the same way"
                    )
        return [section for sections in merged.values() for section in sections]

    def _merge_metric(self) -> list[list[Node]]:
        metrics = [section for part in self.parts for section in part.sections.get(":metric", ())]
        for metric in metrics:
            if format_node(metric) != format_node(metrics[0]):
                self._report_contradiction("the parts have different metrics", Place(metric), Place(metrics[0]))
        return metrics[:1]

    # -- knowledge ----------------------------------------------------------------------------------------------------

    def report_unknown_objects(self, merged: Elaboration) -> None:
        """Report quantifiers over objects that an agent does not know."""
        construct = "quantifiers over objects that an agent does not know"
        text = "the objects of another agent are among its values"
        for part in self.parts:
            heads = (*_STRUCTURES, ":derived", ":goal", ":constraints")
            sections = [section for head in heads for section in part.sections.get(head, ())]
            for variables in [variables for section in sections for variables in find_typed_lists(section)]:
                typed = _require_list(variables.subtree)
                for entry in parse_typed_list(Context(), typed, 0, is_variable, "a variable"):
                    if _find_objects(merged, entry.types) - part.find_objects(entry.types):
                        self.context.report_unsupported(construct, entry.at, text)

    def find_knowledge_conditions(self, merged: Elaboration) -> Iterator[tuple[_StructureKey, Node]]:
        """Yield for each action the condition that some agent knows its arguments, unless it is always true."""
        for key, (section, part_numbers) in self._structures.items():
            all_values = [set(merged.task.names(merged.task.domains[v.domain])) for v in _find_parameters(merged, key)]
            agents = dialects.split_agent(Context(), section)[0]
            agent_count = len(parse_typed_list(Context(), [a.subtree for a in agents], 0, is_variable, "a variable"))
            choices: list[Node] = []
            for number in part_numbers:
                part, conditions = self.parts[number], list[Node]()
                task = part.elaborated.task
                for position, variable in enumerate(_find_parameters(part.elaborated, key)):
                    values = set(task.names(task.domains[variable.domain]))
                    if position < agent_count:
                        values = values & part.private_objects or values
                    conditions += _make_value_conditions(variable.name, values, all_values[position])
                choices.append(["and", *conditions])
            if ["and"] not in choices:
                yield key, ["or", *choices] if len(choices) > 1 else choices[0]

    # -- the result ---------------------------------------------------------------------------------------------------

    def merge(self, conditions: Mapping[_StructureKey, Node]) -> TopNodes:
        """Return the merged domain and problem; ``conditions``: further conditions of actions."""
        make = dialects.generate_list
        return [make(self.context, self._merge_domain(conditions))], [make(self.context, self._merge_problem())]

    def _merge_domain(self, conditions: Mapping[_StructureKey, Node]) -> list[Place]:
        """Return the places of the children of the merged domain."""
        first = self.parts[0].elaborated.task
        types = [place for section in self._list_sections(":types") for place in _list_typed_places(section)]
        constants = [place for declared in self._objects.values() for place in _list_object_places(declared)]
        predicates = [self._make_signature(declared) for declared in self._predicates.values()]
        functions: list[Place] = []
        for declared in self._functions.values():
            functions += [self._make_signature(declared), _make_token("-"), _make_token("number")]
        domain = [
            *_make_head("domain", first.name),
            self._make_section(":requirements", self._list_distinct_children(":requirements")),
            self._make_section(":types", types),
            self._make_section(":constants", constants),
            self._make_section(":predicates", predicates),
            self._make_section(":functions", functions),
        ]
        for key, (section, _) in self._structures.items():
            condition = conditions.get(key)
            domain.append(Place(section) if condition is None else self._add_condition(section, key[0], condition))
        return [*domain, *[Place(section) for section in self._axioms]]

    def _merge_problem(self) -> list[Place]:
        """Return the places of the children of the merged problem."""
        tasks = [part.elaborated.task for part in self.parts]
        problem = [
            *_make_head("problem", tasks[0].problem),
            self._make_section(":domain", [_make_token(tasks[0].name)]),
            self._make_section(":init", self._list_distinct_children(":init")),
        ]
        for head in (":goal", ":constraints"):
            bodies = _remove_duplicates(
                [Place(section, 1) for section in self._list_sections(head) if len(section) > 1]
            )
            if bodies:
                conjunction = self._make_section("and", bodies)
                self.context.origin[id(conjunction.node)] = bodies[0]
                problem.append(self._make_section(head, bodies if len(bodies) == 1 else [conjunction]))
        return [*problem, *[Place(section) for section in self._metric]]

    def _list_sections(self, head: str) -> list[list[Node]]:
        """Return the sections with a head, of all parts."""
        return [section for part in self.parts for section in part.sections.get(head, ())]

    def _make_section(self, head: str, children: list[Place]) -> Place:
        return Place(dialects.generate_list(self.context, [_make_token(head), *children]))

    def _list_distinct_children(self, head: str) -> list[Place]:
        """Return the children of the sections with a head, of all parts; of equal children, the first."""
        sections = self._list_sections(head)
        return _remove_duplicates([Place(section, n) for section in sections for n in range(1, len(section))])

    def _add_condition(self, section: list[Node], head: str, condition: Node) -> Place:
        """Return an action, process or event with one more condition; ``head``: its kind."""
        at = Place(section, 1)
        if head == ":durative-action":
            condition = ["at", "start", condition]
        key = ":condition" if head == ":durative-action" else ":precondition"
        added = Place(self.context.record_origin([self._generate_tree(condition, at)], at), 0)
        children = [Place(section, child) for child in range(len(section))]
        if key in section:
            position = section.index(key) + 1
            conjunction = self._make_section("and", [added, children[position]])
            self.context.origin[id(conjunction.node)] = Place(section, position)
            children[position] = conjunction
        else:
            children += [_make_token(key), added]
        return Place(dialects.generate_list(self.context, children))

    def _generate_tree(self, node: Node, at: Place) -> Node:
        """Return a generated tree whose lists have the place ``at``."""
        if isinstance(node, str):
            return node
        return self.context.record_origin([self._generate_tree(child, at) for child in node], at)


def _make_token(text: str) -> Place:
    """Return the place of a generated token."""
    return Place([text], 0)


def _make_head(kind: str, name: str) -> list[Place]:
    return [_make_token("define"), Place([[kind, name]], 0)]


def _require_list(node: object) -> list[Node]:
    assert isinstance(node, list)
    return node


def _list_typed_places(section: list[Node]) -> list[Place]:
    """Return the places in a section with a typed list, to which another typed list can be appended."""
    return dialects.close_typed_list([Place(section, child) for child in range(1, len(section))])


def _list_object_places(declared: _MergedDeclaration) -> list[Place]:
    return [declared.at, _make_token("-"), _make_type(declared.types[0])]


def _make_type(names: tuple[str, ...]) -> Place:
    return Place([names[0] if len(names) == 1 else ["either", *names]], 0)


def _remove_duplicates(places: list[Place]) -> list[Place]:
    """Keep the first of several equal trees."""
    return list({format_node(place.subtree): place for place in reversed(places)}.values())[::-1]


def _find_type_names(part: _Part, declared: Predicate) -> tuple[tuple[str, ...], ...]:
    """Return the type alternatives of each argument of a predicate or function, by name."""
    names = part.elaborated.symbols.types.names
    return tuple([tuple(sorted([names[t] for t in types])) for types in declared.types])


def _find_objects(elaborated: Elaboration, type_names: tuple[str, ...] | None) -> set[str]:
    """Return the objects of type alternatives; ``None``: all objects."""
    symbols = elaborated.symbols
    types = symbols.types
    supertypes = (
        (0,) if type_names is None else tuple([types.index[name] for name in type_names if name in types.index])
    )
    objects = zip(symbols.objects, symbols.object_types, strict=True)
    return {name for name, object_types in objects if types.object_fits(object_types, supertypes)}


def _find_parameters(elaborated: Elaboration, key: _StructureKey) -> tuple[Variable, ...]:
    """Return the parameters of an action, process or event."""
    kind, name = key
    symbols = elaborated.symbols
    if kind == ":process":
        return symbols.processes[name].parameters
    return (symbols.events if kind == ":event" else symbols.actions)[name].parameters


def _make_value_conditions(variable: str, values: set[str], all_values: set[str]) -> list[Node]:
    """Return the conditions that a variable has one of ``values``; none if these are all of its values."""
    unknown = all_values - values
    if not unknown:
        return []
    is_positive = len(values) <= len(unknown)
    tests: list[Node] = [["=", variable, name] for name in sorted(values & all_values if is_positive else unknown)]
    return [["or", *tests]] if is_positive else [["not", test] for test in tests]
