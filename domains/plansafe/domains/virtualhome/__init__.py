"""VirtualHome: scripts of household activities, the environment graphs that they run on, and the goals of their tasks.

``graph`` reads scenes, ``script`` plans, ``goals`` annotations, ``places`` finds names again; docs/home-worlds.md says
what everything means.
"""

from __future__ import annotations

from plansafe.domains.virtualhome.places import object_place, word_places
from plansafe.domains.virtualhome.scene import read_scene
from plansafe.domains.virtualhome.script import read_plan, write_step
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole

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
    # Steps that the others prepare; walking, finding, taking, putting and opening are means.
    purposes=frozenset(
        (
            *("cut", "drink", "eat", "greet", "lie", "pour", "puton", "putoff", "read", "rinse", "scrub", "sit"),
            *("sleep", "squeeze", "switchon", "type", "wash", "watch", "wipe"),
        )
    ),
    word_places=word_places,
    object_place=object_place,
)
