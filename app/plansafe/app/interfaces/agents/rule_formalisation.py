"""Convert a sentence to a rule, from the caller's drafts or with the server's model (docs/language-models.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.app.interfaces.agents.operation_fields import TASK
from plansafe.app.interfaces.agents.request_fields import BadRequest, Values
from plansafe.app.interfaces.agents.request_task import RequestFinder, read_task
from plansafe.app.project.file_kinds import heading
from plansafe.app.project.inputs import Input
from plansafe.app.session.formalisation import unfit
from plansafe.app.session.model import Settings
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.interfaces.agents.worker_messages import Limits
    from plansafe.llm.formalise.asking import FormaliseOptions
    from plansafe.llm.formalise.model import Formalised
    from plansafe.verifier.api import Checker

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
