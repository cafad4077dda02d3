"""The operations without a session: texts in, one JSON text out (docs/output-formats.md).

Each operation calls the session functions on texts and renders the result. An error of the caller is a
:class:`plansafe.app.interfaces.agents.request_fields.BadRequest`, or part of the report.

Convert a sentence to a rule, from the caller's drafts or with the server's model (docs/language-models.md).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.interfaces.agents import reference
from plansafe.app.interfaces.agents.operation_fields import STATELESS_OPERATIONS, TASK
from plansafe.app.interfaces.agents.request_fields import BadRequest, Values, read_fields, read_object
from plansafe.app.interfaces.agents.request_task import RequestFinder, Task, read_task, without_traceback
from plansafe.app.interfaces.agents.short_answers import short_audit, short_examination
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.project.file_kinds import heading
from plansafe.app.project.inputs import Input
from plansafe.app.render.json import JsonRenderer
from plansafe.app.session.audit import Session
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.formalisation import unfit
from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.version import version
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions

if TYPE_CHECKING:
    from plansafe.app.interfaces.agents.worker_messages import Limits
    from plansafe.llm.formalise.asking import FormaliseOptions
    from plansafe.llm.formalise.model import Formalised
    from plansafe.verifier.api import Checker


_MAX_CACHED_TASKS = 4
_MAX_CACHED_CHARACTERS = 4_000_000
"""Maximum number of compiled tasks in the cache, and of characters in their texts."""


class OperationContext:
    """The limits of a worker and its cache of compiled tasks."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._sessions: OrderedDict[Task, Session] = OrderedDict()

    def session(self, task: Task) -> Session:
        """Return the session of a task, from the cache if possible."""
        session = self._sessions.pop(task, None) or Session(task.settings, RequestFinder(task))
        self._sessions[task] = session
        while len(self._sessions) > _MAX_CACHED_TASKS or sum([t.size for t in self._sessions]) > _MAX_CACHED_CHARACTERS:
            self._sessions.popitem(last=False)
        return session

    def settings(self, values: Values) -> Settings:
        """Return the settings of an audit."""
        return Settings(
            hashes=True,
            time_limit=self.limits.seconds,
            gate=values.get("gate", False),
            max_findings=values.get("max_findings", 100),
            loose=values.get("form") == "text",
            accept_remarks=values.get("accept_remarks", False),
        )


class Answer(NamedTuple):
    """The full answer of an operation, and the function that makes the short one. Both are one line of JSON."""

    full: str
    shorten: Callable[[], str]


def audit(values: Values, context: OperationContext) -> Answer:
    """Audit a plan; the answer is a ``report-1.json`` object."""
    task = read_task(values, context.settings(values))
    session = context.session(task)
    for audited in session.process([_plan(values)], session.audit, task.settings.time_limit):
        result = without_traceback(audited)
        return Answer(JsonRenderer(task.settings, version()).plan(result), partial(short_audit, result))
    raise AssertionError("one plan has one result")


def repair(values: Values, context: OperationContext) -> Answer:
    """Search for the nearest safe plan; the answer is a ``repair-1.json`` object."""
    return _examine(values, context, ExaminationOptions(_options(values, context.limits), classes=False))


def diagnose(values: Values, context: OperationContext) -> Answer:
    """Find the errors of a plan and their causes; the answer is a ``repair-1.json`` object."""
    options = ExaminationOptions(
        _options(values, context.limits),
        where=values["where"] or values["regret"],
        regret=values["regret"],
        causes=values["causes"],
    )
    return _examine(values, context, options)


def _options(values: Values, limits: Limits) -> RepairOptions:
    return RepairOptions(
        protected=frozenset(values["protect"]),
        max_cost=None if values["max_cost"] is None else Fraction(str(values["max_cost"])),
        max_work=BOUNDED_WORK,
        time_limit_s=limits.seconds / 3,  # the steps after the search also need time
    )


def _examine(values: Values, context: OperationContext, options: ExaminationOptions) -> Answer:
    from plansafe.app.render.repair_json import RepairJsonRenderer  # noqa: PLC0415 - only needed for repairs

    task = read_task(values, context.settings(values))
    session, seconds = context.session(task), context.limits.seconds
    for with_tracebacks in examine([_plan(values)], task.settings, options, session=session, seconds=seconds):
        examined = _examined_without_tracebacks(with_tracebacks)
        full = RepairJsonRenderer(task.settings, version()).plan(examined)
        return Answer(full, partial(short_examination, examined))
    raise AssertionError("one plan has one result")


def _examined_without_tracebacks(examined: Examined) -> Examined:
    after = None if examined.after is None else without_traceback(examined.after)
    return examined._replace(result=without_traceback(examined.result), after=after)


def _plan(values: Values) -> Source:
    return Source(values["name"] or "plan", values["plan"])


