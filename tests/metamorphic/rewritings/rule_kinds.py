"""Rules written as rules of another kind, as several rules, and with macros and templates."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from metamorphic_task import List, Task, Tree, field, section, with_field, with_sections, without_fields, words_of
from symbols import symbols_of, typed_list, typed_pairs
from traversal import STEP_FIELDS, is_quantifier, operands, rule_variables, steps_of
from verdicts import EQUIVALENT_FORMULAS, Invariants, Names, has_future

from rewritings.base import Rewritten, rewriting
from rewritings.connectives import negated

STATE_FIELDS = (":when", ":forbid", ":require")
AFTER_FIELDS = (":forbid-after", ":require-after")
SAME_STEPS = Invariants(kinds=False, undecided=False)
SAME_RULES = Invariants(bindings=False, steps=False, trace_steps=False, kinds=False, instances=False, undecided=False)


def rules_changed(task: Task, change: Callable[[List], List]) -> Task:
    """The task with each rule changed."""
    return task.with_rules([change(rule) for rule in task.rules()]) if any(task.rules()) else task


def conjuncts(rule: List, forbid: str = ":forbid", require: str = ":require") -> list[Tree]:
    """What a rule demands where its condition holds."""
    forbidden = [negated(field(rule, forbid))] if forbid in rule else []
    return [*forbidden, *([field(rule, require)] if require in rule else [])]


def is_single(tree: Tree) -> bool:
    """True for formulas that are one part of a rule: atoms, comparisons and temporal operators, also negated."""
    if tree and tree[0] == "not":
        return is_single(tree[1])
    return bool(tree) and tree[0] not in ("and", "or", "imply") and not is_quantifier(tree)


def has_step(rule: List) -> bool:
    """True for a rule about a step."""
    return bool(set(rule[2::2]) & set(STEP_FIELDS))


def implied(condition: Tree | None, formula: Tree) -> Tree:
    """The formula where the condition holds."""
    return formula if condition is None else ("imply", condition, formula)


def condition_of(rule: List) -> Tree | None:
    """The ``:when`` of a rule."""
    return field(rule, ":when") if ":when" in rule else None


@rewriting()
def forbidden_as_required(task: Task, _: Random) -> Task:
    """Write ``:forbid F`` as ``:require (not F)`` and the other way round."""
    pairs = ((":forbid", ":require"), (":forbid-after", ":require-after"))

    def change(rule: List) -> List:
        for forbid, require in pairs:
            forbidden = field(rule, forbid, None) if forbid in rule else None
            required = field(rule, require, None) if require in rule else None
            rule = without_fields(rule, forbid, require)
            rule = with_field(rule, require, ("not", forbidden)) if forbidden is not None else rule
            rule = with_field(rule, forbid, ("not", required)) if required is not None else rule
        return rule

    return rules_changed(task, change)


@rewriting(SAME_STEPS)
def state_rules_as_always(task: Task, _: Random) -> Task:
    """Write a process rule about states as a trajectory rule with ``always``."""

    def change(rule: List) -> List:
        if rule[0] != ":process" or has_step(rule):
            return rule
        parts = conjuncts(rule)
        if ":when" in rule and not all(is_single(part) for part in parts):
            return rule
        formula = ("always", ("and", *[implied(condition_of(rule), part) for part in parts]))
        return with_field((":trajectory", *without_fields(rule, *STATE_FIELDS)[1:]), ":formula", formula)

    return rules_changed(task, change)


@rewriting(SAME_STEPS)
def always_as_state_rules(task: Task, _: Random) -> Task:
    """Write a trajectory rule with ``always`` of a past formula as a process rule."""

    def change(rule: List) -> List:
        formula = field(rule, ":formula")
        if rule[0] != ":trajectory" or formula[:1] != ("always",) or has_future(formula[1]):
            return rule
        return with_field((":process", *without_fields(rule, ":formula")[1:]), ":require", formula[1])

    return rules_changed(task, change)


@rewriting(SAME_RULES._replace(instances=True))
def termination_as_at_end(task: Task, _: Random) -> Task:
    """Write a termination rule as a trajectory rule with ``at end``."""

    def change(rule: List) -> List:
        if rule[0] != ":termination":
            return rule
        formula = ("at", "end", implied(condition_of(rule), ("and", *conjuncts(rule))))
        return with_field((":trajectory", *without_fields(rule, *STATE_FIELDS)[1:]), ":formula", formula)

    return rules_changed(task, change)


@rewriting(SAME_STEPS)
def obligations_as_operators(task: Task, _: Random) -> Task:
    """Write an obligation as a trajectory rule with ``sometime-after`` or ``always-within``."""

    def change(rule: List) -> List:
        if rule[0] != ":obligation":
            return rule
        head = ("always-within", field(rule, ":within")) if ":within" in rule else ("sometime-after",)
        bare = (":trajectory", *without_fields(rule, ":when", ":then", ":within")[1:])
        return with_field(bare, ":formula", (*head, field(rule, ":when"), field(rule, ":then")))

    return rules_changed(task, change)


@rewriting(SAME_STEPS)
def operators_as_obligations(task: Task, _: Random) -> Task:
    """Write a trajectory rule with ``sometime-after`` or ``always-within`` of past formulas as an obligation."""

    def change(rule: List) -> List:
        formula = field(rule, ":formula")
        if rule[0] != ":trajectory" or formula[0] not in ("sometime-after", "always-within") or not operands(formula):
            return rule
        trigger, answer = formula[-2:]
        if has_future(trigger) or has_future(answer):
            return rule
        bare = (":obligation", *without_fields(rule, ":formula")[1:])
        bare = with_field(bare, ":within", formula[1]) if len(formula) == 4 else bare
        return with_field(with_field(bare, ":when", trigger), ":then", answer)

    return rules_changed(task, change)


@rewriting(SAME_RULES)
def step_rules_as_formulas(task: Task, _: Random) -> Task:
    """Write a process rule about a step as a trajectory rule with ``action``."""
    symbols = symbols_of(task)
    modes = {":on": "action", ":at-end": "action-end", ":during": "action-during"}

    def change(rule: List) -> List:
        steps = steps_of(rule)
        if rule[0] != ":process" or len(steps) != 1:
            return rule
        key = next(key for key in STEP_FIELDS if key in rule)
        pairs = rule_variables(rule, symbols)
        now = conjuncts(rule)
        after: list[Tree] = [("next", part) for part in conjuncts(rule, *AFTER_FIELDS)]
        action_formula: Tree = (modes[key], steps[0])
        guard = action_formula if ":when" not in rule else ("and", action_formula, field(rule, ":when"))
        bare = (":trajectory", *without_fields(rule, key, ":parameters", *STATE_FIELDS, *AFTER_FIELDS)[1:])
        bare = with_field(bare, ":parameters", typed_list(pairs)) if pairs else bare
        return with_field(bare, ":formula", ("always", ("imply", guard, ("and", *now, *after))))

    return rules_changed(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def conditions_in_formulas(task: Task, _: Random) -> Task:
    """Move ``:when`` of process and termination rules into their conditions."""

    def change(rule: List) -> List:
        if (
            rule[0] not in (":process", ":termination")
            or ":when" not in rule
            or any(key in rule for key in AFTER_FIELDS)
        ):
            return rule
        if not all(is_single(part) for part in conjuncts(rule)):
            return rule
        parts = [("imply", field(rule, ":when"), part) for part in conjuncts(rule)]
        return with_field(without_fields(rule, *STATE_FIELDS), ":require", ("and", *parts))

    return rules_changed(task, change)


@rewriting(EQUIVALENT_FORMULAS._replace(instances=False))
def split_rules(task: Task, _: Random) -> Rewritten:
    """Write one rule for each conjunct that a rule requires."""
    names: dict[str, str] = {}
    out: list[List] = []
    for rule in task.rules():
        key = next((key for key in (":require", ":require-after", ":formula") if key in rule), "")
        formula = field(rule, key) if key else ()
        below = formula[:1] == ("always",)
        body = formula[1] if below else formula
        if not body or body[0] != "and" or len(body) < 3 or len(body) > 4:
            out.append(rule)
            continue
        for number, part in enumerate(body[1:]):
            name = f"{rule[1]}-part-{number}"
            names[name] = rule[1]
            changed = with_field(rule, key, ("always", part) if below else part)
            if number:
                changed = without_fields(
                    changed, *[k for k in (":forbid", ":forbid-after", ":require", ":require-after") if k != key]
                )
            out.append((changed[0], name, *changed[2:]))
    return Rewritten(task.with_rules(out) if names else task, Names(rules=names))


@rewriting(SAME_RULES._replace(bindings=True, instances=True))
def constraints_as_rules(task: Task, _: Random) -> Task:
    """Write the constraints of domain and problem as trajectory rules, unless one is a preference."""
    trees = [*section(task.domain, ":constraints"), *section(task.problem, ":constraints")]
    conjunction = ("and", *trees)

    def flat(tree: Tree) -> list[Tree]:
        return [part for child in tree[1:] for part in flat(child)] if tree and tree[0] == "and" else [tree]

    laws = flat(conjunction)
    if not laws or "preference" in set(words_of(conjunction)):
        return task
    rules = []
    for number, law in enumerate(laws, 1):
        pairs: list[tuple[str, Tree]] = []
        while (
            is_quantifier(law)
            and law[0] == "forall"
            and not {n for n, _ in pairs} & {n for n, _ in typed_pairs(law[1])}
        ):
            pairs += typed_pairs(law[1])
            law = law[2]
        rule = (":trajectory", f"constraint-{number}", ":parameters", typed_list(pairs), ":formula", law)
        rules.append(rule)
    domain = [part for part in task.domain[2:] if part[0] != ":constraints"]
    problem = [part for part in task.problem[2:] if part[0] != ":constraints"]
    bare = task._replace(domain=with_sections(task.domain, domain), problem=with_sections(task.problem, problem))
    return bare.with_rules([*rules, *task.rules()])


@rewriting()
def formulas_as_macros(task: Task, random: Random) -> Task:
    """Define the formulas of rules as macros, with the variables of the rule as parameters."""
    symbols = symbols_of(task)
    macros: list[List] = []

    def change(rule: List) -> List:
        pairs = rule_variables(rule, symbols)
        for key in (":forbid", ":require", ":forbid-after", ":require-after", ":when", ":then", ":formula"):
            if key in rule and field(rule, key) and random.random() < 0.7 and len(steps_of(rule)) < 2:
                name = f"macro-{len(macros)}"
                used = [(variable, kind) for variable, kind in pairs if variable in set(words_of(field(rule, key)))]
                macros.append((":define", (name, *typed_list(used)), field(rule, key)))
                rule = with_field(rule, key, (name, *[variable for variable, _ in used]))
        return rule

    changed = rules_changed(task, change)
    if not macros:
        return task
    spec = changed.specs[0]
    return changed._replace(specs=((*spec[:2], *macros, *spec[2:]), *changed.specs[1:]))


@rewriting()
def rules_as_templates(task: Task, _: Random) -> Task:
    """Write each rule as a template with its name and formulas as parameters, and apply that."""
    out: list[List] = []
    for number, rule in enumerate(task.rules()):
        holes: list[Tree] = []
        words = list(rule)
        words[1] = "$name"
        for key in (":forbid", ":require", ":when", ":then", ":formula"):
            if key in rule and field(rule, key):
                place = rule.index(key) + 1
                words[place] = f"$hole-{len(holes)}"
                holes.append(rule[place])
        names = tuple(f"$hole-{n}" for n in range(len(holes)))
        out.append((":template", f"template-{number}", names, tuple(words)))
        out.append((":apply", f"template-{number}", rule[1], *holes))
    return task.with_rules(out) if out else task


@rewriting()
def extended_specifications(task: Task, random: Random) -> Task:
    """Move some rules to a specification that the first one extends."""
    rules = list(task.rules())
    if len(rules) < 2:
        return task
    cut = random.randint(1, len(rules) - 1)
    remaining = task.with_rules(rules[cut:]).specs[0]
    upper = (*remaining[:2], (":extends", "rules-1"), *remaining[2:])
    return task._replace(specs=(upper, ("define", ("safety", "rules-1"), *rules[:cut])))
