"""The command ``rules formalise``: write rules for sentences with a language model."""

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
from plansafe.app.system.process import complain, guarded, limit_memory, print_text, remark, standard_output, terminal
from plansafe.app.system.progress import tell
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.llm.prompts.formalising import LONGEST_SENTENCE, Language

if TYPE_CHECKING:
    from plansafe.llm.formalise.asking import FormaliseOptions
    from plansafe.llm.formalise.model import Formalised
    from plansafe.verifier.api import Checker

_DEFAULT_DOMAIN = "household"
_MAX_SENTENCES = 100
_MAX_SAMPLES = 50
_STDOUT = "-"


class Format(StrEnum):
    """Formats of the result."""

    FULL = "full"
    JSON = "json"


class FormaliseCommandOptions(ModelName, ModelServer, TaskFiles, TypeOptions, ColorOption, MemoryLimit, Assignments):
    """The options of ``rules formalise``."""

    sentences: tuple[str, ...] = argument(
        "[SENTENCE..]", "A sentence: what the robot must do, or must never do.", many=True
    )
    file: str | None = text(
        "--sentences", metavar="FILE", help="Read sentences from this file, one per line; a line with `#` is a comment."
    )
    language: Language = choice(
        "--language", values=Language, default=Language.RULES, help="Ask for rules, or for LTL formulas as in `--ltl`."
    )
    samples: int = integer(
        "--samples", default=5, low=1, high=_MAX_SAMPLES, help="Ask N times for each sentence.", key="formalise.samples"
    )
    rounds: int = integer(
        "--rounds",
        default=1,
        low=1,
        high=5,
        help="Ask at most N times until an answer is a rule.",
        set_key="formalise.rounds",
    )
    temperature: float = number(
        "--temperature",
        default=0.5,
        low=0,
        high=10,
        help="Sample answers with this temperature; 0: the most likely answer.",
        set_key="model.temperature",
    )
    max_tokens: int = integer(
        "--max-tokens",
        default=400,
        low=1,
        help="Limit an answer, reasoning included, to N tokens.",
        set_key="model.max_tokens",
    )
    seed: int = integer(
        "--seed", default=0, low=0, help="Use this seed for samples and random executions.", set_key="seed"
    )
    free: bool = switch("--free", help="Do not restrict answers to the grammar of rules.", set_key="formalise.free")
    unchecked: bool = switch(
        "--unchecked",
        help="Ask also if the domain seems to lack the words of a sentence.",
        set_key="formalise.unchecked",
    )
    walks: int = integer(
        "--walks",
        default=200,
        low=0,
        high=100_000,
        help="Compare rules on N random executions.",
        set_key="formalise.walks",
    )
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=3.0,
        low=0.1,
        high=600,
        help="Stop the linter and each search for a plan after SECONDS.",
        set_key="limits.time",
    )
    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the rules to a file, if every sentence has a rule (`-`: to standard output).",
    )
    form: Format = choice("--format", values=Format, default=Format.FULL, help="Write the result in this format.")


