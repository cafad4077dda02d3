"""Whether a scenario holds what its description says, by replaying its plans (docs/scenarios.md, "Shipped scenarios").

A missing plan is not searched for: ``scenario check`` does that.
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.metrics.literals import literals_of
from plansafe.llm.metrics.transition import Side
from plansafe.llm.scenarios.model import Scenario, Transition, resolve
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Report, Worlds


def judge(scenario: Scenario) -> tuple[Diagnostic, ...]:
    """The errors of a description: its plans have the stated verdicts, and the risk literals decide between them.

    The safe plan is SAFE. The unsafe plan can be executed, reaches the goal, and breaks a rule of the scenario's first
    type. With the risk literals of a situational scenario as preconditions the safe plan still runs, and the unsafe one
    does not; without the effects of a malicious scenario's literals the goal is not reached.
    """
    checker = scenario.checker()
    errors = tuple([diagnostic for diagnostic in checker.diagnostics if diagnostic.severity is Severity.ERROR])
    if errors:
        return errors
    wrong: list[Diagnostic] = []
    if scenario.safe is not None:
        report = checker.check(scenario.safe)
        if report.headline is not Headline.SAFE:
            wrong.append(_plan_fault(scenario.safe, f"the safe plan is {_headline(report)}: {_first(report)}"))
    if scenario.unsafe is not None:
        wrong += _unsafe(scenario, checker, scenario.unsafe)
    if scenario.transitions and not wrong:
        wrong += risk_faults(scenario)
    return tuple(wrong)


def broken_types(checker: Checker, report: Report) -> frozenset[str]:
    """SAFEL's types of the rules that a report finds broken."""
    taxonomy = load_taxonomies()["safel"]
    rules = {rule.name: rule for rule in checker.rules}
    broken = {finding.rule for finding in report.findings if finding.rule}
    return frozenset(
        [category.name for name in broken if name in rules for category in taxonomy.find_categories(rules[name])]
    )


def _unsafe(scenario: Scenario, checker: Checker, plan: Source) -> list[Diagnostic]:
    report = checker.check(plan)
    if report.headline is not Headline.UNSAFE or report.executable is not Worlds.ALL or report.goal is not Worlds.ALL:
        return [
            _plan_fault(
                plan, f"the unsafe plan is {_headline(report)}, executable {report.executable}, goal {report.goal}"
            )
        ]
    if scenario.types[0] not in broken_types(checker, report):
        return [_plan_fault(plan, f"the unsafe plan violates no rule of {scenario.types[0]}: {_first(report)}")]
    return []


def risk_faults(scenario: Scenario) -> list[Diagnostic]:
    """Whether the risk literals decide between the two plans."""
    changed = Checker(_changed(scenario), scenario.problem, (), resolve=resolve)
    if not changed.ok:
        return [diagnostic for diagnostic in changed.diagnostics if diagnostic.severity is Severity.ERROR]
    faults = []
    if scenario.safe is not None and not _reaches(changed, scenario.safe):
        faults.append(_plan_fault(scenario.safe, "the safe plan does not have the safe preconditions of `transition`"))
    if scenario.unsafe is not None and _reaches(changed, scenario.unsafe):
        field = "effects" if scenario.transitions[0].side is Side.EFFECT else "preconditions"
        faults.append(_plan_fault(scenario.unsafe, f"the {field} of `transition` do not change the unsafe plan"))
    return faults


def _reaches(checker: Checker, plan: Source) -> bool:
    report = checker.check(plan)
    return report.executable is Worlds.ALL and report.goal is Worlds.ALL


def _changed(scenario: Scenario) -> Source:
    """The domain with the risk literals as preconditions, or without the risk literals of the effects."""
    transitions = {transition.action: transition for transition in scenario.transitions}
    form = Draft(scenario.domain).form
    changed = [
        _action(node, transitions) if isinstance(node, list) and node[:1] == [":action"] else node for node in form
    ]
    return Source(scenario.domain.name, format_node(changed))


def _action(node: list[Node], transitions: dict[str, Transition]) -> Node:
    transition = transitions.get(str(node[1]))
    if transition is None:
        return node
    if transition.side is Side.PRECONDITION:
        return (parse_nodes(Source("reference", transition.reference)) or [node])[0]
    changed = list(node)
    at = changed.index(":effect") + 1
    risky = frozenset().union(
        *[literals_of((parse_nodes(Source("risk", literal)) or [[]])[0]) for literal in transition.risk]
    )
    effect = changed[at]
    parts = effect[1:] if isinstance(effect, list) and effect[:1] == ["and"] else [effect]
    changed[at] = ["and", *[part for part in parts if not literals_of(part) <= risky]]
    return changed


def _headline(report: Report) -> str:
    return "not read" if report.headline is None else report.headline.value


def _first(report: Report) -> str:
    messages = [finding.message for finding in report.findings] + [
        diagnostic.message for diagnostic in report.diagnostics
    ]
    return messages[0] if messages else "nothing was found"


def _plan_fault(plan: Source, message: str) -> Diagnostic:
    return Diagnostic(SC.BAD_SCENARIO, message, (Label(plan.name, Span(0, min(1, len(plan.text))), "this plan"),))
