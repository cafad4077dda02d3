"""The scene files of this world, distinguished by their content.

- an activity in BDDL: instances of synsets, ``grape.n.01_1 - grape.n.01``;
- a problem in PDDL for one of the shipped domains, which is used as it is;
- a prompt of the Embodied Agent Interface, as text or as one of the prompts of its JSON file;
- one of its scenes in JSON (``behavior_bddl_info``).

Beside an activity, the goal file may be a task of IS-Bench, whose safety goals become rules.
"""

from __future__ import annotations

import re
from itertools import pairwise

from plansafe.domains.behavior.bddl import AGENT, ROOM, Activity, read_activity
from plansafe.domains.behavior.cautions import is_task_file, read_task_goal, read_task_goals, specification
from plansafe.domains.behavior.task import Naming, scene_of
from plansafe.domains.behavior.tokens import is_prompt, read_info, read_prompt
from plansafe.domains.behavior.vocabulary import DOMAINS, vocabulary
from plansafe.domains.world import GOAL, SCENE, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.sexpr import Node, parse_source
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, did_you_mean

_START = re.compile(r"(?:\s|;[^\r\n]*(?:[\r\n]|\Z))*")
_DEFINED = re.compile(r"\(\s*define\s*\(\s*problem\s+([^\s()]+)", re.IGNORECASE)
_SYNSET = re.compile(r"\.n\.\d+(?:_(?:\d+|\*))?\Z")
PLAIN_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")


def read_scene(request: Request) -> Scene:
    """Read the scene of a request. Linear in the size of the file."""
    source = request.files[SCENE]
    start = _START.match(source.text)
    position = start.end() if start else 0
    char = source.text[position : position + 1]
    if char == "(":
        name = _DEFINED.match(source.text, position)
        goals = request.files.get(GOAL)
        if goals is not None and is_task_file(goals):
            return _refused(*wrong_task(request, *([name[1]] if name else []))) or _with_task_goals(source, goals)
        return _alone(request, name[1] if name else None, source) or _lisp(source)
    if char == "{" and is_prompt(source.text) and not source.text.startswith("[", position):
        return _refused(*wrong_task(request)) or _prompt(source, source, request, "scene")
    if char in ("[", "{"):
        return _json(source, position, request)
    if is_prompt(source.text):
        return _refused(*wrong_task(request)) or _prompt(source, source, request, "scene")
    return no_scene(
        Diagnostic(
            SC.UNREADABLE_WORLD,
            "the text is not a scene of BEHAVIOR",
            (Label(source.name, Span(position, min(position + 1, len(source.text)))),),
            help="expected BDDL, PDDL, or a prompt or scene of the Embodied Agent Interface",
        )
    )


def _refused(*diagnostics: Diagnostic) -> Scene | None:
    return no_scene(*diagnostics) if diagnostics else None


def _alone(request: Request, name: str | None, source: Source) -> Scene | None:
    """The refusal of a goal file, or of a task, where the scene is the one task itself; nothing if all is well."""
    if GOAL in request.files:
        label = Label(source.name, Span(0, min(1, len(source.text))))
        text = "this scene has a goal: --goal is only for prompts, which have none, and for task files of IS-Bench"
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, text, (label,), help="remove --goal"))
    return _refused(*wrong_task(request, *([] if name is None else [name])))


def _made(source: Source, activity: Activity | None, context: Context) -> Scene:
    return no_scene(*context.diagnostics) if activity is None else scene_of(activity, context, source)


def _with_task_goals(source: Source, file: Source) -> Scene:
    """The scene of an activity with the goals of a task file of IS-Bench."""
    goals = read_task_goals(file)
    if isinstance(goals, Diagnostic):
        return no_scene(goals)
    activity, context = read_activity(source)
    if activity is None:
        return no_scene(*context.diagnostics)
    if goals.task_goal is not None:
        formula = read_task_goal(goals.task_goal, context)
        if formula is None:
            return no_scene(*context.diagnostics)
        activity = activity._replace(goal=formula[0], at=formula[1])
    scene = scene_of(activity, context, source)
    if not scene.ok:
        return scene
    rules, notes = specification(goals, file, activity, scene.data)
    return scene._replace(specs=() if rules is None else (rules,), notes=(*scene.notes, *notes))


def _prompt(source: Source, text: Source, request: Request, name: str) -> Scene:
    """The scene of a prompt; with the activity itself at hand, the prompt only says what its instances are called."""
    listed, context = read_prompt(text, Span(0, len(text.text)), name)
    definition = request.files.get(GOAL)
    if listed is None or definition is None:
        return _made(source, listed, context)
    activity, goal_context = read_activity(definition)
    if activity is None:
        return no_scene(*goal_context.diagnostics)
    plan_names: dict[str, str] = {}
    in_prompt = listed.instances()
    for category, instances in activity.instances().items():
        names = in_prompt.get(category, [])
        if category in (AGENT, ROOM):
            continue
        if len(names) != len(instances):
            label = Label(definition.name, Span(0, 1))
            text_of = f"{len(instances)} of `{category}` are declared, and the prompt lists {len(names)}"
            return no_scene(
                Diagnostic(SC.UNREADABLE_WORLD, text_of, (label,), help="prompt and activity belong together")
            )
        plan_names.update(zip(instances, names, strict=True))
    return scene_of(activity, goal_context, definition, plan_names)


