"""Merge the parts of a factored task into one domain and one problem (docs/language.md, section 2, Dialects)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from .dialects import Expressions, Section, complete_typed_list, list_sections, to_plain_pddl
from .reader import OBJECT, VARIABLE, Sexp, read_typed_list, require
from .vocabulary import Params, Vocabulary

TaskReader = Callable[[Expressions, Expressions], Vocabulary]
"""A function that checks a plain domain and problem, and returns their names."""
ACTION_KINDS = (":action", ":durative-action", ":process", ":event")
"""The sections with what an agent executes, only with objects that it knows."""


def is_factored(domain: Expressions) -> bool:
    """Whether a text has several domains, and each requires ``:factored-privacy``."""
    return len(domain) > 1 and all(_requires_privacy((form,)) for form in domain)


def _requires_privacy(domain: Expressions) -> bool:
    return any(s[0] == ":requirements" and ":factored-privacy" in s for s in list_sections(domain))


def merge_parts(domains: Expressions, problems: Expressions, read_task: TaskReader) -> tuple[Expressions, Expressions]:
    """Return the merged domain and problem; ``read_task`` checks a part. Raises ``KernelRejects``."""
    require(len(domains) == len(problems), "not a problem for each domain")
    parts = [_Part((d,), (p,), read_task) for d, p in zip(domains, problems, strict=True)]
    declarations = _merge_all_declarations(parts)
    problem = _merge_problems(parts)
    metrics = _remove_duplicates(s for part in parts for s in part.sections if s[0] == ":metric")
    require(len(metrics) < 2, "several metrics")
    merged_vocabulary = read_task((declarations,), (problem,))
    for part in parts:
        part.require_known_objects(merged_vocabulary)
    actions = [action for kind in ACTION_KINDS for action in _merge_actions(parts, kind, merged_vocabulary)]
    return ((*declarations, *actions, *_merge_axioms(parts)),), ((*problem, *metrics),)


def _merge_all_declarations(parts: "list[_Part]") -> Section:
    """Return a domain with the types, objects, predicates and functions of all parts."""
    objects = _merge_objects(parts)
    types = [item for part in parts for item in complete_typed_list(part.list_contents(":types"))]
    signatures = [(kind, *_merge_declarations(parts, kind)) for kind in (":predicates", ":functions")]
    return ("define", ("domain", "merged"), (":types", *types), (":constants", *objects), *signatures)


def _merge_problems(parts: "list[_Part]") -> Section:
    """Return a problem with the facts, goals and constraints of all parts."""
    init = _remove_duplicates(fact for part in parts for fact in part.init)
    conditions: list[Section] = []
    for kind in (":goal", ":constraints"):
        bodies = _remove_duplicates(body for part in parts for body in part.list_contents(kind))
        conditions += [(kind, ("and", *bodies))] if bodies else []
    return ("define", ("problem", "merged"), (":init", *init), *conditions)


class _Part:
    """The domain and the problem of an agent."""

    def __init__(self, domain: Expressions, problem: Expressions, read_task: TaskReader) -> None:
        plain = to_plain_pddl(domain, problem)
        self.sections: list[Section] = list_sections(plain[0]) + list_sections(plain[1])
        self.vocabulary = read_task(*plain)
        self.private_names = _collect_private_names(list_sections(domain) + list_sections(problem))
        actions = [section for section in list_sections(domain) if section[0] in ACTION_KINDS]
        self.agent_counts = {action[:2]: _count_agent_variables(action) for action in actions}
        self.init = [fact for section in list_sections(problem) if section[0] == ":init" for fact in section[1:]]

    def list_contents(self, kind: str) -> list[Sexp]:
        """Return the contents of all sections of a kind."""
        return [item for section in self.sections if section[0] == kind for item in section[1:]]

    def list_declarations(self, kind: str) -> list[Sexp]:
        """Return the declarations of predicates or functions."""
        return [item for item in self.list_contents(kind) if isinstance(item, tuple)]

    def find_argument_objects(self, name: str, count: int) -> list[set[str]]:
        """Return the objects that each argument of a predicate or function may be, by the types of the variables."""
        arguments = [set[str]() for _ in range(count)]

        def add_arguments(expr: Sexp, scope: Params) -> None:
            if not isinstance(expr, tuple):
                return
            if _is_quantifier(expr):
                scope = scope | self.vocabulary.read_parameters(expr[1])
            if len(expr) == count + 1 and expr[0] == name:
                for values, term in zip(arguments, expr[1:], strict=True):
                    values |= self._find_possible_objects(term, scope)
            for part in expr:
                add_arguments(part, scope)

        for section in self.sections:
            if section[0] in ACTION_KINDS:
                fields = dict(zip(section[2::2], section[3::2], strict=True))
                add_arguments(section, self.vocabulary.read_parameters(fields.get(":parameters", ())))
            elif section[0] == ":derived":
                params = self.vocabulary.read_parameters(section[1][1:])
                add_arguments(((section[1][0], *params), section[2]), params)
            elif section[0] not in (":predicates", ":functions"):
                add_arguments(section, {})
        return arguments

    def _find_possible_objects(self, term: Sexp, scope: Params) -> set[str]:
        """Return the objects that a variable or object may be; none for another expression."""
        if not isinstance(term, str):
            return set()
        return _find_domains(self.vocabulary, {term: scope[term]})[0] if term in scope else {term}

    def require_known_objects(self, merged_vocabulary: Vocabulary) -> None:
        """Raise if a quantifier ranges over objects that the agent does not know."""
        kinds = (*ACTION_KINDS, ":derived", ":goal", ":constraints")
        for section in self.sections:
            if section[0] in kinds:
                head = [section[1][1:]] if section[0] == ":derived" else []
                for variables in (*head, *_iterate_quantified_lists(section)):
                    own_domains, merged_domains = (
                        _find_domains(vocabulary, vocabulary.read_parameters(variables))
                        for vocabulary in (self.vocabulary, merged_vocabulary)
                    )
                    require(own_domains == merged_domains, "a quantifier over unknown objects")

    def find_known_objects(self, action: Section, variables: Params) -> list[set[str]]:
        """Return the objects that each parameter of an action may be: all that the agent knows.

        A parameter in ``:agent`` is a private object of the agent if it has one of the parameter's type.
        """
        possible_objects: list[set[str]] = [{*self.vocabulary.objects}] * len(variables)
        domains = _find_domains(self.vocabulary, variables)
        for place in range(self.agent_counts[action[:2]]):
            possible_objects[place] = domains[place] & self.private_names[":objects"] or possible_objects[place]
        return possible_objects


def _collect_private_names(sections: list[Section]) -> dict[str, set[str]]:
    """Return the names of private predicates, functions and objects (also of constants, under ":objects")."""
    names: dict[str, set[str]] = {":objects": set(), ":predicates": set(), ":functions": set()}
    blocks = [(section[0], block) for section in sections for block in section if block[:1] == (":private",)]
    for kind, (_, *items) in blocks:
        if kind in (":predicates", ":functions"):
            names[kind] |= {item[0] for item in items if isinstance(item, tuple)}
        else:
            names[":objects"] |= {name for name, _ in read_typed_list(tuple(items), OBJECT)}
    return names


def _is_quantifier(expr: Sexp) -> bool:
    return expr[:1] in (("forall",), ("exists",)) and len(expr) > 1


def _find_domains(vocabulary: Vocabulary, variables: Params) -> list[set[str]]:
    """Return the objects that each variable ranges over."""
    return [set(objects) for _, objects in vocabulary.find_domains(variables)]


def _iterate_quantified_lists(expr: Sexp) -> Iterator[Sexp]:
    """Yield the typed lists of quantifiers."""
    if isinstance(expr, tuple):
        if _is_quantifier(expr):
            yield expr[1]
        for part in expr:
            yield from _iterate_quantified_lists(part)


def _count_agent_variables(section: Section) -> int:
    """Return the number of variables in ``:agent``."""
    if ":agent" not in section:
        return 0
    value = section[section.index(":agent") + 1 :]
    names = value[0] if isinstance(value[0], tuple) else value
    count = 0
    for item in names:
        if not isinstance(item, str) or item[0] == ":":
            break
        count += item[0] == "?"
    return count


def _remove_duplicates(items: Iterable[Sexp]) -> list[Sexp]:
    return list(dict.fromkeys(items))


def _merge_objects(parts: list[_Part]) -> list[Sexp]:
    """Return all objects as a typed list."""
    merged: dict[str, set[str]] = {}
    private_objects = set[str]()
    for part in parts:
        for name, types in part.vocabulary.objects.items():
            is_new_private = name in part.private_names[":objects"]
            require(name not in private_objects and not (name in merged and is_new_private), "a private object")
            require(merged.setdefault(name, {*types}) == {*types}, "an object of other types")
        private_objects |= part.private_names[":objects"]
    return [i for name, types in merged.items() for i in (name, "-", ("either", *types))]


def _merge_declarations(parts: list[_Part], kind: str) -> list[Sexp]:
    """Return the predicates or functions. Raises if parts differ, or two agents could have the same private fact."""
    declared: dict[str, list[tuple[_Part, list[set[str]]]]] = {}
    for part in parts:
        for name, *variables in part.list_declarations(kind):
            types = [{*alternatives} for _, alternatives in read_typed_list(tuple(variables), VARIABLE)]
            declared.setdefault(name, []).append((part, types))
    merged = []
    for name, owners in declared.items():
        _, first_types = owners[0]
        privacy_flags = [name in part.private_names[kind] for part, _ in owners]
        require(all(privacy_flags) or not any(privacy_flags), "private in one part alone")
        for _, types in owners:
            require(len(types) == len(first_types) if any(privacy_flags) else types == first_types, "other types")
        arguments = [part.find_argument_objects(name, len(types)) for part, types in owners if any(privacy_flags)]
        for first_arguments, second_arguments in combinations(arguments, 2):
            overlap = all(a & b for a, b in zip(first_arguments, second_arguments, strict=True))
            require(not overlap, "private facts of two agents")
        params = list[Sexp]()
        for position, alternatives in enumerate(zip(*(types for _, types in owners), strict=True)):
            params += (f"?{position}", "-", ("either", *sorted(set[str]().union(*alternatives))))
        merged.append((name, *params))
    return merged


def _merge_axioms(parts: list[_Part]) -> list[Section]:
    """Return the definitions of derived predicates, which all parts that have them must define equally."""
    merged: dict[str, list[Section]] = {}
    for part in parts:
        definitions: dict[str, list[Section]] = {}
        for section in part.sections:
            if section[0] == ":derived":
                definitions.setdefault(section[1][0], []).append(section)
        for name, sections in definitions.items():
            require(merged.setdefault(name, sections) == sections, "another definition")
    return [section for sections in merged.values() for section in sections]


def _merge_actions(parts: list[_Part], kind: str, merged_vocabulary: Vocabulary) -> Iterator[Section]:
    """Yield the actions (processes, events), each with the condition that some agent knows all its objects."""
    owners: dict[str, list[tuple[_Part, Section]]] = {}
    for part in parts:
        for section in part.sections:
            if section[0] == kind:
                owners.setdefault(section[1], []).append((part, section))
    for name, owned in owners.items():
        _, section = owned[0]
        require(all(copy == section for _, copy in owned), "another action of this name")
        fields = dict(zip(section[2::2], section[3::2], strict=True))
        variables = merged_vocabulary.read_parameters(fields.get(":parameters", ()))
        alternatives = list[Sexp]()
        for part, _ in owned:
            possible_objects = zip(variables, part.find_known_objects(section, variables), strict=True)
            choices = [("or", *(("=", v, o) for o in sorted(objects))) for v, objects in possible_objects]
            alternatives.append(("and", *choices))
        condition: Sexp = ("or", *alternatives)
        key = ":condition" if kind == ":durative-action" else ":precondition"
        if kind == ":durative-action":
            condition = ("at", "start", condition)
        fields[key] = ("and", condition, fields[key]) if key in fields else condition
        yield kind, name, *(part for field in fields.items() for part in field)
