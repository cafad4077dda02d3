"""A plan of a language model, for every door: words and a problem in, a plan with its verdict and its history out.

The loop is that of the front-end for models; here are the files, the model by its name, the goal, and the order of
it all.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from plansafe.app.project.file_kinds import heading
from plansafe.app.project.inputs import Input
from plansafe.app.session.audit import Session
from plansafe.app.session.goal_text import NOTHING
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.session.model_activity import Activity, WatchedModel, is_slow
from plansafe.app.session.option_values import BadOption
from plansafe.app.session.plan_prompt import NO_WORDS, plan_prompt, short_enough
from plansafe.app.session.planning_failure import ending
from plansafe.app.session.repair import in_world, many_worlds
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.llm.loop.model import PLAN, By, Decode, Exchange, Planned, Status, Wishes
from plansafe.llm.loop.policies import policies
from plansafe.llm.loop.rounds import mend_with, plan_with
from plansafe.llm.loop.wanted import Wanted, wanted_goal
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.opening import opened
from plansafe.llm.models.port import Model, ModelError, Policy
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.transport import Tries
from plansafe.llm.prompts.goal import goal_prompt
from plansafe.llm.prompts.planning import Prompt
from plansafe.llm.prompts.scene import goal_text
from plansafe.llm.prompts.wishes import PromptWishes
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.own_search import unsupported
from plansafe.verifier.repair.model import Repair
from plansafe.verifier.reporting.report import Headline, unjudged

_EXIT_CODES = {Status.FOUND: 0, Status.UNSOLVABLE: 1, Status.NOT_FOUND: 3, Status.REFUSED: 3}


class ModelOptions(NamedTuple):
    """Which model is asked. ``cache``: where answers are kept; ``reference``: the plan of ``mock/reference``.

    ``timeout``: seconds for one request to a server; ``threads``: of a model in this process.
    """

    name: str
    base_url: str | None = None
    cache: str | None = None
    keep: bool = True
    reference: str | None = None
    seed: int = 0
    timeout: float | None = None
    threads: int | None = None


class Asked(NamedTuple):
    """What the user asked for: words, how to plan, how the model is told.

    ``from_words``: the model says what the goal is (also where there is none); ``goal_only``: and nothing else.
    """

    words: str
    wishes: Wishes = Wishes()
    prompt: PromptWishes = PromptWishes()
    from_words: bool = False
    goal_only: bool = False


class Goal(NamedTuple):
    """A goal as PDDL, and whether the ``user``, the ``problem`` or the ``model`` says so."""

    text: str
    by: str


class Proposed(NamedTuple):
    """What came of it. ``result`` is the audit of the plan, or why there is none; ``seconds`` of wall-clock time.

    ``planned`` is ``None`` where nobody was asked for a plan: the inputs cannot be used, or the goal alone was asked
    for. ``text`` is the plan if it is safe, as plans of its world are written. ``prompt`` is what the model was told
    first. ``before`` are the calls for the goal.
    """

    result: Result
    planned: Planned | None = None
    text: str | None = None
    outcome: Diagnostic | None = None
    wishes: Wishes = Wishes()
    model: str = ""
    seconds: float = 0.0
    prompt: Prompt | None = None
    goal: Goal | None = None
    before: tuple[Exchange, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 a plan that is SAFE or VALID, 1 PROVED that there is none, 3 NOT FOUND, 2 unreadable, 4 a bug."""
        if self.planned is None or self.planned.status is Status.FOUND:
            return self.result.exit_code
        refusal = self.planned.refusal
        if refusal is not None and refusal.right:
            return _EXIT_CODES[Status.UNSOLVABLE]
        return _EXIT_CODES[self.planned.status]


def propose(settings: Settings, asked: Asked, options: ModelOptions) -> Proposed | Diagnostic:
    """Plan for the problem of ``settings``. A diagnostic says why the model cannot be asked, or gave no answer."""
    if settings.wanted is None:
        settings = settings._replace(wanted="")
    session = Session(settings)
    near = next((path for path in (settings.problem, settings.scene) if path not in (None, "-")), None)
    place = Source(os.path.join(os.path.dirname(near or ""), PLAN), "")

    return _run(settings, asked, options, session, place)


def mend(plan: str, settings: Settings, asked: Asked, options: ModelOptions) -> Proposed | Diagnostic:
    """Mend the plan of a file with a model: what is wrong with it is told first, and the engine has the last word."""
    return _run(settings, asked, options, Session(settings), plan)