_PLAN_OPERATIONS: Mapping[str, Callable[[Values, OperationContext], Answer]] = {
    "audit": audit,
    "repair": repair,
    "diagnose": diagnose,
}
_OTHER_OPERATIONS: Mapping[str, Callable[[Values, OperationContext], str]] = {
    "formalise": lambda values, context: formalise(values, context.limits),
    "explain": lambda values, _: reference.explain(values),
    "hazards": lambda values, _: reference.hazards(values),
    "catalogue": lambda _values, _: reference.catalogue(),
    "show": lambda values, _: reference.show(values),
}
_FIELDS = {operation.name: operation.fields for operation in STATELESS_OPERATIONS}
SHORT = "short-"
"""Prefix of the name of an operation on a plan: answer with two lines, the short and the full answer."""


def perform(name: str, body: bytes, context: OperationContext) -> str:
    """Run an operation and return its JSON text. Raises :class:`BadRequest`."""
    operation = name.removeprefix(SHORT)
    values = read_fields(_FIELDS[operation], read_object(body))
    if operation not in _PLAN_OPERATIONS:
        return _OTHER_OPERATIONS[operation](values, context)
    answer = _PLAN_OPERATIONS[operation](values, context)
    return answer.shorten() + answer.full if name.startswith(SHORT) else answer.full


_DEFAULT_DOMAIN = "household"


def formalise(values: Values, limits: Limits) -> str:
    """Convert a sentence to a rule and return a ``formalise-1.json`` object."""
    from plansafe.app.render.formalised import FormalisedJsonRenderer  # noqa: PLC0415 - only needed here
    from plansafe.llm.formalise.asking import FormaliseOptions  # noqa: PLC0415
    from plansafe.llm.formalise.asking import Limits as Tries  # noqa: PLC0415
    from plansafe.llm.formalise.formaliser import decided, read_sample  # noqa: PLC0415
    from plansafe.llm.models.answer import Answer  # noqa: PLC0415
    from plansafe.llm.prompts.formalising import Language, one_line  # noqa: PLC0415

    checker = _test_task(values)
    refused = unfit(checker)
    if refused is not None:
        raise BadRequest(refused.message, refused.help)
    tries = Tries(planner_s=min(3.0, limits.seconds / 10), lint_s=min(5.0, limits.seconds / 10))
    answers, model = values["answers"], limits.model
    if answers:
        wishes = FormaliseOptions(Language(values["language"]), len(answers), limits=tries)
        samples = [read_sample(Answer(text), checker.compiled, wishes.language) for text in answers]
        result = decided(one_line(values["sentence"]), checker.compiled, samples, tries)
        return FormalisedJsonRenderer().results([result], "the caller", wishes, None)
    if model is None:
        raise BadRequest("this server has no model", "write drafts of the rule and give them as `answers`")
    wishes = FormaliseOptions(Language(values["language"]), limits=tries)
    return FormalisedJsonRenderer().results([_by_model(values, checker, model, wishes)], model, wishes, None)


def _by_model(values: Values, checker: Checker, name: str, wishes: FormaliseOptions) -> Formalised:
    from plansafe.llm.formalise.formaliser import formalise as formalise_with_model  # noqa: PLC0415 - only needed with a model
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings as ModelSettings  # noqa: PLC0415
    from plansafe.llm.models.providers import opened  # noqa: PLC0415

    try:
        with opened(name, ModelSettings(), keep=False) as (model, cache):
            return formalise_with_model(values["sentence"], checker.compiled, model, wishes, cache)
    except ModelError as error:
        raise BadRequest(error.diagnostic.message, error.diagnostic.help, error.diagnostic.code) from error


def _test_task(values: Values) -> Checker:
    """Compile the task for testing rules: the caller's task, or the example home of a shipped domain."""
    from plansafe.llm.formalise.home import home_path  # noqa: PLC0415 - only needed for rules
    from plansafe.verifier.api import Checker, Options  # noqa: PLC0415

    request = dict.fromkeys([field.name for field in TASK]) | {
        "rules": (),
        "default_rules": False,
        "min_severity": "low",
        "lenient_types": False,
        "domain": values["domain"] or (None if values["problem"] is not None else _DEFAULT_DOMAIN),
        "problem": values["problem"],
    }
    task = read_task(request, Settings())
    if values["problem"] is None:
        home = home_path(task.domain or "") if "(" not in (task.domain or "(") else None
        if home is None:
            raise BadRequest("rules need a problem to be tested in, and the request has none", "give it as `problem`")
        task = task._replace(texts=(("problem", Source.from_path(home).text),))
    inputs = RequestFinder(task).find(Input("plan", "plan", "given", Source("plan", "")), heading(""))
    if inputs.domain is None or inputs.problem is None:
        raise BadRequest(inputs.diagnostics[0].message, inputs.diagnostics[0].help)
    checker = Checker(inputs.domain.source, inputs.problem.source, (), Options(replay="never"))
    if not checker.ok:
        error = next(d for d in checker.diagnostics if d.severity is Severity.ERROR)
        raise BadRequest(error.message, error.help, error.code)
    return checker
