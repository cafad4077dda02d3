"""Factored tasks (docs/language.md, section 2): the same verdicts as a plain task, by engine and kernel."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import NamedTuple

import pytest
from engine_texts import judge

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.kernel import Kernel, KernelRejects

REQUIREMENTS = "(:requirements :typing :factored-privacy)"
TYPES = "(:types van town parcel)"
PUBLIC = "(at ?p - parcel ?t - town)"
PRIVATE = "(parked ?v - van ?t - town) (loaded ?p - parcel ?v - van)"
ACTIONS = {
    "drive": (
        "?v - van ?a - town ?b - town",
        "(parked ?v ?a)",
        "(and (not (parked ?v ?a)) (parked ?v ?b))",
    ),
    "load": (
        "?v - van ?p - parcel ?t - town",
        "(and (parked ?v ?t) (at ?p ?t))",
        "(and (not (at ?p ?t)) (loaded ?p ?v))",
    ),
    "unload": (
        "?v - van ?p - parcel ?t - town",
        "(and (parked ?v ?t) (loaded ?p ?v))",
        "(and (at ?p ?t) (not (loaded ?p ?v)))",
    ),
    "throw": ("?p - parcel ?a - town ?b - town", "(at ?p ?a)", "(and (not (at ?p ?a)) (at ?p ?b))"),
}
RULE = "(define (safety s) (:process never-full :parameters (?v - van ?p - parcel) :forbid (loaded ?p ?v)))"


class Agent(NamedTuple):
    """An agent: its actions, the public and the private objects that it knows (by type), initial facts, and goal."""

    actions: tuple[str, ...]
    public: dict[str, list[str]]
    private: dict[str, list[str]]
    init: tuple[str, ...]
    goal: str

    def list_names(self) -> set[str]:
        return {name for objects in (self.public, self.private) for names in objects.values() for name in names}


def typed(objects: dict[str, list[str]]) -> str:
    return " ".join(f"{' '.join(names)} - {kind}" for kind, names in objects.items() if names)


def action(name: str, condition: str = "") -> str:
    parameters, precondition, effect = ACTIONS[name]
    return (
        f"(:action {name} :parameters ({parameters}) :precondition (and {condition} {precondition}) :effect {effect})"
    )


def factored_texts(agents: list[Agent]) -> tuple[str, str]:
    """The parts as MA-PDDL."""
    domains = [
        f"(define (domain post) {REQUIREMENTS} {TYPES} (:predicates {PUBLIC} (:private {PRIVATE})) "
        + " ".join(map(action, agent.actions))
        + ")"
        for agent in agents
    ]
    problems = [
        f"(define (problem p) (:domain post) (:objects {typed(agent.public)} (:private {typed(agent.private)}))"
        f" (:init {' '.join(agent.init)}) (:goal {agent.goal}))"
        for agent in agents
    ]
    return "\n".join(domains), "\n".join(problems)


def plain_texts(agents: list[Agent]) -> tuple[str, str]:
    """One domain and problem that say with static facts what each agent knows."""
    actions = []
    for name in ACTIONS:
        owners = [number for number, agent in enumerate(agents) if name in agent.actions]
        variables = [word for word in ACTIONS[name][0].split() if word.startswith("?")]
        choices = [" ".join(f"(knows{number} {v})" for v in variables) for number in owners]
        if owners:
            actions.append(action(name, f"(or {' '.join(f'(and {choice})' for choice in choices)})"))
    knows = " ".join(f"(knows{number} ?o - object)" for number in range(len(agents)))
    kinds = {
        kind: sorted({n for agent in agents for objects in (agent.public, agent.private) for n in objects[kind]})
        for kind in ("van", "town", "parcel")
    }
    facts = [fact for agent in agents for fact in agent.init]
    facts += [f"(knows{number} {name})" for number, agent in enumerate(agents) for name in agent.list_names()]
    goal = f"(and {' '.join(agent.goal for agent in agents)})"
    return (
        f"(define (domain post) {TYPES} (:predicates {PUBLIC} {PRIVATE} {knows}) {' '.join(actions)})",
        f"(define (problem p) (:domain post) (:objects {typed(kinds)}) (:init {' '.join(facts)}) (:goal {goal}))",
    )


def random_agents(random: Random) -> list[Agent]:
    agents = []
    for number in range(random.randint(2, 3)):
        public = {
            "van": [],
            "town": random.sample(["hub", "port"], random.randint(1, 2)),
            "parcel": random.sample(["letter", "box"], random.randint(1, 2)),
        }
        private = {
            "van": [f"van{number}"][: random.randint(0, 4)],
            "town": [f"town{number}"][: random.randint(0, 1)],
            "parcel": [f"parcel{number}"][: random.randint(0, 1)],
        }
        towns, parcels = public["town"] + private["town"], public["parcel"] + private["parcel"]
        init = [f"(parked {van} {random.choice(towns)})" for van in private["van"]]
        init += [f"(at {parcel} {random.choice(towns)})" for parcel in parcels if random.random() < 0.8]
        goal = f"(at {random.choice(parcels)} {random.choice(towns)})" if random.random() < 0.7 else "()"
        actions = tuple(name for name in ACTIONS if random.random() < 0.7)
        agents.append(Agent(actions, public, private, tuple(init), goal))
    return agents


def random_plan(random: Random, agents: list[Agent]) -> str:
    """Steps of all agents that are often executable in turn, and some with objects of several agents."""
    names = sorted({name for agent in agents for name in agent.actions})
    steps = []
    for _ in range(random.randint(1, 4)):
        if not names:
            break
        agent = random.choice(agents)
        name = random.choice(agent.actions or tuple(names))
        pool: dict[str, list[str]] = {kind: agent.public[kind] + agent.private[kind] for kind in agent.public}
        if random.random() < 0.3:
            peer = random.choice(agents)
            pool = {kind: pool[kind] + peer.public[kind] + peer.private[kind] for kind in pool}
        kinds = [word for word in ACTIONS[name][0].split() if word in pool]
        choices = list(product(*[pool[kind] for kind in kinds]))
        if choices:
            steps.append(f"({name} {' '.join(random.choice(choices))})")
    return "\n".join(steps)


def verdict(checker: Checker, plan: str) -> tuple[object, ...]:
    report = judge(checker, plan)
    return report.headline, [
        (finding.code, finding.step, finding.rule, finding.binding, finding.readings) for finding in report.findings
    ]


@pytest.mark.parametrize("seed", range(15))
def test_random_tasks_have_the_verdicts_of_plain_tasks(seed: int) -> None:
    random = Random(seed)
    agents = random_agents(random)
    domain, problem = factored_texts(agents)
    factored = Checker(Source("domain", domain), Source("problem", problem), [Source("s", RULE)])
    plain_domain, plain_problem = plain_texts(agents)
    plain = Checker(Source("domain", plain_domain), Source("problem", plain_problem), [Source("s", RULE)])
    kernel = Kernel(domain, problem, [RULE])
    for _ in range(20):
        plan = random_plan(random, agents)
        expected = verdict(plain, plan)
        assert verdict(factored, plan) == expected, (domain, problem, plan)
        headline = judge(factored, plan).headline
        assert headline is not None and kernel.audit(plan).headline == headline.value, (domain, problem, plan)


def parts(*pairs: tuple[str, str]) -> tuple[str, str]:
    """Domains and problems of agents, from sections."""
    domains = [f"(define (domain d) {REQUIREMENTS} {domain})" for domain, _ in pairs]
    problems = [f"(define (problem p) (:domain d) {problem})" for _, problem in pairs]
    return "\n".join(domains), "\n".join(problems)


def headlines(texts: tuple[str, str], *plans: str) -> list[str]:
    """The verdicts on plans; the kernel must agree."""
    domain, problem = texts
    checker, kernel = Checker(Source("domain", domain), Source("problem", problem)), Kernel(domain, problem)
    headlines = []
    for plan in plans:
        headline = judge(checker, plan).headline
        assert headline is not None and kernel.audit(plan).headline == headline.value, plan
        headlines.append(headline.value)
    return headlines


GREET = (
    "(:types robot) (:predicates (met ?a ?b - robot))"
    "(:action greet :agent ?a - robot :parameters (?b - robot) :effect (met ?a ?b))"
)


def test_the_variable_of_agent_is_private() -> None:
    north = GREET, "(:objects guest - robot (:private r1 - robot)) (:goal ())"
    south = GREET, "(:objects guest - robot (:private r2 - robot)) (:goal ())"
    plans = ("(greet r1 guest)", "(greet r2 guest)", "(greet guest r1)", "(greet r1 r2)", "(greet guest guest)")
    assert headlines(parts(north, south), *plans) == ["VALID", "VALID", "INVALID", "INVALID", "INVALID"]


def test_an_agent_without_private_objects_may_use_any_that_it_knows() -> None:
    texts = parts((GREET, "(:objects guest - robot) (:goal ())"), (GREET, "(:objects other - robot) (:goal ())"))
    assert headlines(texts, "(greet guest guest)", "(greet guest other)") == ["VALID", "INVALID"]


def test_durative_actions_processes_and_events() -> None:
    sections = (
        "(:types tank) (:predicates (:private (open ?t - tank) (full ?t - tank))) "
        "(:functions (level ?t - tank) - number)"
        "(:process fill :parameters (?t - tank) :precondition (open ?t) :effect (increase (level ?t) (* #t 1)))"
        "(:event stop :parameters (?t - tank) :precondition (and (>= (level ?t) 5) (not (full ?t))) :effect (full ?t))"
        "(:durative-action run :parameters (?t - tank) :duration (>= ?duration 0) :effect (at start (open ?t)))"
    )
    problem = "(:objects (:private {0} - tank)) (:init (= (level {0}) 0)) (:goal (full {0}))"
    texts = parts((sections, problem.format("t1")), (sections, problem.format("t2")))
    assert headlines(texts, "0: (run t1) [9]\n0: (run t2) [9]", "0: (run t1) [9]\n6: (run t2) [4]") == [
        "VALID",
        "INVALID",
    ]


def test_goals_constraints_and_metrics_are_joined() -> None:
    sections = (
        "(:predicates (a) (b) (c)) (:action do-{0} :parameters () :effect ({0})) (:constraints (always (not (c))))"
    )
    metric = "(:metric minimize (total-time))"
    texts = parts((sections.format("a"), f"(:goal (a)) {metric}"), (sections.format("b"), f"(:goal (b)) {metric}"))
    assert headlines(texts, "(do-a) (do-b)", "(do-a)") == ["SAFE", "INVALID"]
    checker = Checker(*map(Source, ("d", "p"), texts))
    assert [rule.name for rule in checker.rules] == ["constraint-1"]
    assert judge(checker, "(do-a) (do-b)").metric == "2"


def test_findings_point_into_the_parts() -> None:
    domains, problems = parts(
        (GREET, "(:objects x - robot) (:goal ())"), (GREET, "(:objects y - robot) (:goal (met y y))")
    )
    sources = [
        [Source(f"{kind}-{number}", text) for number, text in enumerate(texts.split("\n"))]
        for kind, texts in (("domain", domains), ("problem", problems))
    ]
    checker = Checker(*map(Source.joined, sources))
    unknown, goal = judge(checker, "(greet x y)").findings
    places = [(label.source, checker.sources[label.source].slice(label.span)) for label in unknown.related]
    assert places == [("domain-0", "greet")]
    assert unknown.notes == ("no agent that has `greet` knows all of these objects",)
    assert [(label.source, checker.sources[label.source].slice(label.span)) for label in goal.related] == [
        ("problem-0", "()")
    ]


OBJECTS = "(:objects o - object) (:goal ())"
REJECTED = {
    "a missing problem": parts(("(:predicates (p))", OBJECTS), ("(:predicates (p))", ")(define (domain d)")),
    "other parameters": parts(("(:predicates (p))", OBJECTS), ("(:predicates (p ?o - object))", OBJECTS)),
    "other types of an object": parts(
        ("(:types a b)", "(:objects o - a) (:goal ())"), ("(:types a b)", "(:objects o - b) (:goal ())")
    ),
    "another effect": parts(
        ("(:predicates (p) (q)) (:action x :effect (p))", OBJECTS),
        ("(:predicates (p) (q)) (:action x :effect (q))", OBJECTS),
    ),
    "another definition": parts(
        ("(:predicates (p) (q)) (:derived (p) (q))", OBJECTS),
        ("(:predicates (p) (q)) (:derived (p) (not (q)))", OBJECTS),
    ),
    "a private object of two agents": parts(
        ("", "(:objects (:private o - object)) (:goal ())"), ("", "(:objects (:private o - object)) (:goal ())")
    ),
    "a private object that another agent knows": parts(
        ("", "(:objects o - object) (:goal ())"), ("", "(:objects (:private o - object)) (:goal ())")
    ),
    "an object that is private in the first part": parts(
        ("", "(:objects (:private o - object)) (:goal ())"), ("", "(:objects o - object) (:goal ())")
    ),
    "a predicate that only one agent keeps private": parts(
        ("(:predicates (p ?o - object))", OBJECTS), ("(:predicates (:private (p ?o - object)))", OBJECTS)
    ),
    "private facts without an object": parts(
        ("(:predicates (:private (p)))", OBJECTS), ("(:predicates (:private (p)))", OBJECTS)
    ),
    "private facts about public objects": parts(
        ("(:predicates (:private (p ?o - object)))", "(:objects o - object) (:init (p o)) (:goal ())"),
        (
            (
                "(:predicates (:private (p ?o - object)))"
                "(:action x :parameters (?x - object) :effect (forall (?y - object) (when (= ?x ?y) (p ?y))))"
            ),
            OBJECTS,
        ),
    ),
    "private derived facts": parts(
        ("(:types a) (:predicates (:private (p ?x - a))) (:derived (p ?x - a) ())", "(:objects o - a) (:goal ())"),
        ("(:types a) (:predicates (:private (p ?x - a)))", "(:objects o - a) (:goal (p o))"),
    ),
    "a private predicate without a name": parts(("(:predicates (:private ()))", OBJECTS), ("", OBJECTS)),
    "private numbers": parts(
        ("(:functions (:private (f)))", "(:init (= (f) 0)) (:goal ())"), ("(:functions (:private (f)))", "(:goal ())")
    ),
    "private predicates with other numbers of parameters": parts(
        ("(:predicates (:private (p ?o - object)))", OBJECTS), ("(:predicates (:private (p ?o ?x - object)))", OBJECTS)
    ),
    "two metrics": parts(
        ("", "(:goal ()) (:metric minimize (total-time))"), ("", "(:goal ()) (:metric maximize (total-time))")
    ),
    "a predicate of another agent": parts(
        ("(:predicates (p))", OBJECTS), ("(:predicates (q)) (:action x :effect (p))", OBJECTS)
    ),
    "a quantifier over unknown objects": parts(
        ("(:predicates (p ?o - object))", "(:objects a - object) (:goal (forall (?o - object) (p ?o)))"),
        ("(:predicates (p ?o - object))", "(:objects b - object) (:goal ())"),
    ),
    "a derived predicate over unknown objects": parts(
        ("(:predicates (p ?o - object) (q)) (:derived (p ?o - object) (q))", "(:objects a - object) (:goal ())"),
        ("(:predicates (q))", "(:objects b - object) (:goal ())"),
    ),
    "a local variable over unknown objects": parts(
        (
            "(:predicates (p ?o - object)) (:action x :vars (?o - object) :precondition (p ?o))",
            "(:objects a - object) (:goal ())",
        ),
        ("(:predicates (p ?o - object))", "(:objects b - object) (:goal ())"),
    ),
    "without the requirement": (
        "(define (domain d) (:predicates (p))) (define (domain d) (:predicates (p)))",
        "(define (problem p) (:domain d) (:goal ())) (define (problem p) (:domain d) (:goal ()))",
    ),
}


@pytest.mark.parametrize("texts", REJECTED.values(), ids=REJECTED)
def test_contradictory_parts_are_rejected(texts: tuple[str, str]) -> None:
    assert not Checker(*map(Source, ("d", "p"), texts)).ok
    with pytest.raises(KernelRejects):
        Kernel(*texts)


def test_private_facts_are_separate_if_no_two_agents_name_an_object_in_common() -> None:
    """The agents are public objects, as unified-planning writes them; each action is about its own agent."""
    head = (
        "(:types agent place - object crane truck - agent) (:predicates (held ?p - place) (:private (free ?a - {0})))"
    )
    actions = (
        (
            "(:action lift :parameters (?c - crane ?p - place) :precondition (free ?c)"
            " :effect (and (not (free ?c)) (held ?p)))"
        ),
        (
            "(:action carry :parameters (?t - truck ?p - place) :precondition (and (free ?t) (held ?p))"
            " :effect (and (not (free ?t)) (not (held ?p))))"
        ),
    )
    problem = "(:objects c - crane t - truck yard - place) (:init (free {0})) (:goal (not (held yard)))"
    plans = ("(lift c yard) (carry t yard)", "(lift c yard)", "(lift t yard)", "(carry t yard)")
    for types in (("agent", "agent"), ("crane", "truck")):
        texts = parts(
            (head.format(types[0]) + actions[0], problem.format("c")),
            (head.format(types[1]) + actions[1], problem.format("t")),
        )
        assert headlines(texts, *plans) == ["VALID", "INVALID", "INVALID", "INVALID"]


def test_quantified_variables_name_the_objects_of_their_type() -> None:
    head = "(:types agent - object crane truck - agent) (:predicates (:private (free ?a - agent)))"
    problem = "(:objects c - crane t - truck) (:init (free {0})) (:goal (forall (?x - {1}) (free ?x)))"
    texts = parts((head, problem.format("c", "crane")), (head, problem.format("t", "truck")))
    assert headlines(texts, "") == ["VALID"]


def test_a_failed_precondition_points_into_a_part() -> None:
    domain = "(:predicates (p ?x - object)) (:action a :parameters (?x - object) :precondition (p ?x))"
    domains, problems = parts(
        (domain, "(:objects x - object) (:goal ())"), (domain, "(:objects y - object) (:goal ())")
    )
    checker = Checker(Source("domain", domains), Source("problem", problems))
    (finding,) = judge(checker, "(a y)").findings
    assert finding.notes == ("`(p y)` is false",)
    assert [checker.sources[label.source].slice(label.span) for label in finding.related] == ["(p ?x)"]


def test_names_of_other_kinds_are_not_private() -> None:
    """A type is not a private object, and a private predicate is not a private function."""
    sections = "(:types hub) (:predicates (:private (p ?x - hub))) (:functions (p) - number)"
    domain = f"{sections} (:action x :parameters (?x - hub) :precondition (> (p) 0) :effect (p ?x))"
    problem = "(:objects hub - hub (:private {0} - hub)) (:init (= (p) 1)) (:goal (p {0}))"
    with pytest.raises(KernelRejects, match="private facts of two agents"):
        headlines(parts((domain, problem.format("a")), (domain, problem.format("b"))))
    only = "(:types hub) (:functions (p) - number)"
    texts = parts((domain, problem.format("a")), (only, "(:objects hub - hub) (:init (= (p) 1)) (:goal ())"))
    assert headlines(texts, "(x a)", "(x hub)") == ["VALID", "INVALID"]


def test_the_same_declarations_are_accepted() -> None:
    sections = (
        "(:types a - b b) (:constants (:private) k - a) (:predicates (p ?x - a) (q)) "
        "(:functions (f ?x - b) - number (total-cost))"
        "(:derived (q) (exists (?x - a) (p ?x)))"
        "(:action x :parameters (?x - a) :vars (?y - a) :precondition (p ?y) :effect (increase (f ?x) 1))"
    )
    problem = "(:objects o - a) (:init (p o) (= (f o) 1) (= (f k) 2)) (:goal (and (q) (forall (?x - b) (>= (f ?x) 1))))"
    assert headlines(parts((sections, problem), (sections, problem)), "(x o) (x k)", "(x x)") == ["VALID", "INVALID"]
