"""The settings of a command from its flags and the project file; and ``--show-config``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

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
from plansafe.grammar.ltl_rules import LTL_NAME
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.options.option import Options

_LOOKED_FOR = "looked for (docs/getting-started.md)"


class Asked(NamedTuple):
    """Flags that are about the project file itself, and the plans that were named."""

    plans: Sequence[str] | None
    no_project: bool
    show_config: bool


def configure(
    options: Options, asked: Asked, settings: Settings, form: str, memory: int, forms: tuple[str, ...]
) -> InForce:
    """What a command is to work with. Raises ``SystemExit`` where it is only shown, or where it cannot be read."""
    if not asked.plans and not asked.show_config:
        raise UsageError("Missing argument 'PLAN..'.")
    try:
        project = None if asked.no_project else find_project()
    except BadProject as bad:
        raise SystemExit(print_diagnostics(bad.diagnostics, {bad.source.name: bad.source})) from None
    table = {name: option for name, option in options.table().items() if option.in_project}
    given = {option.key: options.origin(name) for name, option in table.items() if name in options.given}
    known = {option.key for option in table.values()}
    known |= {"allow_in_plans"} if "ignore" in known else set()  # which no flag says
    now = in_force(given, known, settings, form, memory, project, forms)
    for formula in settings.ltl:
        from plansafe.grammar.ltl import translate  # noqa: PLC0415 - for --ltl alone

        text = Source("--ltl", formula)
        if wrong := translate(text).diagnostics:
            raise SystemExit(print_diagnostics(wrong, {text.name: text}))
    if asked.show_config:
        raise SystemExit(guarded(lambda: _show(now, asked.plans or [], options)))
    return now


def with_flags(
    settings: Settings,
    ignored: Sequence[str],
    selected: Sequence[str],
    kinds: Sequence[str],
    harmless: Sequence[str],
) -> Settings:
    """Settings with the rules that flags ignore and select, and with the kinds that they give classes of objects.

    Raises ``SystemExit`` where they cannot be read.
    """
    if not (ignored or selected or kinds or harmless):
        return settings
    from plansafe.app.session.option_values import BadOption  # noqa: PLC0415 - where there are some
    from plansafe.app.session.rule_choices import read_choices, read_classes  # noqa: PLC0415 - the same

    try:
        ignore, select = read_choices("--ignore", ignored), read_choices("--select", selected)
        classes = read_classes(kinds, harmless)
    except BadOption as bad:
        raise SystemExit(complain(bad.diagnostic)) from None
    return settings._replace(ignore=ignore, select=select, classes=classes)


def _show(now: InForce, plans: Sequence[str], options: Options) -> int:
    """Print every setting with its origin, and what each plan would be checked with. An exit code."""
    from plansafe.app.system.terminal_text import pad, visible  # noqa: PLC0415 - where something is shown

    project = now.settings.project
    values = _values(now)
    print(f"project file: {visible(project.path) if project is not None else 'none'}")
    for name, option in options.table().items():
        if option.key and not option.in_project:
            value = getattr(options, name)
            values[option.key] = str(value).lower() if option.kind == "switch" else _shown(value)
    origins = {option.key: options.origin(name) for name, option in options.table().items() if name in options.given}
    keys = [key for key in values if key in now.keys or key in {option.key for option in options.table().values()}]
    for key in keys:
        value = visible(values[key])
        print(f"  {pad(key, 16)}  {pad(value, 28)}  {visible({**origins, **now.origins}.get(key, 'default'))}")
    session = Session(now.settings)
    code = 0
    for plan in expand(plans, now.settings):
        done = session.prepare(plan)
        print(f"plan {visible(plan)}")
        for found in done.inputs:
            if found.role not in ("plan", "project"):
                print(f"  {pad(found.role, 16)}  {pad(visible(found.path), 28)}  {visible(found.how)}")
                if found.path == LTL_NAME:
                    print(found.source.text, end="")
        if isinstance(done, Prepared):
            idle = [d for d in done.checker.diagnostics if d.code == SC.IDLE_EXEMPTION]
            print_diagnostics(idle, dict(done.sources))
        if isinstance(done, Result):
            errors = [d for d in done.report.diagnostics if d.severity is Severity.ERROR]
            code = max(code, print_diagnostics(errors, dict(done.sources)) if errors else 0)
    sys.stdout.flush()
    return code


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)


def _values(now: InForce) -> dict[str, str]:
    """The values in words, by key."""
    settings, project = now.settings, now.settings.project
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
        specs = _LOOKED_FOR
    return {
        "domain": files["domain"] or _LOOKED_FOR,
        "problem": files["problem"] or _LOOKED_FOR,
        "specifications": specs,
        "world": settings.world or "none",
        "scene": files["scene"] or "none",
        "goal": files["goal"] or "none",
        "judge": settings.question.judge,
        "min_severity": settings.min_severity,
        "blame": ", ".join(settings.blame) or "all",
        "home": settings.home or "none",
        "ignore": ", ".join([one.said.removeprefix("rule ") for one in settings.ignore]) or "none",
        "select": ", ".join([one.said.removeprefix("rule ") for one in settings.select]) or "all",
        "baseline": settings.baseline or "none",
        "allow_in_plans": "true" if settings.allow_in_plans else "false",
        "format": now.form,
        "limits.time": f"{settings.time_limit:g} s" if settings.time_limit else "none",
        "limits.memory": f"{now.memory} MiB" if now.memory else "none",
        "limits.findings": str(settings.max_findings),
        "limits.instances": str(settings.max_instances),
    }
