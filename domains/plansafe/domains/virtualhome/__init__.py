"""VirtualHome: scripts of household activities, the environment graphs that they run on, and the goals of their tasks.

``graph`` reads scenes, ``script`` plans and ``goals`` annotations; docs/home-worlds.md defines the meaning.
"""

from __future__ import annotations

from plansafe.domains.virtualhome.graph import Home, index_objects, read_graph
from plansafe.domains.virtualhome.names import domain_file, domain_text
from plansafe.domains.virtualhome.script import object_place, read_plan, word_places, write_step
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source


def read_scene(request: Request) -> Scene:
    """Read a graph as a task, with the goal of a goal file if there is one. Linear in the size of the files."""
    graph = request.files.get(SCENE)
    if graph is None:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, "the scene is missing", help="give an environment graph"))
    diagnostics = () if GOAL in request.files else wrong_task(request)
    if diagnostics:
        return no_scene(*diagnostics)
    home = read_graph(graph)
    if isinstance(home, Diagnostic):
        return no_scene(home)
    data = index_objects(home)
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
    """Write the PDDL problem of a graph."""
    by_type: dict[str, list[str]] = {}
    for node in home.objects.values():
        by_type.setdefault(node.type, []).append(node.name)
    objects = "\n    ".join([f"{' '.join(names)} - {of_type}" for of_type, names in by_type.items()])
    facts = "\n    ".join(home.facts)
    return (
        "(define (problem scene)\n  (:domain virtualhome)\n"
        f"  (:objects\n    {objects})\n  (:init\n    {facts})\n  (:goal {goal}))\n"
    )


WORLD = Benchmark(
    name="virtualhome",
    title="VirtualHome: scripts of household activities on environment graphs",
    domain="virtualhome",
    files=(
        FileRole(SCENE, "an environment graph (JSON: nodes and edges, or init_graph, or environment_graph)", True),
        FileRole(GOAL, "goals of tasks, as the Embodied Agent Interface annotates them (JSON: vh_goal, tl_goal)"),
    ),
    plans=(
        "[GRAB] <mug> (1.41)",
        "<char0> [putin] <apple> (437) <fridge> (305)",
        '{"WALK": ["kitchen", 11], "GRAB": ["mug", 41]}',
    ),
    example="safecheck audit --world virtualhome script.txt --scene graph.json",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
    # Walking, finding, taking, putting and opening only prepare these steps.
    purposes=frozenset(
        (
            *("cut", "drink", "eat", "greet", "lie", "pour", "puton", "putoff", "read", "rinse", "scrub", "sit"),
            *("sleep", "squeeze", "switchon", "type", "wash", "watch", "wipe"),
        )
    ),
    word_places=word_places,
    object_place=object_place,
)
