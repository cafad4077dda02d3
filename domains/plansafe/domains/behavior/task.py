"""From an activity to a task: the PDDL problem, and the domain with the categories that it lacks.

docs/home-worlds.md describes the decisions that an activity leaves open: agents have two hands, an object that can be
cut has pieces, halves and diced forms belong to the object that they are named after.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.behavior.bddl import AGENT, MORE, ROOM, Activity, ActivityLiteral
from plansafe.domains.behavior.goals import Goals
from plansafe.domains.behavior.vocabulary import IGIBSON, OMNIGIBSON, Vocabulary, abilities_of, kinds_of
from plansafe.domains.world import Scene, no_scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import Node, format_node
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, is_name

NOT_MOVABLE = frozenset(["fixed", "substance", "agent", "room"])
PIECES = ("part_0", "part_1")
BUILT_IN = frozenset(
    [f"{name}.n.01" for name in ("floor", "wall", "ceiling", "door", "window", "sink", "countertop", "shower")]
)
WATER = "water.n.06"
MADE_FROM = {"half": "half_of", "diced": "diced_of", "cooked": "heated_of", "melted": "heated_of"}
SUBSTANCE_PREDICATES = ("covered", "filled", "contains", "saturated", "insource")
_SENSE = re.compile(r"\.[nv]\.\d+\Z")
_INSTANCE = re.compile(r"(.+)_(\d+|\*)\Z", re.DOTALL)


class Naming(NamedTuple):
    """Names of the world and of PDDL, both ways, and what the objects are.

    ``names`` maps names as plans write them to objects; ``kinds`` an object to its type; ``rooms`` an object to the
    name of its room; ``agent`` is the acting object; ``pieces`` maps objects that can be cut to their pieces.
    """

    domain: str
    names: dict[str, str]
    kinds: dict[str, str]
    rooms: dict[str, str]
    agent: str
    pieces: dict[str, tuple[str, ...]]
    written: dict[str, str]
    """How the world writes an object."""
    hands: bool
    """Whether the agent has two hands, so that steps can name one."""
    movable: str
    """Something that can be taken, if there is anything: what a step about an empty hand names."""
    contents: dict[str, tuple[str, ...]]
    """The substances that an object has at first: in it, on it, or to give."""
    substances: frozenset[str]
    movables: frozenset[str]
    """The objects that can be taken."""
    cut_by: dict[str, str]
    """The action that cuts an object: `slice` into halves, or `dice`."""


def scene_of(
    activity: Activity, context: Context, source: Source, simulator_names: dict[str, str] | None = None
) -> Scene:
    """The task of an activity; ``simulator_names`` are the names in plans, if they differ from the activity's."""
    vocabulary = activity.vocabulary
    activity = complete_activity(activity)
    names, types = _names(activity, vocabulary)
    pieces = _pieces(activity, names, types, vocabulary)
    cut = frozenset([activity.objects[name] for name in activity.objects if names[name] in pieces])
    goals = Goals(context, activity, names, cut)
    goal: Node = ["and"]
    if activity.goal is not None and activity.at is not None:
        goal = goals.translate(activity.goal, activity.at)
    if context.errors:
        return no_scene(*context.diagnostics)
    problem = _problem(activity, names, types, pieces, goal)
    missing = _missing(activity, types, vocabulary)
    rooms = {names[fact.arguments[0]]: fact.arguments[1] for fact in activity.init if fact.predicate == "inroom"}
    agent = next((names[name] for name, category in activity.objects.items() if category == AGENT), "")
    plan_names = {name: names[instance] for instance, name in (simulator_names or {}).items() if instance in names}
    written = {obj: name for name, obj in plan_names.items()} if plan_names else {names[n]: n for n in names}

    def _is(kind: str, category: str) -> bool:
        if category not in missing:
            return kind in vocabulary.kinds[category]
        return any([kind in vocabulary.kinds[above] for above in missing[category]])

    cut_by = {
        names[source]: "slice" if relation == "half_of" else "dice"
        for relation, _, source in sorted(_made_from(activity))
        if relation != "heated_of"
    }
    contents: dict[str, tuple[str, ...]] = {}
    for fact in activity.init:
        if fact.positive and fact.predicate in SUBSTANCE_PREDICATES:
            holder, substance = [names[name] for name in fact.arguments]
            contents[holder] = (*contents.get(holder, ()), substance)
    naming = Naming(
        activity.domain,
        {**{obj: obj for obj in names.values()}, **names, **plan_names},
        {names[name]: types[category] for name, category in activity.objects.items()},
        rooms,
        agent,
        pieces,
        written,
        activity.domain == IGIBSON,
        next((names[name] for name, category in activity.objects.items() if _is("movable", types[category])), agent),
        contents,
        frozenset([names[name] for name, category in activity.objects.items() if _is("substance", types[category])]),
        frozenset([names[name] for name, category in activity.objects.items() if _is("movable", types[category])]),
        cut_by,
    )
    notes = (*context.diagnostics, *_notes(activity, source))
    domain = _domain(activity, missing, vocabulary)
    return Scene(domain, Source(f"{source.name} (as PDDL)", problem), notes=notes, data=naming)


