"""Merge the parts of a factored task into one domain and one problem (docs/language.md, section 2, Dialects)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from .dialects import Section, Text, list_sections, to_plain_pddl
from .reader import OBJECT, VARIABLE, Sexp, read_typed_list, require
from .vocabulary import Params, Vocabulary

ReadTask = Callable[[Text, Text], Vocabulary]
"""Checks a plain domain and problem, and returns their names."""
STRUCTURES = (":action", ":durative-action", ":process", ":event")
"""What an agent can only do with objects that it knows."""


def is_factored(domain: Text) -> bool:
    """Whether a text has several domains, and each requires ``:factored-privacy``."""
    return len(domain) > 1 and all(_requires_privacy((form,)) for form in domain)


def _requires_privacy(domain: Text) -> bool:
    return any(s[0] == ":requirements" and ":factored-privacy" in s for s in list_sections(domain))


def merge_parts(domains: Text, problems: Text, read_task: ReadTask) -> tuple[Text, Text]:
    """Return the merged domain and problem; ``read_task`` checks a part. Raises ``KernelRejects``."""
    require(len(domains) == len(problems), "not a problem for each domain")
    parts = [_Part((d,), (p,), read_task) for d, p in zip(domains, problems, strict=True)]
    objects = _merge_objects(parts)
    types = [item for part in parts for item in _end_list(part.items(":types"))]
    domain: list[Sexp] = ["define", ("domain", "merged")]
    domain += [(":types", *types), (":constants", *objects)]
    for kind in (":predicates", ":functions"):
        domain.append((kind, *_merge_declarations(parts, kind)))
    problem: list[Sexp] = ["define", ("problem", "merged")]
    problem.append((":init", *_distinct(fact for part in parts for fact in part.init)))
    for kind in (":goal", ":constraints"):
        bodies = _distinct(body for part in parts for body in part.items(kind))
        problem += [(kind, ("and", *bodies))] if bodies else []
    metrics = _distinct(s for part in parts for s in part.sections if s[0] == ":metric")
    require(len(metrics) < 2, "several metrics")
    everything = read_task(((*domain,),), ((*problem,),))
    for part in parts:
        part.require_known(everything)
    domain += [s for kind in STRUCTURES for s in _merge_structures(parts, kind, everything)]
    return ((*domain, *_merge_axioms(parts)),), ((*problem, *metrics),)


class _Part:
    """The domain and the problem of an agent."""

    def __init__(self, domain: Text, problem: Text, read_task: ReadTask) -> None:
        plain = to_plain_pddl(domain, problem)
        self.sections: list[Section] = list_sections(plain[0]) + list_sections(plain[1])
        self.names = read_task(*plain)
        self.private: dict[str, set[str]] = {":objects": set(), ":predicates": set(), ":functions": set()}
        for section in list_sections(domain) + list_sections(problem):
            for block in section:
                if isinstance(block, tuple) and block[:1] == (":private",):
                    if section[0] in (":predicates", ":functions"):
                        self.private[section[0]] |= {item[0] for item in block[1:] if isinstance(item, tuple)}
                    else:
                        self.private[":objects"] |= {name for name, _ in read_typed_list(block[1:], OBJECT)}
        self.agents = {s[:2]: _count_agents(s) for s in list_sections(domain) if s[0] in STRUCTURES}
        self.init = [fact for section in list_sections(problem) if section[0] == ":init" for fact in section[1:]]

    def items(self, kind: str) -> list[Sexp]:
        """Return the contents of all sections of a kind."""
        return [item for section in self.sections if section[0] == kind for item in section[1:]]

    def heads(self, kind: str) -> list[Sexp]:
        """Return the declarations of predicates or functions."""
        return [item for item in self.items(kind) if isinstance(item, tuple)]

    def list_arguments(self, name: str, count: int) -> list[set[str]]:
        """Return the objects that each argument of a predicate or function may be, by the types of the variables."""
        arguments = [set[str]() for _ in range(count)]

        def visit(expr: Sexp, scope: Params) -> None:
            if not isinstance(expr, tuple):
                return
            if expr[:1] in (("forall",), ("exists",)) and len(expr) > 1:
                scope = scope | self.names.read_parameters(expr[1])
            if len(expr) == count + 1 and expr[0] == name:
                for values, term in zip(arguments, expr[1:], strict=True):
                    if isinstance(term, str):
                        values |= {*self.names.find_domains({term: scope[term]})[0][1]} if term in scope else {term}
            for part in expr:
                visit(part, scope)

        for section in self.sections:
            if section[0] in STRUCTURES:
                fields = dict(zip(section[2::2], section[3::2], strict=True))
                visit(section, self.names.read_parameters(fields.get(":parameters", ())))
            elif section[0] == ":derived":
                params = self.names.read_parameters(section[1][1:])
                visit(((section[1][0], *params), section[2]), params)
            elif section[0] not in (":predicates", ":functions"):
                visit(section, {})
        return arguments

    def require_known(self, everything: Vocabulary) -> None:
        """Raise if a quantifier ranges over objects that the agent does not know."""
        kinds = (*STRUCTURES, ":derived", ":goal", ":constraints")
        for section in self.sections:
            if section[0] in kinds:
                head = [section[1][1:]] if section[0] == ":derived" else []
                for variables in (*head, *_quantified(section)):
                    ours, merged = (_domains(names, variables) for names in (self.names, everything))
                    require(ours == merged, "a quantifier over unknown objects")


def _domains(names: Vocabulary, variables: Sexp) -> list[set[str]]:
    """Return the objects that each variable of a typed list ranges over."""
    return [set(objects) for _, objects in names.find_domains(names.read_parameters(variables))]


def _quantified(expr: Sexp) -> Iterator[Sexp]:
    """Yield the typed lists of quantifiers."""
    if isinstance(expr, tuple):
        if expr[:1] in (("forall",), ("exists",)) and len(expr) > 1:
            yield expr[1]
        for part in expr:
            yield from _quantified(part)


def _count_agents(section: Section) -> int:
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


def _end_list(items: list[Sexp]) -> list[Sexp]:
    """Give untyped names at the end of a typed list the type ``object``."""
    return [*items, "-", "object"] if items and "-" not in items[-2:] else items


def _distinct(items: Iterable[Sexp]) -> list[Sexp]:
    return list(dict.fromkeys(items))


def _merge_objects(parts: list[_Part]) -> list[Sexp]:
    """Return all objects as a typed list."""
    merged: dict[str, set[str]] = {}
    private = set[str]()
    for part in parts:
        for name, types in part.names.objects.items():
            require(
                name not in private and not (name in merged and name in part.private[":objects"]), "a private object"
            )
            require(merged.setdefault(name, {*types}) == {*types}, "an object of other types")
        private |= part.private[":objects"]
    return [i for name, types in merged.items() for i in (name, "-", ("either", *types))]


def _merge_declarations(parts: list[_Part], kind: str) -> list[Sexp]:
    """Return the predicates or functions. Raises if parts differ, or two agents could have the same private fact."""
    declared: dict[str, list[tuple[_Part, list[set[str]]]]] = {}
    for part in parts:
        for name, *params in part.heads(kind):
            types = [{*alternatives} for _, alternatives in read_typed_list(tuple(params), VARIABLE)]
            declared.setdefault(name, []).append((part, types))
    merged = []
    for name, owners in declared.items():
        first = owners[0][1]
        private = [name in part.private[kind] for part, _ in owners]
        require(all(private) or not any(private), "private in one part alone")
        require(all(len(types) == len(first) if any(private) else types == first for _, types in owners), "other types")
        arguments = [part.list_arguments(name, len(types)) for part, types in owners if any(private)]
        for ours, theirs in combinations(arguments, 2):
            require(not all(a & b for a, b in zip(ours, theirs, strict=True)), "private facts of two agents")
        unions = [set[str]().union(*alternatives) for alternatives in zip(*(types for _, types in owners), strict=True)]
        params = [item for i, types in enumerate(unions) for item in (f"?{i}", "-", ("either", *sorted(types)))]
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


def _merge_structures(parts: list[_Part], kind: str, everything: Vocabulary) -> Iterator[Section]:
    """Yield the actions (processes, events), each with the condition that some agent knows all its objects."""
    owners: dict[str, list[tuple[_Part, Section]]] = {}
    for part in parts:
        for section in part.sections:
            if section[0] == kind:
                owners.setdefault(section[1], []).append((part, section))
    for name, owned in owners.items():
        section = owned[0][1]
        require(all(copy == section for _, copy in owned), "another action of this name")
        fields = dict(zip(section[2::2], section[3::2], strict=True))
        variables = everything.read_parameters(fields.get(":parameters", ()))
        choices = []
        for part, _ in owned:
            values = [{*part.names.objects}] * len(variables)
            domains = [part.names.find_domains({v: types})[0][1] for v, types in variables.items()]
            for place in range(part.agents[kind, name]):
                values[place] = {*domains[place]} & part.private[":objects"] or values[place]
            tests = zip(variables, values, strict=True)
            choices.append(("and", *(("or", *(("=", v, o) for o in sorted(objects))) for v, objects in tests)))
        condition: Sexp = ("or", *choices)
        key = ":condition" if kind == ":durative-action" else ":precondition"
        if kind == ":durative-action":
            condition = ("at", "start", condition)
        fields[key] = ("and", condition, fields[key]) if key in fields else condition
        yield kind, name, *(part for field in fields.items() for part in field)