@command(FormaliseCommandOptions)
def formalise(options: FormaliseCommandOptions) -> int:
    """Turn each sentence into a safety rule: ask a language model several times, and group the answers by meaning.

    The report shows the rule with the most votes in words, with a plan that breaks it and a plan that keeps it. The
    rule has no effect until you add it with --spec. Exit codes: 0 a rule for each sentence, 1 a sentence cannot be
    expressed, 2 usage, unreadable file or no answer, 3 no rule has the most votes, 4 a bug in safecheck.
    """
    settings = Settings(domain=options.domain, problem=options.problem, lenient_types=options.lenient_types)
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.llm.formalise.asking import FormaliseOptions, Limits  # noqa: PLC0415 - loads the front-end for models

        limits = Limits(walks=options.walks, planner_s=options.time_limit, lint_s=options.time_limit, seed=options.seed)
        wishes = FormaliseOptions(
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
        request = _FormaliseRequest(
            tuple(options.sentences or ()),
            options.file,
            settings,
            options.model,
            options.base_url,
            options.cache,
            not options.no_cache,
        )
        return _formalise(request, wishes, _OutputOptions(options.output, options.form, options.color))

    return guarded(lambda: usable(settings, work))


class _FormaliseRequest(NamedTuple):
    """The sentences, the task in which rules are tried, and the model. ``keep``: store answers in the cache."""

    sentences: tuple[str, ...]
    file: str | None
    settings: Settings
    model: str
    base_url: str | None
    cache: str | None
    keep: bool


class _OutputOptions(NamedTuple):
    """Where the rules are written, and the format and colours of the report."""

    rules: str | None
    form: Format
    color: str


def _formalise(request: _FormaliseRequest, wishes: FormaliseOptions, output_options: _OutputOptions) -> int:
    """Ask the model and print the results. Write the rules after all sentences, if each sentence has a rule."""
    from plansafe.llm.formalise.model import specification  # noqa: PLC0415 - for this command alone
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415

    recorded = request.model.removeprefix("replay/") if request.model.startswith("replay/") else None
    input_paths = [path for path in (request.file, recorded, request.cache) if path is not None]
    discovery = Discovery(Choice())
    sentences = _sentences(request, discovery)
    task = _task(request.settings, discovery)
    if isinstance(task, Diagnostic):
        return complain(task)
    checker, task_paths = task
    protected = guard([*input_paths, *task_paths], request.settings)
    rules_path = _STDOUT if output_options.rules in STANDARD_OUTPUT else output_options.rules
    path_problem = unwritten(rules_path, protected)
    if path_problem is not None:
        raise NotWritten(path_problem)
    if not checker.ok:
        return complain(next(d for d in checker.diagnostics if d.severity is Severity.ERROR))
    unsupported = unfit(checker)
    if unsupported is not None:
        return complain(unsupported)
    try:
        results = _formalise_each(sentences, checker, request, wishes)
    except ModelError as error:
        return complain(error.diagnostic)
    written_to = None
    if rules_path is not None and all([result.rule is not None for result in results]):
        specification_text = specification(results, checker.engine.task.name, request.model)
        written_to = rules_path
        if rules_path == _STDOUT:
            print_text(specification_text)
        else:
            remark(save(rules_path, specification_text, protected))
    _print(results, request, wishes, written_to, output_options)
    return combined_exit_code([result.exit_code for result in results])


def _print(
    results: list[Formalised],
    request: _FormaliseRequest,
    wishes: FormaliseOptions,
    written_to: str | None,
    output_options: _OutputOptions,
) -> None:
    from plansafe.app.render.formalised import (  # noqa: PLC0415 - loads the front-end for models
        FormalisedJsonRenderer,
        FormalisedRenderer,
    )

    stream = sys.stderr if written_to == _STDOUT else standard_output()
    if output_options.form is Format.JSON:
        stream.write(FormalisedJsonRenderer().results(results, request.model, wishes, written_to))
    else:
        stream.write(
            FormalisedRenderer(terminal(output_options.color, stream)).results(
                results, request.model, wishes, written_to
            )
        )
    stream.flush()


def _formalise_each(
    sentences: list[str], checker: Checker, request: _FormaliseRequest, wishes: FormaliseOptions
) -> list[Formalised]:
    """The result for each sentence. Raises :class:`plansafe.llm.models.port.ModelError`."""
    from plansafe.llm.formalise.formaliser import formalise as formalise_sentence  # noqa: PLC0415 - loads planners and the linter
    from plansafe.llm.models.providers import Settings as ModelSettings  # noqa: PLC0415
    from plansafe.llm.models.providers import opened  # noqa: PLC0415

    settings = ModelSettings(request.base_url, seed=wishes.seed)
    with opened(request.model, settings, request.cache, keep=request.keep) as (model, cache):
        try:
            results = []
            for number, sentence in enumerate(sentences, 1):
                tell(f"formalising {number} of {len(sentences)} ..")
                results.append(formalise_sentence(sentence, checker.compiled, model, wishes, cache))
            return results
        finally:
            tell("")


def _sentences(request: _FormaliseRequest, discovery: Discovery) -> list[str]:
    """The sentences of the command line, then of the file. Raises :class:`BadOption`, :class:`NotWritten`."""
    sentences = list(request.sentences)
    if request.file is not None:
        sentence_file = discovery.read(request.file, "file", "--sentences")
        if isinstance(sentence_file, Diagnostic):
            raise NotWritten(sentence_file)
        lines = [line.strip() for line in sentence_file.source.text.splitlines()]
        sentences += [line for line in lines if line and not line.startswith("#")]
    if not sentences:
        raise BadOption("no sentence to formalise is given", 'example: safecheck rules formalise -m MODEL "never .."')
    if len(sentences) > _MAX_SENTENCES:
        raise BadOption(f"{len(sentences):,} sentences are given, and a run takes at most {_MAX_SENTENCES}")
    if any([len(sentence) > LONGEST_SENTENCE for sentence in sentences]):
        raise BadOption(f"a sentence has at most {LONGEST_SENTENCE} characters", "write one sentence for each rule")
    return sentences


def _task(settings: Settings, discovery: Discovery) -> tuple[Checker, list[str]] | Diagnostic:
    """The task in which rules are tried, and the paths of its files."""
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
            message = "rules are tried in a problem, and no problem is named"
            return Diagnostic(SC.NO_PROBLEM, message, help="name a problem of this domain with --problem FILE")
        problem = discovery.read(home, "problem", "shipped")
        if isinstance(problem, Diagnostic):
            return problem
    options = Options(lenient_types=settings.lenient_types, replay="never")
    return Checker(domain.source, problem.source, (), options), [domain.path, problem.path]


def _domain(domain: str | None, problem: Input | None, discovery: Discovery) -> Input | Diagnostic:
    """The domain that the user names; else the domain that the problem names; else the default domain."""
    if domain is None and problem is not None:
        problem_heading = heading(problem.source.text)
        nearby_domain = (
            discovery.find(problem, Heading(Kind.PLAN, None, problem_heading.domain)).domain
            if problem_heading.domain
            else None
        )
        if nearby_domain is not None:
            return nearby_domain
        message = f"no domain found for {problem.path}"
        return Diagnostic(SC.NO_DOMAIN, message, help="name it with --domain FILE")
    return discovery.read(shipped_or_file(domain or _DEFAULT_DOMAIN), "domain", "--domain")


def _is_shipped(path: str) -> bool:
    from plansafe.domains import domain_names, domain_path  # noqa: PLC0415 - where no problem is named

    return os.path.realpath(path) in [os.path.realpath(domain_path(name)) for name in domain_names()]
