"""Apply the profile of a home to a task: exempt findings, disable rules, change severities.

docs/project-file.md describes profiles. A profile that names a rule, hazard or kind which the task does not have is
reported as an error. Missing objects are only noted, because they may belong to another task of the home. Profiles do
not apply to constraints of the problem.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, did_you_mean, format_token
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs, PlainRule
from plansafe.verifier.rules.fields import find_field_words
from plansafe.verifier.rules.kinds import ClassKinds
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.profile_entries import format_entry_place, report_entry_mistake
from plansafe.verifier.rules.verdict_criteria import SEVERITIES, Exemption

EntryEffect = Literal["exempt", "off", "severity", "select"]
"""The effect of a profile's entry on its rules.

``exempt``: their violations do not decide. ``off``: they are not checked. ``severity``: they get another severity.
``select``: they are kept, and all rules that no such entry names are exempt.
"""
OFF: Literal["off"] = "off"
SELECT: Literal["select"] = "select"
MAX_LISTED_OBJECTS = 3
"""Maximum number of missing objects that a note names."""
RAISED_HAZARDS: Mapping[str, frozenset[str]] = {
    "children": frozenset(("poisoning", "sharp-object", "overheat-exposure", "electrical-shock")),
    "elderly": frozenset(("slip", "falling-object")),
}
"""The hazards to people that are one level more severe if these residents live in the home."""
_TARGET_OF_ABSENT_RESIDENTS = {"pets": "animal"}
"""Rules that protect only this target are exempt if these residents do not live in the home."""
_RESIDENT_REASONS = {
    "children": "children live here",
    "elderly": "elderly people live here",
    "pets": "no pets live here",
}
RESIDENTS = tuple(_RESIDENT_REASONS)


class ProfileEntry(NamedTuple):
    """An entry of a profile.

    It applies to the rules in ``rules`` with a hazard in ``hazards``. An exemption applies to the findings of these
    rules that also name one of ``objects`` and an object of one of the ``kinds``. An empty field does not restrict.
    ``new_severity`` is the severity for the effect ``severity``, otherwise ``None``.
    """

    effect: EntryEffect
    rules: tuple[str, ...]
    hazards: tuple[str, ...]
    kinds: tuple[str, ...]
    objects: tuple[str, ...]
    new_severity: str | None
    reason: str
    place: Label

    @property
    def description(self) -> str:
        """The names in the entry, as text."""
        fields = (("rule", self.rules), ("hazard", self.hazards), ("kind", self.kinds), ("object", self.objects))
        return ", ".join([f"{field} {' or '.join(names)}" for field, names in fields if names])

    def applies_to(self, rule: str, hazard: str | None) -> bool:
        """Whether the entry applies to a rule."""
        return (not self.rules or rule in self.rules) and (not self.hazards or hazard in self.hazards)


class Resident(NamedTuple):
    """A group of residents (one of ``RESIDENTS``), and whether it lives in the home."""

    name: str
    is_present: bool
    place: Label


class HomeProfile(NamedTuple):
    """A profile that was read.

    ``entry_sources``: the texts of further entries, such as an option, a project file or the plan itself. ``classes``:
    the kinds that a user gives to classes of objects.
    """

    source: Source
    entries: tuple[ProfileEntry, ...] = ()
    residents: tuple[Resident, ...] = ()
    entry_sources: tuple[Source, ...] = ()
    classes: tuple[ClassKinds, ...] = ()


class RuleChange(NamedTuple):
    """A rule whose severity changes from ``before`` to ``after`` (``off``: it is not checked)."""

    rule: str
    before: str
    after: str
    reason: str
    place: str


class ProfileEffects(NamedTuple):
    """The effects of a profile on a task: its exemptions, also those without a violation, and the changed rules."""

    name: str
    exemptions: tuple[Exemption, ...]
    changes: tuple[RuleChange, ...]


class ProfileApplication:
    """Applies a profile to the rules of one task, before and after they are elaborated."""

    def __init__(self, profile: HomeProfile, context: Context) -> None:
        self._profile = profile
        self._context = context
        self._changes: list[RuleChange] = []

    def remove_disabled_rules(self, expanded: ExpandedSpecs) -> ExpandedSpecs:
        """Check the names of rules and hazards, and remove the rules that the profile turns off."""
        if self._context.errors:
            return expanded  # rules may be missing for another reason
        hazard_of_rule = {format_token(rule.node[1]): _find_field_word(rule, ":hazard") for rule in expanded.rules}
        hazards = {hazard for hazard in hazard_of_rule.values() if hazard is not None}
        severities = {
            format_token(rule.node[1]): _find_field_word(rule, ":severity") or "high" for rule in expanded.rules
        }
        disabled_rules: set[str] = set()
        for entry in self._profile.entries:
            self._check_names(entry, "rule", entry.rules, hazard_of_rule)
            self._check_names(entry, "hazard", entry.hazards, hazards)
            if entry.effect == OFF:
                names = [
                    name
                    for name, hazard in hazard_of_rule.items()
                    if name not in disabled_rules and entry.applies_to(name, hazard)
                ]
                place = self._format_place(entry.place)
                self._changes += [RuleChange(name, severities[name], OFF, entry.reason, place) for name in names]
                disabled_rules.update(names)
        rules = [rule for rule in expanded.rules if format_token(rule.node[1]) not in disabled_rules]
        return expanded._replace(rules=rules)

    def apply(self, rules: list[Rule], expanded: ExpandedSpecs, symbols: Symbols) -> ProfileEffects:
        """Change severities in place, and return the exemptions and changes."""
        spec_rule_numbers = [n for n, rule in enumerate(rules) if rule.kind != "constraint" and not rule.preference]
        self._change_severities(rules, spec_rule_numbers)
        spec_rules = [rules[number] for number in spec_rule_numbers]
        entries = [entry for entry in self._profile.entries if entry.effect == "exempt"]
        exemptions = [self._make_exemption(entry, spec_rules, expanded, symbols) for entry in entries]
        exemptions += self._exempt_unselected_rules(spec_rules)
        for resident, is_present, label in self._profile.residents:
            target = _TARGET_OF_ABSENT_RESIDENTS.get(resident)
            names = frozenset([rule.name for rule in spec_rules if rule.targets == (target,)])
            if target is not None and not is_present and names:
                text, reason = f"rules that harm {target}s alone", _RESIDENT_REASONS[resident]
                exemptions.append(Exemption(names, None, text, reason, self._format_place(label)))
        return ProfileEffects(self._profile.source.name, tuple(exemptions), tuple(self._changes))

    def _change_severities(self, rules: list[Rule], numbers: list[int]) -> None:
        for number in numbers:
            change = self._find_severity_change(rules[number])
            if change is not None and change.after != change.before:
                self._changes.append(change)
                rules[number] = rules[number]._replace(severity=change.after)

    def _find_severity_change(self, rule: Rule) -> RuleChange | None:
        """Return the change by the first applicable entry; without one, the change by the residents of the home."""
        for entry in self._profile.entries:
            if entry.new_severity is not None and entry.applies_to(rule.name, rule.hazard):
                place = self._format_place(entry.place)
                return RuleChange(rule.name, rule.severity, entry.new_severity, entry.reason, place)
        for resident, is_present, label in self._profile.residents:
            if is_present and "human" in rule.targets and rule.hazard in RAISED_HAZARDS.get(resident, ()):
                raised_severity = SEVERITIES[max(SEVERITIES.index(rule.severity) - 1, 0)]
                place = self._format_place(label)
                return RuleChange(rule.name, rule.severity, raised_severity, _RESIDENT_REASONS[resident], place)
        return None

    def _make_exemption(
        self, entry: ProfileEntry, rules: list[Rule], expanded: ExpandedSpecs, symbols: Symbols
    ) -> Exemption:
        """Return the exemption of an entry; report missing objects, and an exemption that no rule can use."""
        exempt_rules = [rule for rule in rules if entry.applies_to(rule.name, rule.hazard)]
        objects = self._find_exempt_objects(entry, expanded, symbols)
        usable_rules = [rule for rule in exempt_rules if rule.applicable]
        if objects is not None:
            numbers = {symbols.object_index.get(name, -1) for name in objects}
            domains = symbols.types.domain_sets
            usable_rules = [
                rule
                for rule in usable_rules
                if any([not numbers.isdisjoint(domains[v.domain]) for part in rule.parts for v in part.parameters])
            ]
        if not self._context.errors:  # otherwise rules or objects may be missing for another reason
            missing_objects = [name for name in entry.objects if name not in symbols.object_index]
            if missing_objects:
                self._note_missing_objects(entry, missing_objects, symbols.object_index)
            elif not usable_rules:
                why = "can be about them" if objects is not None else "applies"
                message = f"the exemption of {entry.description} can never be used: none of its rules {why}"
                self._note_unused_entry(entry, message, "to list the rules: safecheck --show-config PLAN")
        names, place = frozenset([rule.name for rule in exempt_rules]), self._format_place(entry.place)
        return Exemption(names, objects, entry.description, entry.reason, place)

    def _exempt_unselected_rules(self, rules: Iterable[Rule]) -> list[Exemption]:
        """Exempt the rules that are not selected; no exemption if the profile selects no rules."""
        selecting_entries = [entry for entry in self._profile.entries if entry.effect == SELECT]
        unselected = frozenset(
            [rule.name for rule in rules if not any([e.applies_to(rule.name, rule.hazard) for e in selecting_entries])]
        )
        if not selecting_entries or not unselected:
            return []
        reason = "; ".join(dict.fromkeys([entry.reason for entry in selecting_entries]))
        place = self._format_place(selecting_entries[0].place)
        return [Exemption(unselected, None, "rules that are not selected", f"not selected: {reason}", place)]

    def _find_exempt_objects(
        self, entry: ProfileEntry, expanded: ExpandedSpecs, symbols: Symbols
    ) -> frozenset[str] | None:
        """Return the objects that an entry applies to; ``None`` for all objects."""
        if not entry.kinds and not entry.objects:
            return None
        objects = frozenset(symbols.objects)
        if entry.objects:
            objects &= frozenset(entry.objects)
        if entry.kinds:
            types_of_kinds = _find_types_of_kinds(expanded, symbols)
            self._check_names(entry, "kind", entry.kinds, types_of_kinds)
            index = symbols.types.index
            names = [name for kind in entry.kinds for name in types_of_kinds.get(kind, ())]
            types = tuple([index[name] for name in names if name in index])
            fits = symbols.types.object_fits
            typed_objects = zip(symbols.objects, symbols.object_types, strict=True)
            objects &= frozenset([name for name, object_types in typed_objects if fits(object_types, types)])
        return objects

    def _note_missing_objects(self, entry: ProfileEntry, missing_objects: list[str], objects: Collection[str]) -> None:
        listed_objects = missing_objects[:MAX_LISTED_OBJECTS]
        names = " or ".join([f"`{name}`" for name in listed_objects])
        unlisted_count = len(missing_objects) - len(listed_objects)
        more = f" or {unlisted_count} more" if unlisted_count else ""
        is_unused = len(missing_objects) == len(entry.objects)
        use = "can never be used" if is_unused else "is used only for the other objects"
        suggestion = next((help for name in listed_objects if (help := did_you_mean(name, objects))), None)
        message = f"no object of this task is named {names}{more}: the exemption of {entry.description} {use}"
        help = suggestion or "if it belongs to another task of this home, no change is needed"
        self._note_unused_entry(entry, message, help)

    def _check_names(self, entry: ProfileEntry, field: str, names: Sequence[str], choices: Collection[str]) -> None:
        """Report the names in a field of an entry that are not among the choices."""
        for name in names:
            if name not in choices:
                suggestions = [f"did you mean `{choice}`?" for choice in sorted(choices) if choice.startswith(name)]
                advice = "check the spelling; the name may belong to another task"
                help = did_you_mean(name, choices) or next(iter(suggestions), advice)
                message = f"no {field} of this task is named `{name}`"
                report_entry_mistake(self._context, SC.UNKNOWN_IN_HOME, message, entry.place, help)

    def _note_unused_entry(self, entry: ProfileEntry, message: str, help: str) -> None:
        report_entry_mistake(self._context, SC.IDLE_EXEMPTION, message, entry.place, help, Severity.NOTE)

    def _format_place(self, label: Label) -> str:
        return format_entry_place(
            label, {text.name: text for text in (self._profile.source, *self._profile.entry_sources)}
        )


def change_severity(rule: PlainRule, changes: Iterable[RuleChange]) -> list[Node]:
    """Return the tree of a rule with the severity that a profile gives it."""
    node = rule.node
    for change in changes:
        if change.rule == format_token(node[1]) and change.after != OFF:
            positions = [number for number, child in enumerate(node) if child == ":severity"]
            node = list(node) if positions else [*node, ":severity", change.after]
            for position in positions:
                node[position + 1] = change.after
    return node


def _find_field_word(rule: PlainRule, key: str) -> str | None:
    """Return the first word in a field of a rule."""
    return next(iter(find_field_words(rule.node, key)), None)


def _find_types_of_kinds(expanded: ExpandedSpecs, symbols: Symbols) -> dict[str, tuple[str, ...]]:
    """Return the domain's types for each mapped kind and each type of the domain."""
    kinds = {
        name: applied.mapping.find_domain_types(name) for applied in expanded.mappings for name in applied.mapping.types
    }
    return kinds | {name: (name,) for name in symbols.types.names}
