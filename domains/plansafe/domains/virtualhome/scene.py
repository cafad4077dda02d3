"""A scene of VirtualHome as a task: the problem that a graph and a goal make together."""

from __future__ import annotations

from plansafe.domains.virtualhome.cast import cast
from plansafe.domains.virtualhome.graph import Home, read_graph
from plansafe.domains.virtualhome.names import domain_file, domain_text
from plansafe.domains.world import GOAL, SCENE, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source


def read_scene(request: Request) -> Scene:
    """The task of a graph, with the goal of the task that is meant, if one is. Linear in the size of the files."""
    graph = request.files.get(SCENE)
    if graph is None:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, "the scene is missing", help="give an environment graph"))
    wrong = () if GOAL in request.files else wrong_task(request)
    if wrong:
        return no_scene(*wrong)
    home = read_graph(graph)
    if isinstance(home, Diagnostic):
        return no_scene(home)
    data = cast(home)
    if not data.characters:
        label = Label(graph.name, Span(0, min(1, len(graph.text))))
        advice = "add a character to the scene before you save the graph"
        return no_scene(
            *home.notes,
            Diagnostic(
                SC.UNREADABLE_WORLD, "the graph has no character: no node is a `character`", (label,), help=advice
            ),
        )
    domain = Source(domain_file(), domain_text())
    text, notes = "(and)", home.notes
    if GOAL in request.files:
        from plansafe.domains.virtualhome.goals import read_goal  # noqa: PLC0415 - most audits have no goal file

        goal = read_goal(request.files[GOAL], request.task, home)
        if goal.stages is None:
            return no_scene(*home.notes, *goal.notes)
        text = goal.stages.goal
        notes = [*notes, *goal.notes]
        domain = goal.stages.extended(domain)
    problem = Source(f"{graph.name} as PDDL", problem_text(home, text))
    return Scene(domain, problem, notes=tuple(notes), data=data)


def problem_text(home: Home, goal: str) -> str:
    """The PDDL problem of a graph."""
    by_type: dict[str, list[str]] = {}
    for node in home.objects.values():
        by_type.setdefault(node.type, []).append(node.name)
    objects = "\n    ".join([f"{' '.join(names)} - {of_type}" for of_type, names in by_type.items()])
    facts = "\n    ".join(home.facts)
    return (
        "(define (problem scene)\n  (:domain virtualhome)\n"
        f"  (:objects\n    {objects})\n  (:init\n    {facts})\n  (:goal {goal}))\n"
    )
