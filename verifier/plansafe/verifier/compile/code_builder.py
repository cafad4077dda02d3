"""Collects generated functions, names and indexes, without the code of conditions.

Generated text has only numbers: indices of predicates, objects, domains and slots. It never has a name or another text
of the input (a test reads the generated text). Facts are sets of codes ``S[predicate]``, fluents are maps
``F[function]``, ``I[k]`` are indexes that the caller maintains.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any, assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    divide,
)
from plansafe.verifier.model.operations import children, free_slots

_MAX_CACHED_TEXTS = 8192
"""Maximum number of texts whose code is cached; a domain with a large library has about two thousand."""

_FUNCTION_NAME = re.compile(r"\bf\d+\b")
IndexKey = tuple[int, tuple[int, ...]]
"""A predicate, and the positions of the arguments by which its facts are indexed."""


class ViewTrigger(NamedTuple):
    """A fact or view that a view reads, by its index in a log of changes, and the names of two functions.

    ``find(S, F, I, code, out)`` adds the codes of the view that a change may affect to ``out``. It evaluates positive
    atoms alone, so facts that were deleted in the same step must be present meanwhile. ``matches(code)`` is ``None``
    for codes for which ``find`` adds nothing in any state.
    """

    change_index: int
    find_name: str
    match_name: str


class QuantifierView(NamedTuple):
    """A quantifier whose matches are stored by monitors, by the values of its free variables.

    A match is a binding under which the body of ``exists`` is true, or the body of ``forall`` false. The function
    ``has_match(S, F, I, code)`` looks for one, and stores the answer in ``I[table]`` by the code of the values of
    ``slots``; ``search_name`` is its name. ``change_index``: its number in a log of changes, after the functions.
    ``read_predicates`` are the predicates of its atoms.
    """

    change_index: int
    table: int
    slots: tuple[int, ...]
    search_name: str
    read_predicates: frozenset[int]
    triggers: tuple[ViewTrigger, ...]


@lru_cache(maxsize=_MAX_CACHED_TEXTS)
def _compile_text(source: str) -> tuple[CodeType, frozenset[str]]:
    """Return the code of a text, and the global names that it and its functions read."""
    code = compile(source, "<generated>", "exec")
    global_names: set[str] = set()
    stack = [code]
    while stack:
        block = stack.pop()
        global_names.update(block.co_names)
        stack += [constant for constant in block.co_consts if isinstance(constant, CodeType)]
    return code, frozenset(global_names)


def _write_definition(name: str, parameters: str, body: list[str]) -> str:
    return f"def {name}({parameters}):\n" + "\n".join([" " + line for line in body])


class CodeBuilder(ABC):
    """Collects generated functions for one task, and compiles them on demand.

    :class:`plansafe.verifier.compile.emitter.Emitter` adds the code of conditions, because quantifiers need joins.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.object_count = max(len(task.objects), 1)
        self.namespace: dict[str, Any] = {"divide": divide, "E": ()}
        """The globals of the generated code.

        ``f<n>`` are functions, ``K<n>`` constants, ``D<n>`` the tuples and ``T<n>`` the sets of a domain's objects, and
        ``E`` the empty tuple.
        """
        self.indexes: dict[IndexKey, int] = {}
        """The number ``k`` of each index ``I[k]``, which maps the code of the key arguments to a set of full codes."""
        self.requested_indexes: set[IndexKey] = set()
        """The indexes that joins use since the caller set this to an empty set; the caller maintains these."""
        self.is_for_monitors = False
        """Whether conditions are compiled for monitors: they may read indexes ``I`` and the tables of views in them."""
        self.views: list[QuantifierView] = []
        """The views, each after those that it reads."""
        self.sources: list[str] = []
        """The texts that were compiled."""
        self._index_keys: list[IndexKey | None] = []
        """By number, the key of an index; ``None`` for the table of a view."""
        self._queued_definitions: dict[str, Callable[[], str]] = {}
        """By name, what makes the texts of the functions that are not compiled."""
        self._free_slots_by_identity: dict[int, tuple[Formula, frozenset[int]]] = {}
        self._pushed_quantifiers: dict[int, tuple[Quantified, Formula]] = {}
        """By identity, each quantifier and the formula with it moved as far inside as possible."""
        self._function_count = 0
        self._name_by_text: dict[tuple[str, ...], str] = {}

    @abstractmethod
    def format_condition(self, formula: Formula, depth: int = 0) -> str:
        """Return a condition as a Python expression over ``S``, ``F`` and ``x<slot>``."""

    @abstractmethod
    def define_guarded_condition(self, formula: Formula) -> str:
        """Define a function that evaluates a formula in three values if a number is undefined; return its name."""

    def free_slots(self, formula: Formula) -> frozenset[int]:
        """Return the free slots of a formula, cached for each subformula: its code needs them at every level."""
        cached = self._free_slots_by_identity.get(id(formula))
        if cached is not None:
            return cached[1]
        match formula:
            case Not() | And() | Or():
                slots = frozenset[int]().union(*[self.free_slots(part) for part in children(formula)])
            case Quantified():
                slots = self.free_slots(formula.body) - {v.slot for v in formula.variables}
            case Truth() | Atom() | Equal() | Compare() | Temporal():
                slots = free_slots(formula)
            case _:
                assert_never(formula)
        self._free_slots_by_identity[id(formula)] = (formula, slots)
        return slots

    # -- functions ----------------------------------------------------------------------------------------------------

    def make_fresh_name(self) -> str:
        """Return a new function name."""
        self._function_count += 1
        return f"f{self._function_count}"

    def define(self, name: str, parameters: str, body: list[str]) -> None:
        """Queue a function definition."""
        self._queued_definitions[name] = lambda: _write_definition(name, parameters, body)

    def define_later(self, name: str, parameters: str, make_body: Callable[[], list[str]]) -> None:
        """Queue a function definition whose body is made when the function is compiled."""
        is_for_monitors, requested_indexes = self.is_for_monitors, self.requested_indexes

        def make_text() -> str:
            with self.request_indexes_in(requested_indexes), self.set_for_monitors(is_for_monitors):
                return _write_definition(name, parameters, make_body())

        self._queued_definitions[name] = make_text

    def define_once(self, parameters: str, body: list[str]) -> str:
        """Return the name of a function with this text; equal texts share a function."""
        text = (parameters, *body)
        name = self._name_by_text.get(text)
        if name is None:
            name = self._name_by_text[text] = self.make_fresh_name()
            self.define(name, parameters, body)
        return name

    def define_matcher(self, match_lines: list[str]) -> str:
        """Define ``f(code)``, which returns ``True`` if a code matches arguments, else ``None``; return its name.

        ``match_lines`` are of :func:`~plansafe.verifier.compile.joins.emit_argument_match`.
        """
        return self.define_once("code", [*match_lines, "return True"])

    def compile_function(self, name: str) -> Callable[..., Any]:
        """Return a function; if it is not compiled, compile it with the functions that it calls."""
        function: Callable[..., Any] | None = self.namespace.get(name)
        return self._compile_definitions(name) if function is None else function

    def _compile_definitions(self, name: str) -> Callable[..., Any]:
        texts, names = list[str](), [name]
        while names:
            make_text = self._queued_definitions.pop(names.pop(), None)
            if make_text is not None:
                texts.append(make_text())
                names += _FUNCTION_NAME.findall(texts[-1])
        source = "\n".join(texts)
        self.sources.append(source)
        self._execute(source)
        function: Callable[..., Any] = self.namespace[name]
        return function

    def compile_lines(self, parameters: str, body: list[str]) -> Callable[..., Any]:
        """Define and compile a new function."""
        name = self.make_fresh_name()
        self.define(name, parameters, body)
        return self.compile_function(name)

    def _execute(self, source: str) -> None:
        """Define the functions of a text, by code that the tasks of a domain share.

        The numbers of functions, indexes and constants and the number of objects differ between tasks without a
        difference in meaning. They are replaced by names, so that Python compiles a domain and its rules once for many
        problems. Each text has a namespace of its own for these names.
        """
        values: dict[str, Any] = {}
        shared_names: dict[str, str] = {}

        def share(match: re.Match[str]) -> str:
            """Replace a number or name by a name that all texts of the domain share."""
            name = match[0]
            if name in shared_names:
                return shared_names[name]
            if name[0] == "I":
                index_name = f"i{len(shared_names)}"
                values[index_name] = int(name[2:-1])
                shared = f"I[{index_name}]"
            elif name[0] in "fK":
                shared = f"{name[0]}_{len(shared_names)}"
                if name in self.namespace:
                    values[shared] = self.namespace[name]
            else:
                shared = "N"
                values[shared] = self.object_count
            shared_names[name] = shared
            return shared

        code, global_names = _compile_text(
            re.sub(rf"\b(?:[fK]\d+\b|I\[\d+\]|{self.object_count}\b(?!\.))", share, source)
        )
        values.update({n: self.namespace[n] for n in global_names if n not in values and n in self.namespace})
        exec(code, values)
        self.namespace.update({n: values[new] for n, new in shared_names.items() if n[0] == "f" and new in values})

    # -- names --------------------------------------------------------------------------------------------------------

    def name_domain_objects(self, number: int) -> str:
        """Return the name of the tuple of a domain's objects."""
        name = f"D{number}"
        self.namespace.setdefault(name, self.task.domains[number])
        return name

    def name_domain_set(self, number: int) -> str:
        """Return the name of the set of a domain's objects."""
        name = f"T{number}"
        self.namespace.setdefault(name, self.task.domain_sets[number])
        return name

    def contains_all_objects(self, domain: int) -> bool:
        """Whether a domain has all objects, so that membership needs no test.

        The declared types of a predicate do not imply membership: facts may have other types, since an effect on a
        variable of a wider type is legal.
        """
        return len(self.task.domains[domain]) == len(self.task.objects)

    def format_constant(self, value: Number) -> str:
        """Return the code for a number: small integers in place, other numbers by name."""
        if isinstance(value, int) and abs(value) < 2**63:
            return str(value) if value >= 0 else f"({value})"
        name = f"K{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def format_fact_code(self, arguments: Iterable[int]) -> str:
        """Return the expression for the code of a fact or fluent with these arguments.

        A code is a number with one digit for each argument, in base ``object_count``. The result is a constant if no
        argument is a variable.
        """
        text = ""
        constant = 0
        for argument in arguments:
            if text:
                text = f"({text})*{self.object_count}"
                text = text if argument == 0 else f"{text}+{self.format_argument(argument)}"
            elif argument >= 0:
                constant = constant * self.object_count + argument
            else:
                text = f"{constant * self.object_count}+x{-1 - argument}" if constant else f"x{-1 - argument}"
        return text or str(constant)

    def format_argument(self, argument: int) -> str:
        """Return the code for an argument: a variable's name, or an object's number."""
        return str(argument) if argument >= 0 else f"x{-1 - argument}"

    def find_view_of_index(self, index: int) -> QuantifierView | None:
        """Return the view with an index in a log of changes; ``None`` for predicates and fluents."""
        number = index - len(self.task.predicates) - len(self.task.functions)
        return self.views[number] if number >= 0 else None

    # -- indexes ------------------------------------------------------------------------------------------------------

    def get_index_number(self, predicate: int, positions: tuple[int, ...]) -> int:
        """Return the number of the index of a predicate by some of its arguments, and request the index."""
        key = predicate, positions
        self.requested_indexes.add(key)
        number = self.indexes.get(key)
        if number is None:
            number = self.indexes[key] = self.add_table(key)
        return number

    def add_table(self, key: IndexKey | None) -> int:
        """Add a table to the indexes, and return its number; ``key``: ``None`` for the table of a view."""
        self._index_keys.append(key)
        return len(self._index_keys) - 1

    def get_index_key(self, number: int) -> IndexKey | None:
        """Return the predicate and the key positions of an index; ``None`` for the table of a view."""
        return self._index_keys[number]

    def use_private_indexes(self) -> AbstractContextManager[None]:
        """Do not request the indexes of joins that are compiled in the block; they build their own."""
        return self.request_indexes_in(set())

    @contextmanager
    def request_indexes_in(self, requested_indexes: set[IndexKey]) -> Iterator[None]:
        """Add the indexes of joins that are compiled in the block to a set."""
        outer_requests, self.requested_indexes = self.requested_indexes, requested_indexes
        try:
            yield
        finally:
            self.requested_indexes = outer_requests

    def format_argument_of_code(self, predicate: int, place: int, code: str = "c") -> str:
        """Return the expression for the argument at position ``place`` of a code."""
        view = self.find_view_of_index(predicate)
        arity = len(self.task.get_symbol(predicate).types if view is None else view.slots)
        return self.format_digit(arity, place, code)

    def format_digit(self, arity: int, place: int, code: str) -> str:
        """Return the expression for the digit at position ``place`` of a code with ``arity`` digits."""
        power = self.object_count ** (arity - 1 - place)
        if power == 1:
            return code if arity == 1 else f"{code}%{self.object_count}"
        return f"{code}//{power}" if place == 0 else f"{code}//{power}%{self.object_count}"

    def format_state_parameters(self, slots: Iterable[int]) -> str:
        """Return the parameters of a function of a state and of variables."""
        return ", ".join([self.state_parameters, *[f"x{slot}" for slot in slots]])

    @property
    def state_parameters(self) -> str:
        """The parameters of every condition."""
        return "S, F, I" if self.is_for_monitors else "S, F"

    @contextmanager
    def set_for_monitors(self, is_for_monitors: bool = True) -> Iterator[None]:
        """Set :attr:`is_for_monitors` in the block."""
        before, self.is_for_monitors = self.is_for_monitors, is_for_monitors
        try:
            yield
        finally:
            self.is_for_monitors = before
