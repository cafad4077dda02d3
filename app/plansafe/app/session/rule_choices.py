"""Ignore or select rules, each with a reason, by options, the project file or comments in a plan.

Each choice becomes an entry of the home profile (docs/project-file.md) with the same meaning: findings of ignored rules
are reported and counted, but do not affect the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from plansafe.app.session.model import Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.rules.home_profile import SELECT, EntryEffect, HomeProfile, ProfileEntry
from plansafe.verifier.rules.kinds import ClassKinds

EXEMPT: EntryEffect = "exempt"
FLAGS: dict[str, EntryEffect] = {"--ignore": EXEMPT, "--select": SELECT}
KIND, HARMLESS = "--kind", "--assume-harmless"
MAX_ALLOWED = 1_000
"""Maximum number of comments of a plan that are read."""
_COMMENT = r"(?mi);[; \t]*safecheck[ \t]*:[ \t]*(?P<comment>allow\b[^\r\n]*)"
_ALLOW = r"(?i)allow[ \t]+(?P<rule>[^\s()\";]+)[ \t]+--[ \t]+(?P<reason>\S.*)"


def read_choices(flag: str, texts: Iterable[str]) -> tuple[ProfileEntry, ...]:
    """Read the values ``RULE: REASON`` of an option. Raises :class:`BadOption`."""
    from plansafe.app.session.option_values import BadOption  # noqa: PLC0415 - it loads the repair options

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
    from plansafe.app.session.option_values import BadOption  # noqa: PLC0415 - it loads the repair options

    out = []
    for text in kinds:
        name, _, kinds_text = (part.strip().lower() for part in text.partition("="))
        class_kinds = tuple(dict.fromkeys([kind.strip() for kind in kinds_text.split(",")]))
        if not name or not all(class_kinds):
            example = f"such as {KIND} bleach=toxic,liquid"
            raise BadOption(f"{KIND} takes a class and its kinds, not {text[:100]!a}", example)
        out.append(ClassKinds(name, class_kinds, "", Label(KIND, Span(0, 0)), True))
    for text in harmless:
        if not text.strip() or "=" in text or "," in text:
            raise BadOption(f"{HARMLESS} takes one class, not {text[:100]!a}", f"such as {HARMLESS} hair_dryer")
        out.append(ClassKinds(text.strip().lower(), (), "", Label(HARMLESS, Span(0, 0)), True))
    return tuple(out)


def entry(effect: EntryEffect, rule: str, reason: str, place: Label) -> ProfileEntry:
    """An entry for a rule, without further conditions."""
    return ProfileEntry(effect, (rule.lower(),), (), (), (), None, " ".join(reason.split()), place)


def with_choices(
    profile: HomeProfile | None, settings: Settings, entries: Iterable[ProfileEntry], *texts: Source
) -> HomeProfile | None:
    """Add ignored rules, selected rules and kinds of classes to a profile.

    Returns ``None`` if there is neither a profile nor a choice.
    """
    known_entries = profile.entries if profile is not None else ()
    new_entries = [choice for choice in (*settings.ignore, *settings.select, *entries) if choice not in known_entries]
    known_classes = profile.classes if profile is not None else ()
    classes = [choice for choice in settings.classes if choice not in known_classes]
    if not new_entries and not classes:
        return profile
    project = (settings.project.source,) if settings.project is not None else ()
    sources = (*project, *texts, *[Source(flag, "") for flag in (*FLAGS, KIND, HARMLESS)])
    if profile is None:
        source_by_name = {choice.name: choice for choice in sources}
        profile = HomeProfile(source_by_name[(new_entries[0].place if new_entries else classes[0].place).source])
    return profile._replace(
        entries=(*profile.entries, *new_entries), entry_sources=sources, classes=(*profile.classes, *classes)
    )


def allowed(plan: Source, settings: Settings) -> tuple[tuple[ProfileEntry, ...], tuple[Diagnostic, ...]]:
    """Read the comments ``; safecheck: allow RULE -- REASON`` of a PDDL plan, if the project file permits them.

    Returns entries and diagnostics; the entries are empty if a comment is invalid.
    """
    comments = list(_comments(plan))
    if comments and (settings.gate or settings.certificate or not settings.allow_in_plans):
        return (), (_refused(comments, settings),)
    entries, errors = [], []
    for place, comment in comments:
        match = re.fullmatch(_ALLOW, comment.strip())
        if match is None:
            message = "this comment is incomplete: it needs the name of a rule and a reason"
            errors.append(Diagnostic(SC.BAD_ALLOWANCE, message, (place,), help="; safecheck: allow RULE -- REASON"))
        else:
            entries.append(entry(EXEMPT, match["rule"], match["reason"], place))
    if len(comments) > MAX_ALLOWED:
        message = f"a plan allows at most {MAX_ALLOWED:,} rules"
        errors.append(Diagnostic(SC.BAD_ALLOWANCE, message, (comments[0][0],), help="write it in the project file"))
    return ((), tuple(errors[:10])) if errors else (tuple(entries), ())


def _comments(plan: Source) -> Iterable[tuple[Label, str]]:
    """Find these comments with their places. In PDDL, ``;`` occurs only in comments."""
    for number, match in enumerate(re.finditer(_COMMENT, plan.text)):
        if number > MAX_ALLOWED:
            return
        yield Label(plan.name, Span(*match.span("comment"))), match["comment"]


def _refused(comments: list[tuple[Label, str]], settings: Settings) -> Diagnostic:
    count_text = "" if len(comments) == 1 else f" ({len(comments)} comments)"
    reason, help = (
        "the project file does not permit it",
        "set `allow_in_plans = true` in safecheck.toml, or use --ignore",
    )
    if settings.gate:
        reason, help = "--gate ignores such comments", "use --ignore 'RULE: REASON' instead"
    elif settings.certificate:
        reason, help = "a certificate does not cover comments of plans", "write it in a home profile: --home FILE"
    return Diagnostic(
        SC.ALLOWANCE_REFUSED,
        f"the plan asks to ignore a rule{count_text}, which is refused: {reason}",
        (comments[0][0],),
        help=help,
        severity=Severity.WARNING,
    )