# -- PDDL and BDDL ----------------------------------------------------------------------------------------------------


def _lisp(source: Source) -> Scene:
    top = parse_source(source).nodes
    sections = _sections(top)
    objects = sections.get(":objects", [])
    if top is None or any([isinstance(token, str) and _SYNSET.search(token) for token in objects]):
        return _made(source, *read_activity(source))
    domain = sections.get(":domain", [""])[-1]
    if domain not in DOMAINS or not objects:
        return _made(source, *read_activity(source))  # it reports the mistake
    return _problem(source, str(domain), objects)


def _sections(top: list[Node] | None) -> dict[str, list[Node]]:
    definition = top[0] if top else None
    if not isinstance(definition, list):
        return {}
    return {str(part[0]): part for part in definition if isinstance(part, list) and part}


def _problem(source: Source, domain: str, objects: list[Node]) -> Scene:
    """A problem in PDDL is its own task; the checker reports its mistakes."""
    domain_vocabulary = vocabulary(domain)
    types: dict[str, str] = {}
    pending: list[str] = []
    for before, token in pairwise(objects):
        if before == "-":
            types.update(dict.fromkeys(pending, token if isinstance(token, str) else "object"))
            pending = []
        elif isinstance(token, str) and token != "-":
            pending.append(token)
    agents = [name for name, kind in types.items() if "agent" in domain_vocabulary.kinds.get(kind, ())]
    names = {name: name for name in types}
    agent = agents[0] if agents else ""
    movable = next((name for name, kind in types.items() if "movable" in domain_vocabulary.kinds.get(kind, ())), agent)
    naming = Naming(
        domain,
        names,
        types,
        {},
        agent,
        {},
        dict(names),
        "(two_handed" in source.text,
        movable,
        {},
        frozenset([name for name, kind in types.items() if "substance" in domain_vocabulary.kinds.get(kind, ())]),
        frozenset([name for name, kind in types.items() if "movable" in domain_vocabulary.kinds.get(kind, ())]),
        {},
    )
    return Scene(domain_vocabulary.source, source, data=naming)


# -- JSON -------------------------------------------------------------------------------------------------------------


def _json(source: Source, start: int, request: Request) -> Scene:
    task = request.task
    try:
        value = parse_value(source.text, start, len(source.text))
    except UnreadableValue as broken:
        span = Span(broken.start, min(broken.start + 1, len(source.text)))
        return no_scene(
            Diagnostic(SC.UNREADABLE_WORLD, "the JSON text is cut off or malformed", (Label(source.name, span),))
        )
    if value.kind == "object" and any([key.text == "initial_condition" for key, _ in value.pairs]):
        return _alone(request, None, source) or _made(source, *read_info(source, value))
    tasks = _tasks(value)
    if not tasks:
        label = Label(source.name, Span(value.start, value.start + 1))
        text = "expected a scene with `initial_condition`, or a list of prompts with `identifier` and `llm_prompt`"
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, text, (label,)))
    chosen = next(iter(tasks)) if task is None and len(tasks) == 1 else task
    if chosen is None or chosen not in tasks:
        examples = ", ".join([f"`{name}`" for name in sorted(tasks)[:3]])
        message = f"the file holds {len(tasks)} tasks, and `--task` is missing" if task is None else f"no task `{task}`"
        help_text = (did_you_mean(task, tasks) if task is not None else None) or f"such as {examples}"
        label = Label(source.name, Span(value.start, value.start + 1))
        return no_scene(Diagnostic(SC.AMBIGUOUS_TASK, message, (label,), help=help_text))
    item = tasks[chosen]
    if item.kind == "object":
        return _alone(request._replace(task=None), None, source) or _made(source, *read_info(source, item))
    inner = Source(source.name, item.text)
    scene = _prompt(source, inner, request, chosen if PLAIN_NAME.match(chosen) else "scene")
    if GOAL in request.files:
        return scene
    text_span = Span(item.start, item.end)  # offsets in a decoded JSON string differ from offsets in the file
    notes = tuple([n._replace(labels=tuple([la._replace(span=text_span) for la in n.labels])) for n in scene.notes])
    return scene._replace(notes=notes)


def _tasks(value: DataValue) -> dict[str, DataValue]:
    """The tasks in a file of several: prompts by their identifier, scenes by their key."""
    tasks: dict[str, DataValue] = {}
    if value.kind == "object":
        return {key.text: item for key, item in value.pairs if item.kind == "object"}
    for item in value.items:
        fields = {key.text: field for key, field in item.pairs} if item.kind == "object" else {}
        if "identifier" in fields and "llm_prompt" in fields:
            tasks[fields["identifier"].text] = fields["llm_prompt"]
    return tasks