def _names(activity: Activity, vocabulary: Vocabulary) -> tuple[dict[str, str], dict[str, str]]:
    """PDDL names of instances and of categories, one-to-one within each."""
    used = set(vocabulary.constants)
    names = {name: _unused(name.replace(MORE, "_more"), used) for name in activity.objects}
    types: dict[str, str] = {}
    taken_types: set[str] = set()
    for category in dict.fromkeys(activity.objects.values()):
        plain = category if is_name(category) else f"kind_{category}"
        types[category] = _unused(plain, taken_types)
    return names, types


def _unused(name: str, used: set[str]) -> str:
    candidate = name.replace(".", "_")
    while candidate in used:
        candidate += "_"
    used.add(candidate)
    return candidate


def _pieces(
    activity: Activity, names: dict[str, str], types: dict[str, str], vocabulary: Vocabulary
) -> dict[str, tuple[str, ...]]:
    """The pieces of objects that can be cut, if the scene has a knife."""
    if activity.domain != IGIBSON:
        return {}
    kinds = {category: vocabulary.kinds.get(types[category], frozenset()) for category in types}
    if not any(["slicer" in kinds_above for kinds_above in kinds.values()]):
        return {}
    return {
        names[name]: tuple([f"{names[name]}_{piece}" for piece in PIECES])
        for name, category in activity.objects.items()
        if "sliceable" in kinds[category]
    }


def _missing(activity: Activity, types: dict[str, str], vocabulary: Vocabulary) -> dict[str, list[str]]:
    """The kinds of the types that the shipped domain lacks, sorted. Only objects known as fixed are not movable."""
    used = _kinds_by_use(activity)
    missing: dict[str, list[str]] = {}
    for category, kind in types.items():
        if kind in vocabulary.kinds:
            continue
        candidates = kinds_of(category) | abilities_of(category) | used.get(category, set())
        declared = {kind for kind in candidates if kind in vocabulary.kinds}
        if all([NOT_MOVABLE.isdisjoint(vocabulary.kinds[kind]) for kind in declared]):
            declared.add("movable")
        missing[kind] = sorted(declared)
    return missing


def _domain(activity: Activity, missing: dict[str, list[str]], vocabulary: Vocabulary) -> Source:
    """The shipped domain, with the categories that it does not declare."""
    if not missing:
        return vocabulary.source
    groups: dict[str, list[str]] = {}
    for name, kinds in missing.items():
        above = kinds[0] if len(kinds) == 1 else f"(either {' '.join(kinds)})"
        groups.setdefault(above, []).append(name)
    lines = "".join([f"\n    {' '.join(members)} - {above}" for above, members in groups.items()])
    text, at = vocabulary.source.text, vocabulary.types_at
    return Source(
        f"{vocabulary.source.name} (with {len(missing)} types of {activity.name})", text[:at] + lines + text[at:]
    )


def _kinds_by_use(activity: Activity) -> dict[str, set[str]]:
    """Kinds of categories that an activity implies: substances fill or cover, and vessels are filled."""
    kinds: dict[str, set[str]] = {}
    for fact in activity.init:
        if fact.predicate in SUBSTANCE_PREDICATES:
            kinds.setdefault(activity.objects[fact.arguments[1]], set()).add("substance")
        if fact.predicate in ("filled", "contains"):
            kinds.setdefault(activity.objects[fact.arguments[0]], set()).add("fillable")
    return kinds


def complete_activity(activity: Activity) -> Activity:
    """Add what an activity of OmniGibson leaves out: forms between two others, halves, and the water of taps."""
    if activity.domain != OMNIGIBSON:
        return activity
    instances = activity.instances()
    lemmas = {_lemma(category) for category in instances}
    future = {fact.arguments[0] for fact in activity.init if fact.predicate == "future"}
    forms: dict[str, str] = {}
    for category in instances:
        form, _, base = category.partition("__diced__")
        has_base = not lemmas.isdisjoint([_lemma(base), f"half__{_lemma(base)}"])
        if form == "cooked" and f"diced__{_lemma(base)}" not in lemmas and has_base:
            forms[f"diced__{base}_1"] = f"diced__{base}"  # an onion that is cooked diced was diced before
    lemmas |= {_lemma(category) for category in forms.values()}
    if any(["slicer" in kinds_of(category) | abilities_of(category) for category in instances]):
        for category, members in instances.items():
            form, separator, base = category.partition("__")
            if form == "half" and separator and f"diced__{_lemma(base)}" not in lemmas:
                forms[f"diced__{base}_1"] = f"diced__{base}"
            is_cut = not lemmas.isdisjoint([f"{prefix}__{_lemma(category)}" for prefix in ("half", "diced")])
            if "sliceable" not in abilities_of(category) or is_cut or form in MADE_FROM:
                continue
            halves = range(1, 2 * len([name for name in members if name not in future]) + 1)
            forms |= {f"half__{category}_{number}": f"half__{category}" for number in halves}
    init = [*activity.init, *[ActivityLiteral(True, "future", (name,)) for name in forms]]
    gives = {fact.arguments[0] for fact in activity.init if fact.predicate == "insource"}
    taps = [
        name
        for category, members in instances.items()
        if "water_source" in kinds_of(category)
        for name in members
        if name not in gives
    ]
    water = next(iter(instances.get(WATER, ())), f"{WATER}_1")
    if taps and water not in activity.objects:
        forms[water] = WATER
    init += [ActivityLiteral(True, "insource", (name, water)) for name in taps]
    return activity._replace(objects={**activity.objects, **forms}, init=init)


