"""Types, objects, predicates and functions, and which atoms are well typed (docs/language.md, section 2, *Types*)."""

from collections.abc import Collection, Iterable, Mapping

from .formulas import COMPARISONS, Domains, Fact, Objects
from .reader import NAME, OBJECT, VARIABLE, KernelRejects, Sexp, read_typed_list, require

TypeAlternatives = tuple[str, ...]
"""The alternatives of a declared type."""
Params = dict[str, TypeAlternatives]
"""Variables (or objects) with their types."""

RESERVED = {"and", "or", "not", "imply", "forall", "exists", "when", "preference", "increase", "decrease", "assign"}
RESERVED |= {"scale-up", "scale-down", "always", "sometime", "within", "at-most-once", "sometime-after"}
RESERVED |= {"sometime-before", "always-within", "hold-during", "hold-after", *COMPARISONS}


class Vocabulary:
    """The names that formulas can use."""

    def __init__(self, types: Sexp, constants: Sexp, objects: Sexp, lenient: bool) -> None:
        self.lenient = lenient
        self.parents: dict[str, set[str]] = {"object": set()}
        for name, parents in read_typed_list(types, NAME):
            is_root = (name, parents) == ("object", ("object",))
            self.parents.setdefault(name, set()).update(() if is_root else parents)
        self.supertypes: dict[str, set[str]] = {"": {""}}  # "": the type of ?duration
        for name in self.parents:
            self._add_supertypes(name)
        constant_types = self._read_objects(constants)
        object_types = self._read_objects(objects)
        are_consistent = all(constant_types.get(object_, types) == types for object_, types in object_types.items())
        require(are_consistent, "a constant again, of another type")
        self.objects = constant_types | object_types
        self.predicates: dict[str, Params] = {}
        self.functions: dict[str, Params] = {}
        self._extensions: dict[tuple[TypeAlternatives, ...], Objects] = {}
        self.kinds: set[str] = set()
        self._object_supertypes = self._find_object_supertypes()

    def _find_object_supertypes(self) -> dict[str, set[str]]:
        """Return the types of each object with their supertypes."""
        return {o: {name for t in types for name in self.supertypes[t]} for o, types in self.objects.items()}

    def add_kinds(self, kinds: Mapping[str, Collection[str]]) -> None:
        """Add types that some objects also have. An object of such a type may also have any other type."""
        for kind, objects in kinds.items():
            self.parents[kind], self.supertypes[kind] = set(), {kind, "object"}
            self.kinds.add(kind)
            for object_ in objects:
                self.objects[object_] += (kind,)
        self._object_supertypes = self._find_object_supertypes()

    def _add_supertypes(self, start: str) -> None:
        """Add the type and its supertypes to ``supertypes``, depth first. Raises ``KernelRejects`` for a cycle."""
        path = set[str]()
        stack = [start]
        while stack:
            type_name = stack[-1]
            if type_name in self.supertypes:
                stack.pop()
                continue
            require(type_name in self.parents or self.lenient, "an undeclared type")
            parents = self.parents.get(type_name, set())
            if type_name in path:
                self.supertypes[type_name] = {type_name, "object"}.union(
                    *[self.supertypes[parent] for parent in parents]
                )
                stack.pop()
                path.remove(type_name)
                continue
            path.add(type_name)
            require(not any(parent in path for parent in parents), "cyclic types")
            stack += [parent for parent in parents if parent not in self.supertypes]

    def read_parameters(self, items: Sexp) -> Params:
        """Read a typed list of distinct variables of declared types."""
        typed = read_typed_list(items, VARIABLE)
        require(len(dict(typed)) == len(typed), "a name declared twice")
        for _, types in typed:
            for type_name in types:
                self._add_supertypes(type_name)
        return dict(typed)

    def _read_objects(self, items: Sexp) -> Params:
        """Read a typed list of objects. An object declared again with a related type has both types."""
        objects: Params = {}
        for name, types in read_typed_list(items, OBJECT):
            for type_name in types:
                self._add_supertypes(type_name)
            before = objects.get(name, ())
            is_related = all(
                (self.supertypes[first] & self.supertypes[second]) - {"object"} for first in before for second in types
            )
            require(not before or (is_related and {*before} != {*types}), "an object declared twice")
            objects[name] = tuple(dict.fromkeys((*before, *types)))
        return objects

    def read_signatures(self, heads: Iterable[Sexp], reserved: set[str]) -> dict[str, Params]:
        """Read declarations ``(name ?x - type ..)``."""
        signatures = dict[str, Params]()
        for head in heads:
            require(isinstance(head, tuple) and head and isinstance(head[0], str), "not a declaration")
            name = head[0]
            is_new_name = NAME.fullmatch(name) and name not in reserved and name not in signatures
            require(is_new_name, "a name reserved or repeated")
            signatures[name] = self.read_parameters(head[1:])
        return signatures

    def find_domains(self, params: Params, additional: Iterable[tuple[str, TypeAlternatives]] = ()) -> Domains:
        """Return each variable with the objects that fit all its types, in the order of declaration."""
        types_by_variable = dict[str, list[TypeAlternatives]]()
        for v, types in (*params.items(), *additional):
            types_by_variable.setdefault(v, []).append(types)
        return tuple([(v, self._find_extension(tuple(all_types))) for v, all_types in types_by_variable.items()])

    def _find_extension(self, all_types: tuple[TypeAlternatives, ...]) -> Objects:
        """Return the objects that have all of the types."""
        if all_types not in self._extensions:
            extension = {o: None for o in self.objects if all(self._has_type(o, types) for types in all_types)}
            self._extensions[all_types] = extension
        return self._extensions[all_types]

    def _has_type(self, object_: str, types: TypeAlternatives) -> bool:
        """Whether a type of the object is a subtype of one of the alternatives."""
        return not self._object_supertypes[object_].isdisjoint(types)

    def _fits(self, term: str, types: TypeAlternatives, scope: Params) -> bool:
        """Whether an object has the type; for a variable, whether each of its types is a sub- or supertype of one."""
        if term not in scope:
            return self._has_type(term, types)
        supertypes = self.supertypes
        return all(
            kind in self.kinds
            or any(type_name in supertypes[kind] or kind in supertypes[type_name] for type_name in types)
            for kind in scope[term]
        )

    def _may_match(self, term: str, types: TypeAlternatives, scope: Params) -> bool:
        """Whether some type or object has both the type of a variable in a STEP and the action's."""
        if not scope.get(term):
            return self._fits(term, types, scope)
        expected, declared = {*types}, {*scope[term]}
        if self.kinds & declared:
            return True
        supertype_sets = (*self.supertypes.values(), *self._object_supertypes.values())
        return any(names & expected and names & declared for names in supertype_sets)

    def read_atom(self, expr: Sexp, table: Mapping[str, Params], scope: Params) -> Fact:
        """Read ``(name term ..)``, and check its name, arity and types."""
        arguments = self._pair_arguments(expr, table)
        self._require_declared([term for term, _ in arguments], scope)
        is_well_typed = self.lenient or all(self._fits(term, types, scope) for term, types in arguments)
        require(is_well_typed, "an argument of a wrong type")
        return tuple(expr)

    def read_step(self, expr: Sexp, table: Mapping[str, Params], scope: Params) -> Fact:
        """Read ``(action term ..)`` of a rule; ``_`` fits any object, a variable any object that may match."""
        arguments = [(term, types) for term, types in self._pair_arguments(expr, table) if term != "_"]
        self._require_declared([term for term, _ in arguments], scope)
        is_well_typed = self.lenient or all(self._may_match(term, types, scope) for term, types in arguments)
        require(is_well_typed, "an argument of a wrong type")
        return tuple(expr)

    def is_well_formed(self, expr: Sexp, table: Mapping[str, Params]) -> bool:
        """Whether a step of a plan names an action with fitting objects."""
        try:
            self.read_atom(expr, table, {})
        except KernelRejects:
            return False
        return True

    def _pair_arguments(self, expr: Sexp, table: Mapping[str, Params]) -> list[tuple[str, TypeAlternatives]]:
        """Return the terms of an atom or step, each with the type in its declaration."""
        is_token_list = isinstance(expr, tuple) and expr and all(isinstance(token, str) for token in expr)
        require(is_token_list and expr[0] in table, "an unknown name")
        require(len(expr) == 1 + len(table[expr[0]]), "a wrong number of arguments")
        return list(zip(expr[1:], table[expr[0]].values(), strict=True))

    def _require_declared(self, terms: list[str], scope: Params) -> None:
        require(all(term in scope or term in self.objects for term in terms), "an unknown variable or object")

    def read_open_atom(
        self, expr: Sexp, scope: Params, additional: list[tuple[str, TypeAlternatives]]
    ) -> tuple[Domains, Fact]:
        """Read an atom whose free variables range over the objects of the predicate's and the ``additional`` types."""
        require(isinstance(expr, tuple) and all(isinstance(token, str) for token in expr), "not an atom")
        free: Params = {name: () for name in expr[1:] if name[:1] == "?" and name not in scope}
        atom = self.read_atom(expr, self.predicates, scope | free)
        declared = zip(atom[1:], self.predicates[atom[0]].values(), strict=True)
        return self.find_domains({}, [*additional, *((name, types) for name, types in declared if name in free)]), atom
