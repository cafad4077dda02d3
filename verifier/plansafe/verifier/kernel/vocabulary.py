"""Types, objects, predicates and functions, and which atoms are well typed (docs/language.md, section 2, *Types*)."""

from collections.abc import Collection, Iterable, Mapping
from re import Pattern

from .formulas import COMPARISONS, Domains, Fact, Objects
from .reader import NAME, OBJECT, VARIABLE, KernelRejects, Sexp, need, typed_list

Params = dict[str, tuple[str, ...]]
"""Variables (or objects) with the alternatives of their type."""

RESERVED = {"and", "or", "not", "imply", "forall", "exists", "when", "preference", "increase", "decrease", "assign"}
RESERVED |= {"scale-up", "scale-down", "always", "sometime", "within", "at-most-once", "sometime-after"}
RESERVED |= {"sometime-before", "always-within", "hold-during", "hold-after", *COMPARISONS}


class Vocabulary:
    """What formulas may name."""

    def __init__(self, types: Sexp, constants: Sexp, objects: Sexp, lenient: bool) -> None:
        self.lenient = lenient
        self.parents: dict[str, set[str]] = {"object": set()}
        for name, above in typed_list(types, NAME):
            itself = (name, above) == ("object", ("object",))
            self.parents.setdefault(name, set()).update(() if itself else above)
        self.supers = self._all_supers() | {"": {""}}  # "": the type of ?duration
        fixed = self._objects(constants)
        more = self._objects(objects)
        again = all(fixed.get(o, types) == types for o, types in more.items())
        need(again, "a constant again, of another type")
        self.objects = fixed | more
        self.predicates: dict[str, Params] = {}
        self.functions: dict[str, Params] = {}
        self._extensions: dict[tuple[tuple[str, ...], ...], Objects] = {}
        self.given: set[str] = set()
        self._own = self._all_own()

    def _all_own(self) -> list[set[str]]:
        """The types of each object, and all those above."""
        return [{above for t in types for above in self.supers[t]} for types in self.objects.values()]

    def give(self, kinds: Mapping[str, Collection[str]]) -> None:
        """Add types, which some objects also have. Whatever is of such a type may also be of any other."""
        for kind, objects in kinds.items():
            self.parents[kind], self.supers[kind] = set(), {kind, "object"}
            self.given.add(kind)
            for o in objects:
                self.objects[o] += (kind,)
        self._own = self._all_own()

    def _all_supers(self) -> dict[str, set[str]]:
        result: dict[str, set[str]] = {}
        for t in self.parents:
            self._above(t, result)
        return result

    def _above(self, start: str, known: dict[str, set[str]]) -> None:
        """Enter the type and all those above it, depth first; a type that is met below itself is a cycle."""
        path = set[str]()
        waiting = [start]
        while waiting:
            t = waiting[-1]
            if t in known:
                waiting.pop()
                continue
            need(t in self.parents or self.lenient, "an undeclared type")
            above = self.parents.get(t, set())
            if t in path:
                known[t] = {t, "object"}.union(*[known[parent] for parent in above])
                waiting.pop()
                path.remove(t)
                continue
            path.add(t)
            need(not any(parent in path for parent in above), "cyclic types")
            waiting += [parent for parent in above if parent not in known]

    def declared(self, items: Sexp, pattern: Pattern[str] = VARIABLE) -> Params:
        """A typed list whose names differ and whose types are known."""
        names = typed_list(items, pattern)
        need(len(dict(names)) == len(names), "a name declared twice")
        for _, types in names:
            for t in types:
                self._above(t, self.supers)
        return dict(names)

    def _objects(self, items: Sexp) -> Params:
        """A typed list of objects. One that comes again, as another kind of the same thing, is of both types."""
        result: Params = {}
        for name, types in typed_list(items, OBJECT):
            for t in types:
                self._above(t, self.supers)
            before = result.get(name, ())
            related = all((self.supers[x] & self.supers[y]) - {"object"} for x in before for y in types)
            need(not before or (related and {*before} != {*types}), "an object declared twice")
            result[name] = tuple(dict.fromkeys((*before, *types)))
        return result

    def signatures(self, heads: Iterable[Sexp], reserved: set[str]) -> dict[str, Params]:
        """Declarations ``(name ?x - type ..)``."""
        table = dict[str, Params]()
        for head in heads:
            need(isinstance(head, tuple) and head and isinstance(head[0], str), "not a declaration")
            name = head[0]
            need(NAME.fullmatch(name) and name not in reserved and name not in table, "a name reserved or repeated")
            table[name] = self.declared(head[1:])
        return table

    def domains(self, params: Params, more: Iterable[tuple[str, tuple[str, ...]]] = ()) -> Domains:
        """Each variable with the objects that fit all its types, in the order of declaration."""
        wanted = dict[str, list[tuple[str, ...]]]()
        for v, types in (*params.items(), *more):
            wanted.setdefault(v, []).append(types)
        return tuple([(v, self._extension(tuple(kinds))) for v, kinds in wanted.items()])

    def _extension(self, kinds: tuple[tuple[str, ...], ...]) -> Objects:
        if kinds not in self._extensions:
            found = {o: None for o in self.objects if all(self._is(o, types) for types in kinds)}
            self._extensions[kinds] = found
        return self._extensions[kinds]

    def _is(self, o: str, types: tuple[str, ...]) -> bool:
        """One type of the object has to be below one of the alternatives."""
        return any(t in self.supers[own] for own in self.objects[o] for t in types)

    def _fits(self, term: str, types: tuple[str, ...], env: Params) -> bool:
        """Of an object, as ``_is``; each alternative of a variable has to be below or above one of the types."""
        if term not in env:
            return self._is(term, types)
        return all(x in self.given or any(t in self.supers[x] or x in self.supers[t] for t in types) for x in env[term])

    def _may_match(self, term: str, types: tuple[str, ...], env: Params) -> bool:
        """Of a variable in a STEP: some type or object is of both its type and the action's."""
        if not env.get(term):
            return self._fits(term, types, env)
        if self.given & {*env[term]}:
            return True
        return any(above & {*types} and above & {*env[term]} for above in (*self.supers.values(), *self._own))

    def terms(self, e: Sexp, table: Mapping[str, Params], env: Params) -> Fact:
        """``(name term ..)``, its name, arity and types checked."""
        pairs = self._arguments(e, table)
        self._known([x for x, _ in pairs], env)
        need(self.lenient or all(self._fits(x, types, env) for x, types in pairs), "an argument of a wrong type")
        return tuple(e)

    def step(self, e: Sexp, table: Mapping[str, Params], env: Params) -> Fact:
        """``(action term ..)`` in a rule, where ``_`` fits anything, and a variable what may match."""
        pairs = [(x, types) for x, types in self._arguments(e, table) if x != "_"]
        self._known([x for x, _ in pairs], env)
        need(self.lenient or all(self._may_match(x, types, env) for x, types in pairs), "an argument of a wrong type")
        return tuple(e)

    def well_formed(self, e: Sexp, table: Mapping[str, Params]) -> bool:
        """Whether a step of a plan names an action with fitting objects."""
        try:
            self.terms(e, table, {})
        except KernelRejects:
            return False
        return True

    def _arguments(self, e: Sexp, table: Mapping[str, Params]) -> list[tuple[str, tuple[str, ...]]]:
        need(isinstance(e, tuple) and e and all(isinstance(x, str) for x in e) and e[0] in table, "an unknown name")
        need(len(e) == 1 + len(table[e[0]]), "a wrong number of arguments")
        return list(zip(e[1:], table[e[0]].values(), strict=True))

    def _known(self, terms: list[str], env: Params) -> None:
        need(all(x in env or x in self.objects for x in terms), "an unknown variable or object")

    def instances(self, e: Sexp, env: Params, more: list[tuple[str, tuple[str, ...]]]) -> tuple[Domains, Fact]:
        """An atom with its free variables, which take the objects of the predicate's types (and of ``more``)."""
        need(isinstance(e, tuple) and all(isinstance(x, str) for x in e), "not an atom")
        free: Params = {x: () for x in e[1:] if x[:1] == "?" and x not in env}
        atom = self.terms(e, self.predicates, env | free)
        own = zip(atom[1:], self.predicates[atom[0]].values(), strict=True)
        return self.domains({}, [*more, *((x, types) for x, types in own if x in free)]), atom
