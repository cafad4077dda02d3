"""Rules that are ignored or selected, each with a reason: by flags, by the project file, by a comment in a plan.

Each becomes an entry of the profile of a home (docs/project-file.md) and means what such an entry means: what is
ignored is found, counted and shown, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from plansafe.app.session.model import Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.rules.home import SELECT, Entry, Profile
from plansafe.verifier.rules.kinds import ClassKinds

EXEMPT = "exempt"
FLAGS = {"--ignore": EXEMPT, "--select": SELECT}
KIND, HARMLESS = "--kind", "--assume-harmless"
MAX_ALLOWED = 1_000
"""Comments of one plan that are read."""
_COMMENT = r"(?mi);[; \t]*safecheck[ \t]*:[ \t]*(?P<said>allow\b[^\r\n]*)"
_ALLOW = r"(?i)allow[ \t]+(?P<rule>[^\s()\";]+)[ \t]+--[ \t]+(?P<reason>\S.*)"


def read_choices(flag: str, texts: Iterable[str]) -> tuple[Entry, ...]:
    """Read ``RULE: REASON`` of a flag. Raises :class:`BadOption`."""
    from plansafe.app.session.option_values import BadOption  # noqa: PLC0415 - which knows of repairs, too

    out = []
    for text in texts:
        rule, _, reason = (part.strip() for part in text.partition(":"))
        if not rule or not reason:
            example = f"{flag} 'heat-off: the oven has a timer'"
            raise BadOption(f"{flag} takes a rule and a reason, not {text[:100]!a}", f"such as {example}")
        out.append(entry(FLAGS[flag], rule, reason, Label(flag, Span(0, 0))))
    return tuple(out)


def read_classes(kinds: Iterable[str], harmless: Iterable[str]) -> tuple[ClassKinds, ...]:
    """Read ``CLASS=KIND,..`` of ``--kind``, and the classes of ``--assume-harmless``. Raises :class:`BadOption`."""
    from plansafe.app.session.option_values import BadOption  # noqa: PLC0415 - which knows of repairs, too

    out = []
    for text in kinds:
        name, _, rest = (part.strip().lower() for part in text.partition("="))
        several = tuple(dict.fromkeys([kind.strip() for kind in rest.split(",")]))
        if not name or not all(several):
            example = f"such as {KIND} bleach=toxic,liquid"
            raise BadOption(f"{KIND} takes a class and its kinds, not {text[:100]!a}", example)
        out.append(ClassKinds(name, several, "", Label(KIND, Span(0, 0)), True))
    for text in harmless:
        if not text.strip() or "=" in text or "," in text:
            raise BadOption(f"{HARMLESS} takes one class, not {text[:100]!a}", f"such as {HARMLESS} hair_dryer")
        out.append(ClassKinds(text.strip().lower(), (), "", Label(HARMLESS, Span(0, 0)), True))
    return tuple(out)


def entry(effect: str, rule: str, reason: str, place: Label) -> Entry:
    """An entry that means one rule, whatever it names."""
    return Entry(effect, (rule.lower(),), (), (), (), None, " ".join(reason.split()), place)


def with_choices(
    profile: Profile | None, settings: Settings, entries: Iterable[Entry], *texts: Source
) -> Profile | None:
    """A profile with the rules that are ignored and selected, in that order, and with the kinds of classes.

    ``None`` if there is nothing to add to no profile.
    """
    known = profile.entries if profile is not None else ()
    every = [one for one in (*settings.ignore, *settings.select, *entries) if one not in known]
    known_classes = profile.classes if profile is not None else ()
    classes = [one for one in settings.classes if one not in known_classes]
    if not every and not classes:
        return profile
    project = (settings.project.source,) if settings.project is not None else ()
    others = (*project, *texts, *[Source(flag, "") for flag in (*FLAGS, KIND, HARMLESS)])
    if profile is None:
        named = {one.name: one for one in others}
        profile = Profile(named[(every[0].place if every else classes[0].place).source])
    return profile._replace(entries=(*profile.entries, *every), others=others, classes=(*profile.classes, *classes))


def allowed(plan: Source, settings: Settings) -> tuple[tuple[Entry, ...], tuple[Diagnostic, ...]]:
    """Read ``; safecheck: allow RULE -- REASON`` in a plan in PDDL, which counts where the project file lets it.

    Entries, and what is said about the comments; there are no entries after a mistake.
    """
    found = list(_comments(plan))
    if found and (settings.gate or settings.certificate or not settings.allow_in_plans):
        return (), (_refused(found, settings),)
    entries, wrong = [], []
    for place, said in found:
        match = re.fullmatch(_ALLOW, said.strip())
        if match is None:
            message = "this comment allows no rule: it wants the name of a rule and a reason"
            wrong.append(Diagnostic(SC.BAD_ALLOWANCE, message, (place,), help="; safecheck: allow RULE -- REASON"))
        else:
            entries.append(entry(EXEMPT, match["rule"], match["reason"], place))
    if len(found) > MAX_ALLOWED:
        message = f"a plan allows at most {MAX_ALLOWED:,} rules"
        wrong.append(Diagnostic(SC.BAD_ALLOWANCE, message, (found[0][0],), help="write it in the project file"))
    return ((), tuple(wrong[:10])) if wrong else (tuple(entries), ())


def _comments(plan: Source) -> Iterable[tuple[Label, str]]:
    """Comments that begin so, each with its place: a text in PDDL has ``;`` in comments alone."""
    for number, match in enumerate(re.finditer(_COMMENT, plan.text)):
        if number > MAX_ALLOWED:
            return
        yield Label(plan.name, Span(*match.span("said"))), match["said"]


def _refused(found: list[tuple[Label, str]], settings: Settings) -> Diagnostic:
    several = "" if len(found) == 1 else f" ({len(found)} comments)"
    why, help = "no project file lets plans do so", "`allow_in_plans = true` in safecheck.toml, or --ignore"
    if settings.gate:
        why, help = "--gate takes no word of a plan", "--ignore 'RULE: REASON' is the word of who runs this"
    elif settings.certificate:
        why, help = "a certificate knows no comments of plans", "the profile of a home: --home FILE"
    return Diagnostic(
        SC.ALLOWANCE_REFUSED,
        f"the plan asks that a rule be allowed{several}, and it is not: {why}",
        (found[0][0],),
        help=help,
        severity=Severity.WARNING,
    )
