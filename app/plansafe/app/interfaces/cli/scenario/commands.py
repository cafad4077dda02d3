"""The commands ``scenario check`` and ``scenario fix``: check scenarios, and correct them by rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from plansafe.app.options.option import argument, changed, choice, command, integer, number, switch, text
from plansafe.app.options.shared import Assignments, ColorOption, MemoryLimit, SpecFiles, TypeOptions
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.option_values import BadOption, check_time_limit
from plansafe.app.session.scenario_files import FoundScenario, ScenarioChoice, ScenarioFiles, Unusable
from plansafe.app.system.file_writing import NotWritten, save_folder, unwritable
from plansafe.app.system.process import complain, guarded, limit_memory, standard_output, terminal
from plansafe.app.system.progress import tell
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.llm.scenarios.validation.model import CRITERIA, PROFILES, Fixed, Limits, Profile

if TYPE_CHECKING:
    from plansafe.grammar.source import Source


class Form(StrEnum):
    """How results are written."""

    FULL = "full"
    JSON = "json"


class ProfileName(StrEnum):
    """Which criteria count."""

    SAFEL = "safel"
    SAFEL_MALICIOUS = "safel-malicious"
    EXECUTABLE = "executable"


class ScenarioOptions(SpecFiles, TypeOptions, ColorOption, MemoryLimit, Assignments, group="Criteria"):
    """The options of ``scenario check``, which ``scenario fix`` has too."""

    scenarios: tuple[str, ...] = argument(
        "SCENARIO..", "Folders that hold a problem, or problem files.", many=True, required=True
    )
    base: str | None = text("--base", metavar="NAME|FILE", help="Use this domain; the scenario's own one extends it.")
    profile: ProfileName = choice(
        "--profile", values=ProfileName, default=ProfileName.SAFEL, help="Apply the criteria of this profile."
    )
    skip: tuple[str, ...] = text(
        "--skip", metavar="CRITERION", many=True, help="Leave this criterion out. May be repeated."
    )
    min_steps: int = integer(
        "--min-steps", default=5, low=0, help="Require plans of at least N steps.", set_key="scenario.min_steps"
    )
    max_ways: int = integer(
        "--max-ways",
        default=1,
        low=1,
        help="Allow at most N different plans for the goal.",
        set_key="scenario.max_ways",
    )
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=10.0,
        low=0,
        help="Stop each search after SECONDS.",
        set_key="limits.time",
    )
    form: Form = choice("--format", values=Form, default=Form.FULL, help="Write the result in this format.")


class CheckOptions(ScenarioOptions):
    """The options of ``scenario check``."""


class FixOptions(ScenarioOptions, group="Output"):
    """The options of ``scenario fix``."""

    profile: ProfileName = changed(
        ScenarioOptions.profile,
        default=ProfileName.EXECUTABLE,
        help="Check the corrected scenario by the criteria of this profile.",
    )
    output: str | None = text(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Write the corrected scenario to a new folder (several scenarios: to a folder in it for each).",
    )
    diff: bool = switch("--diff", help="Print the changes as a unified diff, and nothing else.")


@command(CheckOptions)
def check(options: CheckOptions) -> int:
    """Say of each criterion whether a scenario meets it.

    The criteria: declared, actions, solvable, contrast, steps, unique, references.

    Exit codes: 0 all criteria met, 1 some violated, 2 usage or no scenario, 3 none violated and some not known, 4 a bug
    in safecheck. Of several scenarios the first present of 4, 2, 1, 3, 0.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.render.scenario import ScenarioRenderer, checked_object  # noqa: PLC0415 - not for --help
        from plansafe.llm.scenarios.validation.check import check as judge  # noqa: PLC0415

        criteria_profile = _profile(options.profile, options.skip, options.min_steps, options.max_ways)
        files = ScenarioFiles(ScenarioChoice(options.base, tuple(options.spec or ()), not options.no_default_spec))
        stream = standard_output()
        view = ScenarioRenderer(terminal(options.color, stream))

        def check_scenario(target: FoundScenario) -> int:
            report = judge(
                target.scenario,
                criteria_profile,
                Limits(time_s=check_time_limit(options.time_limit)),
                files.resolve,
                lenient_types=options.lenient_types,
            )
            tell("")
            stream.write(checked_object(target, report) if options.form is Form.JSON else view.checked(target, report))
            return report.exit_code

        return _process_scenarios(files.find(options.scenarios), check_scenario)

    return guarded(lambda: _run_reporting_errors(work))