def _run(
    settings: Settings, asked: Asked, options: ModelOptions, session: Session, plan: Source | str
) -> Proposed | Diagnostic:
    """Prepare the task of a plan, or of the place of a future plan (a source), and ask the model."""
    with Activity(is_slow(options.name)) as activity:
        activity.start("reading the task", brief=True)

        def work(prepared: Prepared) -> Proposed | Diagnostic:
            place = plan if isinstance(plan, Source) else None
            try:
                return _Proposing(settings, asked, options, place, activity).run(session, prepared)
            except (ModelError, BadOption) as error:
                return error.diagnostic

        done = next(session.each([plan], work, 0.0))
    return Proposed(done) if isinstance(done, Result) else done


class _Proposing:
    """One run. ``place`` is where the plan would be; ``None`` where there is one, which is mended."""

    def __init__(
        self, settings: Settings, asked: Asked, options: ModelOptions, place: Source | None, activity: Activity
    ) -> None:
        self.settings = settings
        self.activity = activity
        self.asked = asked
        self.options = options
        self.place = place
        self.known: dict[str, Policy] = {}
        self.begun = time.monotonic()

    def run(self, session: Session, prepared: Prepared) -> Proposed | Diagnostic:
        checker = prepared.checker
        wrong = session.missing_rules(checker) or _refused(prepared, self.asked)
        if wrong is not None:
            return Proposed(session.result(prepared, unjudged(prepared.plan.name, wrong)))
        ill = checker.read(prepared.plan).text.diagnostics if self.place is None else ()
        if ill:
            return Proposed(session.result(prepared, unjudged(prepared.plan.name, *ill)))
        if self.place is None and prepared.remarks:
            result = session.audit(prepared)
            if result.report.headline is Headline.UNKNOWN:
                return Proposed(result)
        path = self.options.reference
        reference = session.reference(path, prepared) if path is not None else None
        if isinstance(reference, tuple):
            return Proposed(session.result(prepared, unjudged(prepared.plan.name, *reference)))
        written = None
        if reference is not None:
            written = "".join([f"({' '.join(step.tokens)})\n" for step in checker.read(reference).text.steps])
        wishes, options = self.asked.wishes, self.options
        self._learn(checker, written)
        tries = Tries() if options.timeout is None else Tries(timeout=options.timeout)
        settings = ModelSettings(
            options.base_url,
            connections=1,
            tries=tries,
            seed=options.seed,
            threads=options.threads,
            policies=self.known,
        )
        self.activity.start(f"loading {options.name}")
        with opened(options.name, settings, options.cache, keep=options.keep) as (loaded, cache):
            self.activity.start("writing the prompt", brief=True)
            model = WatchedModel(loaded, self.activity)
            goal = self._own_goal(checker)
            wanted: Wanted | None = None
            if self.place is not None and (self.asked.from_words or not goal.text):
                wanted = self._wanted(session, prepared, model, cache)
                if wanted.goal is None:
                    return Proposed(_no_goal(prepared, wanted), before=wanted.exchanges)
                goal = Goal(wanted.goal, "model")
                session = session.wanting(wanted.goal)
                again = session.prepare(self.place)
                if isinstance(again, Result):  # which was compiled a moment ago
                    return Proposed(again, before=wanted.exchanges)
                prepared = again
                self._learn(prepared.checker, written)
            before = wanted.exchanges if wanted is not None else ()
            if self.asked.goal_only:
                result = Result(PLAN, unjudged(PLAN), prepared.inputs, prepared.sources)
                return Proposed(result, wishes=wishes, model=options.name, goal=goal, before=before)
            done = self._planned(session, prepared, model, cache)
            return done._replace(goal=goal if wanted is not None or goal.by == "user" else None, before=before)

    def _learn(self, checker: Checker, reference: str | None) -> None:
        """What mocks know of the task: it changes with its goal."""
        wishes = self.asked.wishes
        self.known.clear()
        self.known.update(policies(checker.compiled, reference, self.options.seed, wishes.max_steps))

    def _own_goal(self, checker: Checker) -> Goal:
        """The goal that is given; no text where there is none to reach."""
        if self.settings.wanted:
            return Goal(self.settings.wanted, "user")
        return Goal(goal_text(checker.compiled) if checker.engine.task.goal else "", "problem")

    def _name(self, prepared: Prepared) -> str:
        problem = next((used for used in prepared.inputs if used.role == "problem"), None)
        return (heading(problem.source.text).name if problem is not None else None) or "task"

    def _wanted(self, session: Session, prepared: Prepared, model: Model, cache: Cache | None) -> Wanted:
        """The goal that the model takes from the words. Raises :class:`BadOption` where there are none."""
        words, place = self.asked.words.strip(), self.place
        if not words:
            raise BadOption("there is no goal, and there are no words to take one from", "say the task in words")
        assert place is not None
        bare = session.wanting(NOTHING).prepare(place)
        checker = bare.checker if isinstance(bare, Prepared) else prepared.checker
        most = self.asked.prompt.most_tokens
        prompt = short_enough(most, lambda tokens: goal_prompt(words, checker.compiled, most_tokens=tokens))

        def check(goal: str) -> tuple[Diagnostic, ...]:
            done = session.wanting(goal).prepare(place)
            if isinstance(done, Result):
                return tuple([d for d in done.report.diagnostics if d.severity is Severity.ERROR])
            engine = done.checker.engine
            if engine.refused is None and engine.goal(engine.initial()) is True:
                return (Diagnostic(SC.NO_GOAL, "all of this is so already, before anything is done"),)
            return ()

        task = checker.engine.task
        return wanted_goal(model, self._name(prepared), prompt.messages, task, check, cache, self.asked.wishes)

    def _planned(self, session: Session, prepared: Prepared, model: Model, cache: Cache | None) -> Proposed:
        checker, asked = prepared.checker, self.asked
        wishes = asked.wishes._replace(repair=in_world(asked.wishes.repair, checker, self.settings.world))
        prompt = plan_prompt(session, prepared, asked.words.strip() or NO_WORDS, asked.prompt)
        name = self._name(prepared)
        if self.place is None:
            steps = [f"({' '.join(step.tokens)})" for step in read_plan(prepared.plan).steps]
            planned = mend_with(model, name, prompt.messages, steps, checker, wishes, cache)
        else:
            planned = plan_with(model, name, prompt.messages, checker, wishes, cache, prompt.cropped)
        result = _result(session, prepared, planned)
        text = self._written(prepared, planned) if planned.status is Status.FOUND else None
        seconds = time.monotonic() - self.begun
        return Proposed(result, planned, text, ending(planned, checker), wishes, self.options.name, seconds, prompt)

    def _written(self, prepared: Prepared, planned: Planned) -> str:
        """A plan as it is handed out: in the form of its world, if it is of one; as it was, if nothing was changed."""
        given = [part.by is By.GIVEN for part in planned.parts]
        if self.place is None and all(given) and not planned.removed:
            return prepared.inputs[0].source.text
        if prepared.write is None or planned.report is None:
            return planned.plan
        steps = tuple([part.step for part in planned.parts])
        return prepared.write(prepared, Repair(steps, (0,) * len(steps), (), 0, planned.report))