def _lemma(category: str) -> str:
    """A category without its sense: forms do not have the sense of their original."""
    return _SENSE.sub("", category)


def _made_from(activity: Activity) -> list[tuple[str, str, str]]:
    """Facts that link forms made by cutting, cooking or melting to their originals, by their names."""
    instances = activity.instances()
    by_lemma: dict[str, list[str]] = {}
    for category, members in instances.items():
        by_lemma.setdefault(_lemma(category), []).extend(members)
    facts: list[tuple[str, str, str]] = []
    for category, members in instances.items():
        form, separator, base = _lemma(category).partition("__")
        relation = MADE_FROM.get(form) if separator else None
        if relation is None:
            continue
        for sources in (by_lemma.get(base), by_lemma.get(f"half__{base}") if form == "diced" else None):
            if not sources:
                continue
            share = max(1, len(members) // len(sources))
            for number, member in enumerate(members):
                facts.append((relation, member, sources[min(number // share, len(sources) - 1)]))
            if len(members) == 1:  # one substance for the whole category
                facts += [(relation, members[0], source) for source in sources[1:]]
    return facts


def _problem(
    activity: Activity, names: dict[str, str], types: dict[str, str], pieces: dict[str, tuple[str, ...]], goal: Node
) -> str:
    lines = [f"(define (problem {activity.name})", f"  (:domain {activity.domain})", "  (:objects"]
    lines += [
        f"    {' '.join([names[member] for member in members])} - {types[category]}"
        for category, members in activity.instances().items()
    ]
    lines += [f"    {' '.join(parts)} - piece" for parts in pieces.values()]
    lines += ["  )", "  (:init"]
    lines += ["    " + _literal(fact, names) for fact in [*activity.init, *_standing(activity)]]
    if activity.domain == IGIBSON:
        lines += [f"    (two_handed {names[name]})" for name, category in activity.objects.items() if category == AGENT]
    lines += [f"    (piece_of {part} {whole})" for whole, parts in pieces.items() for part in parts]
    if activity.domain == OMNIGIBSON:
        lines += [f"    ({relation} {names[made]} {names[source]})" for relation, made, source in _made_from(activity)]
        future = {fact.arguments[0] for fact in activity.init if fact.predicate == "future"}
        there = [name for name, kind in activity.objects.items() if name not in future and kind != ROOM]
        lines += [f"    (real {names[name]})" for name in there]
    lines += ["  )", "  (:goal"]
    conjuncts = goal[1:] if isinstance(goal, list) and goal[0] == "and" and len(goal) > 2 else None
    if conjuncts is None:
        lines += [f"    {format_node(goal)}"]
    else:
        lines += ["    (and", *[f"      {format_node(conjunct)}" for conjunct in conjuncts], "    )"]
    return "\n".join([*lines, "  )", ")", ""])


def _standing(activity: Activity) -> list[ActivityLiteral]:
    """Furniture is on the floor of its room if the room has one floor; so are objects that are put next to it."""
    if activity.domain != IGIBSON:
        return []
    rooms = {fact.arguments[0]: fact.arguments[1] for fact in activity.init if fact.predicate == "inroom"}
    floors: dict[str, list[str]] = {}
    for name, room in rooms.items():
        if activity.objects[name] == "floor.n.01":
            floors.setdefault(room, []).append(name)
    placed = {fact.arguments[0] for fact in activity.init if fact.predicate in ("onfloor", "ontop", "inside")}
    return [
        ActivityLiteral(True, "onfloor", (name, floors[room][0]))
        for name, room in rooms.items()
        if name not in placed and activity.objects[name] not in BUILT_IN and len(floors.get(room, ())) == 1
    ]


def _literal(fact: ActivityLiteral, names: dict[str, str]) -> str:
    atom = f"({fact.predicate} {' '.join([names[name] for name in fact.arguments])})"
    return atom if fact.positive else f"(not {atom})"


def _notes(activity: Activity, source: Source) -> list[Diagnostic]:
    more = [name for name in activity.objects if name.endswith(MORE)]
    if not more:
        return []
    at = source.text.lower().find(more[0])
    label = Label(source.name, Span(max(at, 0), max(at, 0) + len(more[0])))
    text = "any number of further objects in the scene; read as one object"
    return [
        Diagnostic(SC.AMBIGUOUS_OBJECT, f"`{name}` stands for {text}", (label,), severity=Severity.NOTE)
        for name in more
    ]
