"""The command ``formalise``: rules of sentences by a language model, shown in words and with plans."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.options.option import argument, choice, command, integer, number, switch, text
from plansafe.app.options.shared import (
    Assignments,
    ColorOption,
    MemoryLimit,
    ModelName,
    ModelServer,
    TaskFiles,
    TypeOptions,
)
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.project.shipped_files import shipped_or_file
from plansafe.app.session.audit import combined_exit_code, guard
from plansafe.app.session.formalisation import unfit
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import STANDARD_OUTPUT, NotWritten, save
from plansafe.app.system.file_writing import problem as unwritten
from plansafe.app.system.process import (
    complain,
    guarded,
    limit_memory,
    print_text,
    remark,
    standard_output,
    terminal,
)
from plansafe.app.system.progress import tell
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.llm.prompts.formalising import LONGEST_SENTENCE, Language

if TYPE_CHECKING:
    from plansafe.llm.formalise.asking import Wishes
    from plansafe.llm.formalise.model import Formalised
    from plansafe.verifier.api import Checker

_USUAL = "household"
_MOST_SENTENCES = 100
_MOST_SAMPLES = 50
_STDOUT = "-"


class Format(StrEnum):
    """How the result is written."""

    FULL = "full"
    JSON = "json"


class FormaliseOptions(ModelName, ModelServer, TaskFiles, TypeOptions, ColorOption, MemoryLimit, Assignments):
    """The options of ``rules formalise``."""

    sentences: tuple[str, ...] = argument("[SENTENCE..]", "What the robot must do, or must never do.", many=True)
    file: str | None = text(
        "--sentences", metavar="FILE", help="Read sentences from this file, one a line; `#`: a comment."
    )
    language: Language = choice(
        "--language",
        values=Language,
        default=Language.RULES,
        help="Ask for rules, or for formulas as `--ltl` takes them.",
    )
    samples: int = integer(
        "--samples",
        metavar="N",
        default=5,
        low=1,
        high=_MOST_SAMPLES,
        help="Ask N times for each sentence.",
        key="formalise.samples",
        only_set=True,
    )
    rounds: int = integer(
        "--rounds",
        metavar="N",
        default=1,
        low=1,
        high=5,
        help="Ask at most N times for an answer that is a rule.",
        key="formalise.rounds",
        only_set=True,
    )
    temperature: float = number(
        "--temperature",
        default=0.5,
        low=0,
        high=10,
        help="Draw answers with this temperature; 0: the likeliest.",
        key="model.temperature",
        only_set=True,
    )
    max_tokens: int = integer(
        "--max-tokens",
        metavar="N",
        default=400,
        low=1,
        help="Limit an answer, reasoning included, to N tokens.",
        key="model.max_tokens",
        only_set=True,
    )
    seed: int = integer(
        "--seed",
        metavar="N",
        default=0,
        low=0,
        help="Draw samples and random executions with this seed.",
        key="seed",
        only_set=True,
    )
    free: bool = switch(
        "--free",
        help="Accept answers outside of the grammar of rules.",
        key="formalise.free",
        only_set=True,
    )
    unchecked: bool = switch(
        "--unchecked",
        help="Ask also where the domain seems to have no words for a sentence.",
        key="formalise.unchecked",
        only_set=True,
    )
    walks: int = integer(
        "--walks",
        metavar="N",
        default=200,
        low=0,
        high=100_000,
        help="Compare rules on N random executions.",
        key="formalise.walks",
        only_set=True,
    )
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=3.0,
        low=0.1,
        high=600,
        help="Stop the linter and each search of a plan after SECONDS.",
        key="limits.time",
        only_set=True,
    )
    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the rules to a file, if every sentence has one (`-`: to standard output).",
    )
    form: Format = choice("--format", values=Format, default=Format.FULL, help="Write the result in this format.")


@command(FormaliseOptions)
def formalise(options: FormaliseOptions) -> int:
    """Ask a language model for the rule that a sentence means: several samples, grouped by what they mean.

    The rule with the most votes is shown in words, with a plan that breaks it and one that keeps it; nothing uses it
    until you add it with --spec. Exit codes: 0 a rule for each sentence, 1 a sentence cannot be expressed, 2 usage,
    unreadable file or no answer, 3 no rule has the most votes, 4 a bug in safecheck.
    """
    settings = Settings(domain=options.domain, problem=options.problem, lenient_types=options.lenient_types)
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.llm.formalise.asking import Limits, Wishes  # noqa: PLC0415 - loads the front-end for models

        limits = Limits(walks=options.walks, planner_s=options.time_limit, lint_s=options.time_limit, seed=options.seed)
        wishes = Wishes(
            options.language,
            options.samples,
            options.temperature,
            options.max_tokens,
            options.seed,
            options.rounds,
            not options.free,
            not options.unchecked,
            limits,
        )
        asked = _Asked(
            tuple(options.sentences or ()),
            options.file,
            settings,
            options.model,
            options.base_url,
            options.cache,
            not options.no_cache,
        )
        return _formalised(asked, wishes, _Out(options.output, options.form, options.color))

    return guarded(lambda: usable(settings, work))


class _Asked(NamedTuple):
    """What is to be formalised, where, and by whom."""

    sentences: tuple[str, ...]
    file: str | None
    settings: Settings
    model: str
    base_url: str | None
    cache: str | None
    keep: bool


class _Out(NamedTuple):
    """Where things are written, and how."""

    rules: str | None
    form: Format
    color: str


def _formalised(asked: _Asked, wishes: Wishes, out: _Out) -> int:
    """Ask, print, write: the rules only if there is one for each sentence, and only when all is done."""
    from plansafe.llm.formalise.specification import specification  # noqa: PLC0415 - for this command alone
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415

    recorded = asked.model.removeprefix("replay/") if asked.model.startswith("replay/") else None
    read = [path for path in (asked.file, recorded, asked.cache) if path is not None]
    discovery = Discovery(Choice())
    sentences = _sentences(asked, discovery)
    task = _task(asked.settings, discovery)
    if isinstance(task, Diagnostic):
        return complain(task)
    checker, used = task
    kept = guard([*read, *used], asked.settings)
    place = _STDOUT if out.rules in STANDARD_OUTPUT else out.rules
    wrong = unwritten(place, kept)
    if wrong is not None:
        raise NotWritten(wrong)
    if not checker.ok:
        return complain(next(d for d in checker.diagnostics if d.severity is Severity.ERROR))
    refused = unfit(checker)
    if refused is not None:
        return complain(refused)
    try:
        found = _asked_each(sentences, checker, asked, wishes)
    except ModelError as error:
        return complain(error.diagnostic)
    written = None
    if place is not None and all([one.rule is not None for one in found]):
        text = specification(found, checker.engine.task.name, asked.model)
        written = place
        if place == _STDOUT:
            print_text(text)
        else:
            remark(save(place, text, kept))
    _print(found, asked, wishes, written, out)
    return combined_exit_code([one.exit_code for one in found])


def _print(found: list[Formalised], asked: _Asked, wishes: Wishes, written: str | None, out: _Out) -> None:
    from plansafe.app.render.formalised import (  # noqa: PLC0415 - loads what a model's rules are made of
        FormalisedJsonRenderer,
        FormalisedRenderer,
    )

    stream = sys.stderr if written == _STDOUT else standard_output()
    if out.form is Format.JSON:
        stream.write(FormalisedJsonRenderer().results(found, asked.model, wishes, written))
    else:
        stream.write(FormalisedRenderer(terminal(out.color, stream)).results(found, asked.model, wishes, written))
    stream.flush()


def _asked_each(sentences: list[str], checker: Checker, asked: _Asked, wishes: Wishes) -> list[Formalised]:
    """What comes of each sentence. Raises :class:`plansafe.llm.models.port.ModelError`."""
    from plansafe.llm.formalise.formaliser import formalise as look  # noqa: PLC0415 - loads planners and the linter
    from plansafe.llm.models.opening import opened  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings as ModelSettings  # noqa: PLC0415

    settings = ModelSettings(asked.base_url, seed=wishes.seed)
    with opened(asked.model, settings, asked.cache, keep=asked.keep) as (model, cache):
        try:
            found = []
            for number, sentence in enumerate(sentences, 1):
                tell(f"formalising {number} of {len(sentences)} ..")
                found.append(look(sentence, checker.compiled, model, wishes, cache))
            return found
        finally:
            tell("")


def _sentences(asked: _Asked, discovery: Discovery) -> list[str]:
    """The sentences of the command line, then those of the file. Raises :class:`BadOption`, :class:`NotWritten`."""
    found = list(asked.sentences)
    if asked.file is not None:
        read = discovery.read(asked.file, "file", "--sentences")
        if isinstance(read, Diagnostic):
            raise NotWritten(read)
        lines = [line.strip() for line in read.source.text.splitlines()]
        found += [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise BadOption("there is no sentence to formalise", 'safecheck rules formalise -m MODEL "never .."')
    if len(found) > _MOST_SENTENCES:
        raise BadOption(f"at most {_MOST_SENTENCES} sentences are formalised in one run, and there are {len(found):,}")
    if any([len(sentence) > LONGEST_SENTENCE for sentence in found]):
        raise BadOption(f"a sentence has at most {LONGEST_SENTENCE} characters", "one sentence is one rule")
    return found


def _task(settings: Settings, discovery: Discovery) -> tuple[Checker, list[str]] | Diagnostic:
    """The task in which rules are tried, and the files that it is made of."""
    from plansafe.llm.formalise.home import home_path  # noqa: PLC0415 - for this command alone
    from plansafe.verifier.api import Checker, Options  # noqa: PLC0415

    problem = discovery.read(settings.problem, "problem", "--problem") if settings.problem is not None else None
    if isinstance(problem, Diagnostic):
        return problem
    domain = _domain(settings.domain, problem, discovery)
    if isinstance(domain, Diagnostic):
        return domain
    if problem is None:
        name = (heading(domain.source.text).name or "") if _is_shipped(domain.path) else ""
        home = home_path(name)
        if home is None:
            message = "rules are tried out in a problem, and none is named"
            return Diagnostic(SC.NO_PROBLEM, message, help="name one of this domain with --problem FILE")
        problem = discovery.read(home, "problem", "shipped")
        if isinstance(problem, Diagnostic):
            return problem
    options = Options(lenient_types=settings.lenient_types, replay="never")
    return Checker(domain.source, problem.source, (), options), [domain.path, problem.path]


def _domain(given: str | None, problem: Input | None, discovery: Discovery) -> Input | Diagnostic:
    """The domain: as given, else that which the problem names, else the usual one."""
    if given is None and problem is not None:
        said = heading(problem.source.text)
        near = discovery.find(problem, Heading(Kind.PLAN, None, said.domain)).domain if said.domain else None
        if near is not None:
            return near
        message = f"no domain found for {problem.path}"
        return Diagnostic(SC.NO_DOMAIN, message, help="name it with --domain FILE")
    return discovery.read(shipped_or_file(given or _USUAL), "domain", "--domain")


def _is_shipped(path: str) -> bool:
    from plansafe.domains import domain_names, domain_path  # noqa: PLC0415 - where no problem is named

    return os.path.realpath(path) in [os.path.realpath(domain_path(name)) for name in domain_names()]