def _no_goal(prepared: Prepared, wanted: Wanted) -> Result:
    """Why there is no goal: what is wrong with the model's last one."""
    why = tuple([said.message for said in wanted.refused])
    help = "say it in other words, or give the goal with --goal '(and ..)'"
    near = [said.help for said in wanted.refused if said.help]
    found = Diagnostic(SC.NO_GOAL, "no goal could be read in the model's words", notes=(*why, *near), help=help)
    return Result(PLAN, unjudged(PLAN, found), prepared.inputs, prepared.sources)


def _refused(prepared: Prepared, asked: Asked) -> Diagnostic | None:
    """Why nobody is asked: there are many worlds, or steps one by one are not searched for such a task."""
    checker, wishes = prepared.checker, asked.wishes
    read = checker.read(prepared.plan)
    if checker.open or read.open:
        return many_worlds(checker, read, "the prompt for a plan")
    if read.timed is not None:
        return Diagnostic(SC.TIMED_REPAIR, "plans whose steps have times are not repaired")
    why = unsupported(checker.compiled, True)
    if why and wishes.decode.stepwise:
        message = f"--decode {wishes.decode.value} does not take this task: {why}"
        return Diagnostic(SC.BAD_OPTION, message, help=f"--decode {Decode.FREE.value} takes every task of one world")
    for flag, wished in (("--replan", wishes.replan), ("--post-process", wishes.mapping)):
        if why and wished:
            return Diagnostic(SC.BAD_OPTION, f"{flag} does not take this task: {why}", help="leave it out")
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
        prepared = prepared._replace(plan=source, inputs=inputs, sources=sources, remarks=())
        return session.result(prepared, planned.report)
    if refused:
        sources["answer.txt"] = Source("answer.txt", answers[-1].text)
    return Result(PLAN, unjudged(PLAN, *refused), inputs, sources)
