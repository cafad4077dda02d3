"""Combine the options of a command with the project file; print the values for ``--show-config``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plansafe.app.options.option import UsageError
from plansafe.app.project.project_file import BadProject, find_project
from plansafe.app.project.shipped_files import named_in, shipped_spec
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.audit import Session, expand
from plansafe.app.session.configuration import InForce, in_force
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.system.process import complain, guarded
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.options.option import Options

_DISCOVERED = "found for each plan (docs/getting-started.md)"


class ProjectSelection(NamedTuple):
    """The named plans, and the options that concern the project file itself."""

    plans: Sequence[str] | None
    no_project: bool
    show_config: bool


def configure(
    options: Options, selection: ProjectSelection, settings: Settings, form: str, memory: int, forms: tuple[str, ...]
) -> InForce:
    """The values in force for a command. Raises ``SystemExit`` after ``--show-config`` and for an unreadable file."""
    if not selection.plans and not selection.show_config:
        raise UsageError("Missing argument 'PLAN..'.")
    try:
        project = None if selection.no_project else find_project()
    except BadProject as bad:
        raise SystemExit(print_diagnostics(bad.diagnostics, {bad.source.name: bad.source})) from None
    table = {name: option for name, option in options.table().items() if option.in_project}
    origins = {option.key: options.origin(name) for name, option in table.items() if name in options.set_by_user}
    keys = {option.key for option in table.values()}
    keys |= {"allow_in_plans"} if "ignore" in keys else set()  # it has no option
    configured = in_force(origins, keys, settings, form, memory, project, forms)
    for formula in settings.ltl:
        from plansafe.grammar.ltl import parse_ltl  # noqa: PLC0415 - for --ltl alone

        text = Source("--ltl", formula)
        if problems := parse_ltl(text).diagnostics:
            raise SystemExit(print_diagnostics(problems, {text.name: text}))
    if selection.show_config:
        raise SystemExit(guarded(lambda: _show(configured, selection.plans or [], options)))
    return configured


def with_flags(
    settings: Settings, ignored: Sequence[str], selected: Sequence[str], kinds: Sequence[str], harmless: Sequence[str]
) -> Settings:
    """Settings with the rules to ignore and to select, and with the kinds of classes of objects.

    Raises ``SystemExit`` if an option cannot be read.
    """
    if not (ignored or selected or kinds or harmless):
        return settings
    from plansafe.app.session.option_values import BadOption  # noqa: PLC0415 - for these options alone
    from plansafe.app.session.rule_choices import read_choices, read_classes  # noqa: PLC0415 - the same

    try:
        ignore, select = read_choices("--ignore", ignored), read_choices("--select", selected)
        classes = read_classes(kinds, harmless)
    except BadOption as bad:
        raise SystemExit(complain(bad.diagnostic)) from None
    return settings._replace(ignore=ignore, select=select, classes=classes)


def _show(configured: InForce, plans: Sequence[str], options: Options) -> int:
    """Print every setting with its origin, and the files that each plan would be checked with. Returns an exit code."""
    from plansafe.app.system.terminal_text import pad, visible  # noqa: PLC0415 - for --show-config alone

    project = configured.settings.project
    values = _value_texts(configured)
    print(f"project file: {visible(project.path) if project is not None else 'none'}")
    for name, option in options.table().items():
        if option.key and not option.in_project:
            value = getattr(options, name)
            values[option.key] = str(value).lower() if option.kind == "switch" else _value_text(value)
    origins = {
        option.key: options.origin(name) for name, option in options.table().items() if name in options.set_by_user
    }
    keys = [
        key for key in values if key in configured.keys or key in {option.key for option in options.table().values()}
    ]
    for key in keys:
        value = visible(values[key])
        print(f"  {pad(key, 16)}  {pad(value, 28)}  {visible({**origins, **configured.origins}.get(key, 'default'))}")
    session = Session(configured.settings)
    code = 0
    for plan in expand(plans, configured.settings):
        prepared = session.prepare(plan)
        print(f"plan {visible(plan)}")
        for input_file in prepared.inputs:
            if input_file.role not in ("plan", "project"):
                print(f"  {pad(input_file.role, 16)}  {pad(visible(input_file.path), 28)}  {visible(input_file.how)}")
                if input_file.how == "--ltl":
                    print(input_file.source.text, end="")
        if isinstance(prepared, Prepared):
            idle = [d for d in prepared.checker.diagnostics if d.code == SC.IDLE_EXEMPTION]
            print_diagnostics(idle, dict(prepared.sources))
        if isinstance(prepared, Result):
            errors = [d for d in prepared.report.diagnostics if d.severity is Severity.ERROR]
            code = max(code, print_diagnostics(errors, dict(prepared.sources)) if errors else 0)
    sys.stdout.flush()
    return code


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)


def _value_texts(configured: InForce) -> dict[str, str]:
    """The values as texts, by key."""
    settings, project = configured.settings, configured.settings.project
    files = {
        key: getattr(settings, key) or (project and getattr(project, key) and project.resolve(getattr(project, key)))
        for key in ("domain", "problem", "scene", "goal")
    }
    if settings.specs:
        specs = ", ".join(settings.specs)
    elif not settings.default_spec:
        specs = "none"
    elif project is not None and project.specifications is not None:
        specs = ", ".join([named_in(project, path, shipped_spec) for path in project.specifications]) or "none"
    else:
        specs = _DISCOVERED
    return {
        "domain": files["domain"] or _DISCOVERED,
        "problem": files["problem"] or _DISCOVERED,
        "specifications": specs,
        "world": settings.world or "none",
        "scene": files["scene"] or "none",
        "goal": files["goal"] or "none",
        "judge": settings.criteria.judge,
        "min_severity": settings.min_severity,
        "blame": ", ".join(settings.blame) or "all",
        "home": settings.home or "none",
        "ignore": ", ".join([choice.description.removeprefix("rule ") for choice in settings.ignore]) or "none",
        "select": ", ".join([choice.description.removeprefix("rule ") for choice in settings.select]) or "all",
        "baseline": settings.baseline or "none",
        "allow_in_plans": "true" if settings.allow_in_plans else "false",
        "format": configured.form,
        "limits.time": f"{settings.time_limit:g} s" if settings.time_limit else "none",
        "limits.memory": f"{configured.memory} MiB" if configured.memory else "none",
        "limits.findings": str(settings.max_findings),
        "limits.instances": str(settings.max_instances),
    }
