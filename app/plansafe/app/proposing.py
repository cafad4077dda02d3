"""A plan of a language model, for every door: words and a problem in, a plan with its verdict and its history out.

The loop is that of the front-end for models; here are the files, the model by its name, and what is said of the end.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from plansafe.app.checking import Prepared, Result, Settings
from plansafe.app.discovery import Input
from plansafe.app.endings import ending
from plansafe.app.plans import heading
from plansafe.app.repairing import in_world, many_worlds
from plansafe.app.service import Session, no_rules
from plansafe.app.values import BadOption
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.loop.model import PLAN, Decode, Planned, Status, Wishes
from plansafe.llm.loop.policies import policies
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.models.cache import Cache, default_path
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.providers import open_model
from plansafe.llm.prompts.planning import Prompt, planning_prompt
from plansafe.llm.prompts.wishes import CROPPED, WHOLE, PromptWishes
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.own_search import unsupported
from plansafe.verifier.repair.model import Repair
from plansafe.verifier.reporting.report import unjudged

_NO_WORDS = "reach the goal"
_EXIT_CODES = {Status.FOUND: 0, Status.UNSOLVABLE: 1, Status.NOT_FOUND: 3}


class ModelOptions(NamedTuple):
    """Which model is asked. ``cache``: where answers are kept; ``reference``: the plan of ``mock/reference``."""

    name: str
    base_url: str | None = None
    cache: str | None = None
    keep: bool = True
    reference: str | None = None
    seed: int = 0


class Proposed(NamedTuple):
    """What came of it. ``result`` is the audit of the plan, or why there is none; ``seconds`` of wall-clock time.

    ``planned`` is ``None`` where nobody was asked: the inputs cannot be used. ``text`` is the plan if it is safe, as
    plans of its world are written. ``prompt`` is what the model was told first.
    """

    result: Result
    planned: Planned | None = None
    text: str | None = None
    outcome: Diagnostic | None = None
    wishes: Wishes = Wishes()
    model: str = ""
    seconds: float = 0.0
    prompt: Prompt | None = None

    @property
    def exit_code(self) -> int:
        """0 a plan that is SAFE or VALID, 1 PROVED that there is none, 3 NOT FOUND, 2 unreadable, 4 a bug."""
        if self.planned is None:
            return self.result.exit_code
        if self.planned.status is Status.FOUND:
            return self.result.exit_code
        return _EXIT_CODES[self.planned.status]


def propose(
    words: str,
    settings: Settings,
    wishes: Wishes,
    options: ModelOptions,
    asking: PromptWishes = PromptWishes(),  # noqa: B008 - immutable
) -> Proposed | Diagnostic:
    """Plan for the problem of ``settings``. A diagnostic says why the model cannot be asked, or gave no answer."""
    if settings.wanted is None:
        settings = settings._replace(wanted="")
    session = Session(settings)
    near = next((path for path in (settings.problem, settings.scene) if path not in (None, "-")), None)

    def work(prepared: Prepared) -> Proposed | Diagnostic:
        try:
            meant = wishes._replace(repair=in_world(wishes.repair, prepared.checker, settings.world))
            return _proposed(session, prepared, _Asked(words, meant, asking), options)
        except (ModelError, BadOption) as error:
            return error.diagnostic

    place = Source(os.path.join(os.path.dirname(near or ""), PLAN), "")
    done = next(session.each([place], work, 0.0))
    return Proposed(done) if isinstance(done, Result) else done


class _Asked(NamedTuple):
    """What the user asked for: words, how to plan, and how the model is told."""

    words: str
    wishes: Wishes
    prompt: PromptWishes


def _proposed(session: Session, prepared: Prepared, asked: _Asked, options: ModelOptions) -> Proposed | Diagnostic:
    checker, wishes = prepared.checker, asked.wishes
    wrong = no_rules() if session.needs_rules(checker) else _refused(prepared, wishes)
    if wrong is not None:
        return Proposed(session.result(prepared, unjudged(prepared.plan.name, wrong)))
    reference = session.reference(options.reference, prepared) if options.reference is not None else None
    if isinstance(reference, tuple):
        return Proposed(session.result(prepared, unjudged(prepared.plan.name, *reference)))
    written = None
    if reference is not None:
        written = "".join([f"({' '.join(step.tokens)})\n" for step in checker.read(reference).text.steps])
    known = policies(checker.compiled, written, options.seed, wishes.max_steps)
    model = open_model(options.name, ModelSettings(options.base_url, connections=1, seed=options.seed, policies=known))
    cache = None
    try:
        if options.keep and model.keeps:
            cache = Cache(options.cache or default_path(os.environ))
        return _run(session, prepared, asked, options.name, model, cache)
    finally:
        model.close()
        if cache is not None:
            cache.close()


def _run(
    session: Session,
    prepared: Prepared,
    asked: _Asked,
    name: str,
    model: Model,
    cache: Cache | None,
) -> Proposed:
    checker, wishes = prepared.checker, asked.wishes
    begun = time.monotonic()
    problem = next((used for used in prepared.inputs if used.role == "problem"), None)
    task = (heading(problem.source.text).name if problem is not None else None) or "task"
    prompt = _prompt(asked, checker)
    planned = plan_with(model, task, prompt.messages, checker, wishes, cache)
    result = _result(session, prepared, planned)
    text = _written(prepared, planned) if planned.status is Status.FOUND else None
    seconds = time.monotonic() - begun
    return Proposed(result, planned, text, ending(planned, checker), wishes, name, seconds, prompt)


def _prompt(asked: _Asked, checker: Checker) -> Prompt:
    """What the model is told first. Raises :class:`BadOption` where it cannot be as short as was asked."""
    words, wishes = asked.words.strip() or _NO_WORDS, asked.prompt
    most = wishes.most_tokens
    prompt = planning_prompt(words, checker.compiled, safety=wishes.safety, most_tokens=most or WHOLE)
    if most is None and prompt.cropped is not None:
        prompt = planning_prompt(words, checker.compiled, safety=wishes.safety, most_tokens=CROPPED)
    if most is not None and prompt.tokens > most:
        raise BadOption(
            f"--prompt-tokens {most}: the prompt has about {prompt.tokens} with nothing but one thing of the home in it"
        )
    return prompt


def _written(prepared: Prepared, planned: Planned) -> str:
    """A plan as it is handed out: in the form of its world, if it is of one."""
    if prepared.write is None or planned.report is None:
        return planned.plan
    steps = tuple([part.step for part in planned.parts])
    return prepared.write(prepared, Repair(steps, (0,) * len(steps), (), 0, planned.report))


def _refused(prepared: Prepared, wishes: Wishes) -> Diagnostic | None:
    """Why nobody is asked: there are many worlds, or steps one by one are not searched for such a task."""
    checker = prepared.checker
    read = checker.read(prepared.plan)
    if checker.open:
        return many_worlds(checker, read, "the prompt for a plan")
    why = unsupported(checker.compiled, True) if wishes.decode.stepwise else ""
    if why:
        message = f"--decode {wishes.decode.value} does not take this task: {why}"
        return Diagnostic(SC.BAD_OPTION, message, help=f"--decode {Decode.FREE.value} takes every task of one world")
    return None


def _result(session: Session, prepared: Prepared, planned: Planned) -> Result:
    """The audit of what is handed out or was best; else why no answer was read."""
    answers = planned.answers
    refused = planned.rounds[-1].refused if planned.rounds else ()
    source = Source(PLAN, planned.plan)
    shown = Input("plan", PLAN, "given", source)
    inputs = (shown, *prepared.inputs[1:])
    sources = {**prepared.sources, PLAN: source}
    if planned.report is not None:
        prepared = prepared._replace(plan=source, inputs=inputs, sources=sources)
        return session.result(prepared, planned.report)
    if refused:
        sources["answer.txt"] = Source("answer.txt", answers[-1].text)
    return Result(PLAN, unjudged(PLAN, *refused), inputs, sources)
