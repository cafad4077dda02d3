"""Steps of a plan resolved against a task: an action with its objects, or an error."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import with_article
from plansafe.grammar.named_tuple import NamedTuple, make_constructor
from plansafe.grammar.plan_text import split_chunk
from plansafe.verifier.elaborate.context import did_you_mean
from plansafe.verifier.model.nodes import Action, Number, Task, bind, normal_number

MAX_EXAMPLES = 6
"""Maximum number of objects of the right type that an error lists."""


StepKey = tuple[str, tuple[int, ...]]
"""The name of an action, and the objects of a step."""


class GroundAction(NamedTuple):
    """A well-formed step."""

    action: Action
    objects: tuple[int, ...]

    @property
    def binding(self) -> dict[int, int]:
        """The objects by the slots of the action's parameters."""
        return bind(self.action.parameters, self.objects)

    @property
    def key(self) -> StepKey:
        """The action's name and the objects; an action itself is too deep to be hashed or compared."""
        return self.action.name, self.objects


_make_ground_action = make_constructor(GroundAction)


class IllFormed(NamedTuple):
    """A step with an error. ``token``: the number of the wrong token (0: the action)."""

    code: str
    message: str
    token: int
    help: str | None = None


class Resolver:
    """Resolves steps, and caches them up to a bound."""

    MAX_CACHED_STEPS = 400_000
    """Maximum number of steps, or of chunks of plan text, that are kept resolved."""
    MAX_SUGGESTIONS = 50
    """Maximum number of ill-formed steps for which similar names are searched."""

    def __init__(self, task: Task, lenient_types: bool) -> None:
        self.task = task
        self.lenient = lenient_types
        self._ill_formed_count = 0
        self._signatures = {
            name: (action, tuple([task.domain_sets[v.domain] for v in action.parameters]))
            for name, action in task.actions.items()
        }
        """By name, an action and for each of its parameters the set of objects that it takes."""
        self._step_by_tokens: dict[tuple[str, ...], GroundAction | IllFormed] = {}

    def resolve_chunk(self, chunk: str) -> GroundAction | IllFormed | None:
        """Resolve a chunk of plan text; ``None`` if it is not one step."""
        tokens = split_chunk(chunk)
        return None if tokens is None else self.resolve_tokens(tokens)

    def resolve_step(self, tokens: tuple[str, ...]) -> GroundAction | IllFormed:
        """Resolve the tokens of a step; equal steps are resolved once."""
        step = self._step_by_tokens.get(tokens)
        if step is None:
            step = self.resolve_tokens(tokens)
            if len(self._step_by_tokens) < self.MAX_CACHED_STEPS:
                self._step_by_tokens[tokens] = step
        return step

    def resolve_tokens(self, tokens: list[str] | tuple[str, ...]) -> GroundAction | IllFormed:
        """Resolve the tokens of a step: the action and its arguments."""
        signature = self._signatures.get(tokens[0])
        if signature is None:
            return self._explain_error(tokens)
        action, allowed_objects = signature
        if len(tokens) - 1 != len(allowed_objects):
            return self._explain_error(tokens)
        object_index, lenient = self.task.object_index, self.lenient
        objects = []
        for position, allowed in enumerate(allowed_objects, 1):
            number = object_index.get(tokens[position])
            if number is None or (number not in allowed and not lenient):
                return self._explain_error(tokens)
            objects.append(number)
        return _make_ground_action((action, tuple(objects)))

    def _explain_error(self, tokens: list[str] | tuple[str, ...]) -> IllFormed:
        """Return the first error of a step that is ill-formed."""
        task = self.task
        name = tokens[0]
        self._ill_formed_count += 1
        suggest = did_you_mean if self._ill_formed_count <= self.MAX_SUGGESTIONS else _suggest_nothing
        action = task.actions.get(name)
        if action is None:
            return IllFormed(SC.UNKNOWN_ACTION, f"unknown action `{name}`", 0, suggest(name, task.actions))
        if len(tokens) - 1 != len(action.parameters):
            signature = " ".join([name, *[v.name for v in action.parameters]])
            plural = "" if len(action.parameters) == 1 else "s"
            message = f"action `{name}` takes {len(action.parameters)} argument{plural}, not {len(tokens) - 1}"
            return IllFormed(SC.STEP_ARITY, message, 0, f"its parameters are `({signature})`")
        for place, (token, parameter) in enumerate(zip(tokens[1:], action.parameters, strict=True), 1):
            number = task.object_index.get(token)
            if number is None:
                return IllFormed(SC.STEP_OBJECT, f"unknown object `{token}`", place, suggest(token, task.object_index))
            if number not in task.domain_sets[parameter.domain]:
                types = with_article(" and ".join([f"`{task.type_names[t]}`" for t in task.object_types[number]]))
                examples = ", ".join([task.objects[o] for o in task.domains[parameter.domain][:MAX_EXAMPLES]])
                help = f"objects of that type: {examples}" if examples else "the task has no object of that type"
                return IllFormed(
                    SC.STEP_TYPE,
                    f"`{token}` is {types}, but parameter `{parameter.name}` of `{name}` has another type",
                    place,
                    help,
                )
        raise AssertionError("the step is well-formed")


def _suggest_nothing(name: str, candidates: object) -> None:
    """Do not search for a similar name, in place of :func:`did_you_mean`."""


class Tolerance(NamedTuple):
    """The separation of interfering happenings, and the deviation of durations (docs/language.md, section 3).

    ``exact`` is the tolerance of the options. ``separation`` and ``duration`` are the tolerances that are applied: if
    the printed times are rounded, the first is smaller and the second larger (:func:`widen_tolerance`).
    """

    exact: Number
    separation: Number
    duration: Number


def widen_tolerance(tolerance: Number, decimals: int | None) -> Tolerance:
    """Return the tolerance for a plan with printed ``decimals``.

    A deviation of one unit of the last decimal is accepted if this unit is small.
    """
    unit = Fraction(0 if decimals is None else 1, 10 ** (decimals or 0))
    slack = unit if 10 * unit < tolerance else Fraction(0)
    return Tolerance(tolerance, normal_number(tolerance - slack), normal_number(tolerance + slack))


class TimedStep(NamedTuple):
    """A step of a timed plan.

    ``number`` counts from 1 after sorting by time; ``source_index`` is the step's position in the text, from 0. With a
    ``tolerance``, the duration may be that much shorter or longer.
    """

    number: int
    source_index: int
    time: Number
    duration: Number | None
    resolved: GroundAction | IllFormed
    tolerance: Number | None = None


def step_text(step: GroundAction, task_objects: tuple[str, ...]) -> str:
    """A step as PDDL."""
    return "(" + " ".join([step.action.name, *[task_objects[o] for o in step.objects]]) + ")"


def plan_text(steps: Iterable[GroundAction], task_objects: tuple[str, ...]) -> str:
    """A plan as PDDL, one step a line."""
    return "".join([f"{step_text(step, task_objects)}\n" for step in steps])
