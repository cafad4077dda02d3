"""The profile of a home: which findings a home lives with, which rules are off, whose severity is another.

docs/project-file.md says what it means. Here it is held against the rules and objects of a task. A rule, hazard or kind
that is not there is a mistake of the profile; objects come and go with the tasks of a home. Constraints of the problem
are none of its business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.sexpr import Node
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, did_you_mean, token_text
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs, PlainRule
from plansafe.verifier.rules.kinds import ClassKinds
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.verdict_criteria import SEVERITIES, Exemption

OFF = "off"
SELECT = "select"
MAX_NAMED = 3
"""Missing objects that a note names."""
RAISED_HAZARDS: Mapping[str, frozenset[str]] = {
    "children": frozenset(("poisoning", "sharp-object", "overheat-exposure", "electrical-shock")),
    "elderly": frozenset(("slip", "falling-object")),
}
"""Who, if they live here, make which hazards to people one level more severe."""
_ABSENT = {"pets": "animal"}
"""Who, if they do not live here, make rules idle that harm this target alone."""
_LIVE_HERE = {"children": "children live here", "elderly": "elderly people live here", "pets": "no pets live here"}
RESIDENTS = tuple(_LIVE_HERE)


class ProfileEntry(NamedTuple):
    """An entry of a profile. ``effect`` is ``exempt``, ``off`` or ``severity`` (then ``to`` is the new one).

    It is also ``select``, where rules are selected: then those that no such entry means are exempt.

    A rule is meant if it is among ``rules`` and its hazard among ``hazards``, a finding if it also names one of
    ``objects`` and something of the ``kinds``; what is empty restricts nothing.
    """

    effect: str
    rules: tuple[str, ...]
    hazards: tuple[str, ...]
    kinds: tuple[str, ...]
    objects: tuple[str, ...]
    to: str | None
    reason: str
    place: Label

    @property
    def description(self) -> str:
        """What it names, in words."""
        names = (("rule", self.rules), ("hazard", self.hazards), ("kind", self.kinds), ("object", self.objects))
        return ", ".join([f"{what} {' or '.join(values)}" for what, values in names if values])


class HomeProfile(NamedTuple):
    """A profile that was read. ``who`` are those that it speaks of, with whether they live here.

    ``others`` are the texts in which further entries stand: a flag, a project file, the plan itself. ``classes`` are
    the kinds of classes of objects.
    """

    source: Source
    entries: tuple[ProfileEntry, ...] = ()
    who: tuple[tuple[str, bool, Label], ...] = ()
    others: tuple[Source, ...] = ()
    classes: tuple[ClassKinds, ...] = ()


class RuleChange(NamedTuple):
    """A rule whose severity is another, or that is ``off`` (``after``); why, and where that is said."""

    rule: str
    before: str
    after: str
    reason: str
    place: str


class ProfileEffects(NamedTuple):
    """What a profile comes to for a task: exemptions, used or not, and changed rules."""

    name: str
    exemptions: tuple[Exemption, ...]
    changes: tuple[RuleChange, ...]


class ProfileApplication:
    """A profile at work on the rules of one task, in two passes: before they are typed, and after."""

    def __init__(self, profile: HomeProfile, context: Context) -> None:
        self._profile = profile
        self._context = context
        self._changes: list[RuleChange] = []

    def switch_off(self, expanded: ExpandedSpecs) -> ExpandedSpecs:
        """Check the names of rules and hazards, and leave out the rules that are off."""
        if self._context.errors:
            return expanded  # rules may be missing for another reason
        rules = {token_text(rule.node[1]): _field(rule, ":hazard") for rule in expanded.rules}
        hazards = {hazard for hazard in rules.values() if hazard is not None}
        severities = {token_text(rule.node[1]): _field(rule, ":severity") or "high" for rule in expanded.rules}
        off: set[str] = set()
        for entry in self._profile.entries:
            self._known(entry, "rule", entry.rules, rules)
            self._known(entry, "hazard", entry.hazards, hazards)
            if entry.effect == OFF:
                meant = [r for r, hazard in rules.items() if r not in off and _means(entry, r, hazard)]
                self._changes += [RuleChange(r, severities[r], OFF, entry.reason, self._at(entry.place)) for r in meant]
                off.update(meant)
        return expanded._replace(rules=[rule for rule in expanded.rules if token_text(rule.node[1]) not in off])

    def apply(self, rules: list[Rule], expanded: ExpandedSpecs, symbols: Symbols) -> ProfileEffects:
        """Change severities in place, and say what is exempt."""
        own = {number: rule for number, rule in enumerate(rules) if rule.kind != "constraint" and not rule.preference}
        self._change(rules, own)
        entries = [entry for entry in self._profile.entries if entry.effect == "exempt"]
        exemptions = [self._exempt(entry, list(own.values()), expanded, symbols) for entry in entries]
        exemptions += self._unselected(own.values())
        for who, here, label in self._profile.who:
            target = _ABSENT.get(who)
            alone = frozenset([rule.name for rule in own.values() if rule.targets == (target,)])
            if target is not None and not here and alone:
                said = f"rules that harm {target}s alone"
                exemptions.append(Exemption(alone, None, said, _LIVE_HERE[who], self._at(label)))
        return ProfileEffects(self._profile.source.name, tuple(exemptions), tuple(self._changes))

    def _change(self, rules: list[Rule], own: Mapping[int, Rule]) -> None:
        """What an entry says of a severity counts; else everyone who lives here raises it, by one level in all."""
        for number, rule in own.items():
            wanted: tuple[str, str, Label] | None = None
            for entry in self._profile.entries:
                if entry.effect == "severity" and entry.to is not None and _means(entry, rule.name, rule.hazard):
                    wanted = wanted or (entry.to, entry.reason, entry.place)
            for who, here, label in self._profile.who:
                if here and "human" in rule.targets and rule.hazard in RAISED_HAZARDS.get(who, ()):
                    level = max(SEVERITIES.index(rule.severity) - 1, 0)
                    wanted = wanted or (SEVERITIES[level], _LIVE_HERE[who], label)
            if wanted is not None and wanted[0] != rule.severity:
                to, reason, label = wanted
                self._changes.append(RuleChange(rule.name, rule.severity, to, reason, self._at(label)))
                rules[number] = rule._replace(severity=to)

    def _exempt(self, entry: ProfileEntry, own: list[Rule], expanded: ExpandedSpecs, symbols: Symbols) -> Exemption:
        meant = [rule for rule in own if _means(entry, rule.name, rule.hazard)]
        objects = self._objects(entry, expanded, symbols)
        domains = symbols.types.domain_sets
        numbers = None if objects is None else {symbols.object_index.get(name, -1) for name in objects}
        able = [rule for rule in meant if rule.applicable]
        if numbers is not None:
            ranges = {rule.name: [domains[v.domain] for part in rule.parts for v in part.parameters] for rule in able}
            able = [rule for rule in able if any([not numbers.isdisjoint(domain) for domain in ranges[rule.name]])]
        if not self._context.errors:  # else rules or objects may be missing for another reason
            missing = [name for name in entry.objects if name not in symbols.object_index]
            if missing:
                self._say_missing(entry, missing, symbols.object_index)
            elif not able:
                why = "can be about them" if objects is not None else "applies"
                message = f"the exemption of {entry.description} can never be used: none of its rules {why}"
                self._idle(entry, message, "to list the rules: safecheck --show-config PLAN")
        return Exemption(
            frozenset([r.name for r in meant]), objects, entry.description, entry.reason, self._at(entry.place)
        )

    def _unselected(self, own: Iterable[Rule]) -> list[Exemption]:
        """The rules that are not selected, where some are."""
        chosen = [entry for entry in self._profile.entries if entry.effect == SELECT]
        left = frozenset([r.name for r in own if not any([_means(entry, r.name, r.hazard) for entry in chosen])])
        if not chosen or not left:
            return []
        why = "; ".join(dict.fromkeys([entry.reason for entry in chosen]))
        place = self._at(chosen[0].place)
        return [Exemption(left, None, "rules that are not selected", f"not selected: {why}", place)]

    def _objects(self, entry: ProfileEntry, expanded: ExpandedSpecs, symbols: Symbols) -> frozenset[str] | None:
        """The objects that an entry speaks of; ``None``: of all."""
        if not entry.kinds and not entry.objects:
            return None
        found = frozenset(symbols.objects)
        if entry.objects:
            found &= frozenset(entry.objects)
        if entry.kinds:
            words = _kinds(expanded, symbols)
            self._known(entry, "kind", entry.kinds, words)
            index = symbols.types.index
            types = tuple([index[name] for kind in entry.kinds for name in words.get(kind, ()) if name in index])
            fits = symbols.types.object_fits
            of_kind = [o for o, own in zip(symbols.objects, symbols.object_types, strict=True) if fits(own, types)]
            found &= frozenset(of_kind)
        return found

    def _say_missing(self, entry: ProfileEntry, missing: list[str], known: Collection[str]) -> None:
        """Say which objects of an entry this task does not have: they may belong to another task of the home."""
        named = " or ".join([f"`{name}`" for name in missing[:MAX_NAMED]])
        more = f" or {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
        rest = "can never be used" if len(missing) == len(entry.objects) else "is used only for the other objects"
        near = next((help for name in missing[:MAX_NAMED] if (help := did_you_mean(name, known))), None)
        self._idle(
            entry,
            f"no object of this task is named {named}{more}: the exemption of {entry.description} {rest}",
            near or "if it belongs to another task of this home, no change is needed",
        )

    def _known(self, entry: ProfileEntry, what: str, names: Sequence[str], known: Collection[str]) -> None:
        for name in names:
            if name not in known:
                longer = next((f"did you mean `{one}`?" for one in sorted(known) if one.startswith(name)), None)
                help = did_you_mean(name, known) or longer or "check the spelling; the name may belong to another task"
                self._say(SC.UNKNOWN_IN_HOME, f"no {what} of this task is named `{name}`", entry.place, help)

    def _idle(self, entry: ProfileEntry, message: str, help: str) -> None:
        self._say(SC.IDLE_EXEMPTION, message, entry.place, help, Severity.NOTE)

    def _say(self, code: str, message: str, place: Label, help: str, severity: Severity = Severity.ERROR) -> None:
        self._context.diagnostics.append(Diagnostic(code, message, (place,), help=help, severity=severity))
        self._context.errors += severity is Severity.ERROR

    def _at(self, label: Label) -> str:
        if label.source.startswith("--"):
            return label.source  # a flag has no lines
        texts = (self._profile.source, *self._profile.others)
        source = next((text for text in texts if text.name == label.source), self._profile.source)
        return f"{label.source}:{source.position(label.span.start)[0]}"


def with_changed_severity(rule: PlainRule, changes: Iterable[RuleChange]) -> list[Node]:
    """The tree of a rule with the severity that a profile gives it, for who reads the text."""
    node = rule.node
    for change in changes:
        if change.rule == token_text(node[1]) and change.after != OFF:
            places = [n for n, child in enumerate(node) if child == ":severity"]
            node = [*node, ":severity", change.after] if not places else list(node)
            for place in places:
                node[place + 1] = change.after
    return node


def _means(entry: ProfileEntry, rule: str, hazard: str | None) -> bool:
    return (not entry.rules or rule in entry.rules) and (not entry.hazards or hazard in entry.hazards)


def _field(rule: PlainRule, key: str) -> str | None:
    places = [n for n, child in enumerate(rule.node[:-1]) if child == key]
    return token_text(rule.node[places[0] + 1]) if places else None


def _kinds(expanded: ExpandedSpecs, symbols: Symbols) -> dict[str, tuple[str, ...]]:
    """Types of the domain, and words of mappings for types, with the types of the domain that each stands for."""
    out: dict[str, tuple[str, ...]] = {}
    for binding in expanded.bindings:
        for name in binding.mapping.types:
            stands = binding.mapping.type(name)
            out[name] = (
                tuple([token_text(part) for part in stands[1:]]) if isinstance(stands, list) else (token_text(stands),)
            )
    out.update({name: (name,) for name in symbols.types.names})
    return out