@command(FixOptions)
def fix(options: FixOptions) -> int:
    """Correct by rule what can be corrected, say what cannot, and judge the result.

    The files themselves stay as they are. Exit codes are those of `safecheck bench scenario check`, of the corrected
    scenario.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.render.scenario import ScenarioRenderer, difference, fixed_object  # noqa: PLC0415 - as above
        from plansafe.llm.scenarios.validation.fix import fix as correct  # noqa: PLC0415

        if options.output is not None and options.diff:
            raise BadOption("--diff writes nothing, so there is nothing for --output", "leave one of them out")
        criteria_profile = _profile(options.profile, options.skip, options.min_steps, options.max_ways)
        files = ScenarioFiles(
            ScenarioChoice(options.base, tuple(options.spec or ()), not options.no_default_spec), broken=True
        )
        targets = list(files.find(options.scenarios))
        folders = _folders(options.output, [target for target in targets if isinstance(target, FoundScenario)])
        stream = standard_output()
        view = ScenarioRenderer(terminal(options.color, stream))

        def fix_scenario(target: FoundScenario) -> int:
            domain_path = os.path.join(target.folder, "domain.pddl")
            fixed = correct(
                target.scenario,
                criteria_profile,
                Limits(time_s=check_time_limit(options.time_limit)),
                files.resolve,
                new_domain=domain_path,
                lenient_types=options.lenient_types,
            )
            tell("")
            written = folders.get(target.scenario.name)
            if written is not None:
                problem = _write(written, fixed)
                if problem is not None:
                    return complain(problem)
            if options.diff:
                stream.write(difference(fixed))
            elif options.form is Form.JSON:
                stream.write(fixed_object(target, fixed, written))
            else:
                stream.write(view.fixed(target, fixed, written))
            return fixed.report.exit_code

        return _process_scenarios(targets, fix_scenario)

    return guarded(lambda: _run_reporting_errors(work))


def _process_scenarios(targets: Iterable[FoundScenario | Unusable], process: Callable[[FoundScenario], int]) -> int:
    codes = set()
    for target in targets:
        if isinstance(target, Unusable):
            codes.add(complain(target.diagnostic))
            continue
        tell("asking planners ..")
        codes.add(process(target))
        sys.stdout.flush()
    return combined_exit_code(codes)


def _run_reporting_errors(work: Callable[[], int]) -> int:
    try:
        return work()
    except BadOption as bad:
        return complain(bad.diagnostic)
    except BrokenPipeError:
        raise
    except OSError as error:
        return complain(unwritable("standard output", error))


def _profile(name: ProfileName, skip: Sequence[str], min_steps: int, max_ways: int) -> Profile:
    """The profile with the changes of the options. Raises :class:`BadOption` for an unknown criterion."""
    for criterion in skip:
        if criterion not in CRITERIA:
            hint = suggest_name(criterion.lower(), CRITERIA) or f"criteria are: {', '.join(CRITERIA)}"
            raise BadOption(f"{criterion!a} is not a criterion", hint)
    base_profile = PROFILES[name.value]
    remaining = base_profile.criteria - frozenset(skip)
    if not remaining:
        raise BadOption("every criterion is skipped", "keep one")
    return base_profile._replace(criteria=remaining, min_steps=min_steps, max_ways=max_ways)


# -- writing ----------------------------------------------------------------------------------------------------------


def _folders(output: str | None, targets: list[FoundScenario]) -> dict[str, str]:
    """The output folder of each scenario. Raises :class:`BadOption` if a folder exists and is not empty."""
    if output is None:
        return {}
    if len(targets) == 1:
        folders = {targets[0].scenario.name: output}
    else:
        names = [os.path.splitext(os.path.basename(os.path.normpath(f.scenario.name)))[0] for f in targets]
        if len(set(names)) < len(names):
            raise BadOption("scenarios of one name would be written to one folder", "correct them one by one")
        folders = {f.scenario.name: os.path.join(output, name) for f, name in zip(targets, names, strict=True)}
    for folder in folders.values():
        if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
            raise BadOption(f"cannot write {folder}: it is there already", "name a folder that is new, or empty")
    return folders


def _write(folder: str, fixed: Fixed) -> Diagnostic | None:
    """Write all files of a scenario to a new folder, atomically."""
    scenario = fixed.scenario
    texts = [scenario.problem, *([scenario.domain] if scenario.domain is not None else [])]
    texts += [*scenario.plans, *[spec for spec in scenario.specs if _is_in_same_folder(spec, scenario.problem)]]
    try:
        save_folder(folder, [(os.path.basename(text.name), text.text) for text in texts])
    except NotWritten as refused:
        return refused.diagnostic
    return None


def _is_in_same_folder(text: Source, problem: Source) -> bool:
    return os.path.dirname(os.path.abspath(text.name)) == os.path.dirname(os.path.abspath(problem.name))
