"""Action sequences of people and language models: ``[{"action": "RIGHT_GRASP", "object": "bow_0"}, ..]``.

The notation of the Embodied Agent Interface (Li et al., NeurIPS 2024, action sequencing on BEHAVIOR): an action, and
its object or objects; the executor finds out the object in the hand, the tool and the route. The route is added here as
``navigate_to`` steps, and the content of the hands is tracked through the text. ``ACTION(object, ..)`` and lines of
words are also read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.behavior.naming import guess, nearest
from plansafe.domains.behavior.task import Naming
from plansafe.domains.behavior.vocabulary import IGIBSON, OMNIGIBSON, vocabulary
from plansafe.domains.world import ForeignPlan
from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

HANDS = ("right", "left")
OBJECT_ALONE = {
    "clean": "clean",
    "slice": "slice_object",
    "soak": "soak_object",
    "dry": "dry",
    "freeze": "freeze_object",
    "unfreeze": "unfreeze",
    "cook": "cook_object",
}
"""Actions that name one object, and the step of the iGibson domain that finds the means by itself."""

SYNONYMS = {
    "pick": "grasp", "pick_up": "grasp", "pickup": "grasp", "place_on_top": "place_ontop", "place_on": "place_ontop",
    "place_in": "place_inside", "put_inside": "place_inside", "put_ontop": "place_ontop",
    "place_next_to": "place_nextto", "goto": "navigate_to", "go_to": "navigate_to", "navigate": "navigate_to",
    "walk_to": "navigate_to", "turn_on": "toggle_on", "turn_off": "toggle_off", "place_under_of": "place_under",
    "toggled_on": "toggle_on", "toggled_off": "toggle_off", "cut": "slice", "wait_for_cook": "wait_for_cooked",
    "wait_for_cooking": "wait_for_cooked", "wait_for_wash": "wait_for_washed", "wait_for_washing": "wait_for_washed",
    "wait_for_freeze": "wait_for_frozen", "wait_for_freezing": "wait_for_frozen"
}  # fmt: skip
SUBSTANCE_AT = {"wipe": 1, "fill": 2, "pour": 1, "apply": 1, "soak": 2}
"""Which argument of a step is a substance, where plans for OmniGibson may leave it out."""


class ToolAction(NamedTuple):
    """An action of IS-Bench that names two objects.

    ``step`` is the action of the domain ``omnigibson`` that is about all substances there; ``substance_step`` the one
    about a substance that the plan names. ``tool`` and ``place`` are the arguments that are taken up and walked to.
    """

    step: str
    substance_step: str
    tool: int
    place: int


TOOL_ACTIONS = {
    "wipe": ToolAction("wipe_all", "wipe", 1, 0),
    "slice": ToolAction("slice", "slice", 1, 0),
    "dice": ToolAction("dice", "dice", 1, 0),
    "fill_with": ToolAction("fill_from", "fill", 0, 1),
    "fill": ToolAction("fill_from", "fill", 0, 1),
    "pour_into": ToolAction("pour_into", "pour", 0, 1),
    "pour": ToolAction("pour_into", "pour", 0, 1),
    "spread": ToolAction("spread", "apply", 0, 1),
    "apply": ToolAction("spread", "apply", 0, 1),
    "soak_under": ToolAction("soak_under", "soak", 0, 1),
    "soak_inside": ToolAction("soak_inside", "soak", 0, 1),
    "soak": ToolAction("soak", "soak", 0, 1),
    "wash": ToolAction("wash", "wash", 0, 1),
}
WRITTEN_AS = {"wipe_all": "wipe", "fill_from": "fill_with", "pass_time": "wait"}
WAIT = re.compile(r"wait(?:_\w+)?")
PLACES = ("place_inside", "place_ontop", "place_onfloor", "place_under", "place_nextto", "place_nextto_ontop")
TRANSFERS = ("transfer_contents_inside", "transfer_contents_ontop")
FROM_HAND = frozenset([*PLACES, *TRANSFERS])
NEARBY = {"wipe": 0, "pour": 2, "apply": 2, "empty": 2, "fill": 1, "cook": 1, "wash": 1, "soak": 1, "put_back": 1}
"""The argument where an action takes place, if it is another than the first (for placing: than the second)."""
MAX_NOTES = 20
MAX_CONTENTS = 100

_CALL = re.compile(
    r"[ \t]*(?:(?:step[ \t]*)?\d+[.):][ \t]*|[-*][ \t]+)?"
    r"(?P<action>[A-Za-z_][\w-]*)[ \t]*(?:\((?P<args>[^()\r\n]*)\)|(?P<words>(?:[ \t]+[^\s(),;#]+)+))?[ \t]*[,;.]?"
    r"[ \t]*(?:[#;][^\r\n]*|//[^\r\n]*)?\Z",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\r\n]+")
_PART = re.compile(r"(.+)_part_(\d+)\Z", re.DOTALL)
_ODD = re.compile(r"[^\w.\-]+")


class Action(NamedTuple):
    """One action as it was written, in lower case."""

    name: str
    objects: tuple[str, ...]
    span: Span


def read_actions(source: Source, start: int) -> tuple[list[Action], list[Diagnostic]]:
    """Read the list of actions that begins at ``start`` with its bracket."""
    try:
        value = parse_value(source.text, start, len(source.text))
    except UnreadableValue as broken:
        label = Label(source.name, Span(broken.start, min(broken.start + 1, len(source.text))), "begins here")
        text = "the list of actions is cut off or malformed"
        return [], [Diagnostic(SC.FOREIGN_LINE, text, (label,), help="a comma or a bracket may be missing")]
    wrong: list[Diagnostic] = []
    trailing_text = source.text[value.end :].strip()
    if trailing_text and not trailing_text.startswith("```"):
        at = source.text.index(trailing_text[0], value.end)
        wrong.append(_refusal(source, Span(at, at + 1), "there is text after the list of actions"))
    actions: list[Action] = []
    for item in _items(value):
        action = _action(item)
        if action is None:
            span = Span(item.start, item.end)
            wrong.append(_refusal(source, span, 'expected `{"action": "OPEN", "object": "fridge_97"}`'))
        else:
            actions.append(action)
    return actions, wrong


def _items(value: DataValue) -> tuple[DataValue, ...]:
    """The actions of a list, or of the only list inside an object such as ``{"plan": [..]}``.

    A task of IS-Bench has its reference plan under ``example_planning``.
    """
    if value.kind == "object":
        reference_plans = [item for key, item in value.pairs if item.kind == "list" and key.text == "example_planning"]
        lists = reference_plans or [item for _, item in value.pairs if item.kind == "list"]
        return lists[0].items if len(lists) == 1 else (value,)
    return value.items


def _action(item: DataValue) -> Action | None:
    span = Span(item.start, item.end)
    if item.kind in ("string", "bare"):
        return _call(item.text, span)
    fields = {key.text.strip().lower(): value for key, value in item.pairs} if item.kind == "object" else {}
    name = fields.get("action")
    objects = fields.get("object") or fields.get("objects") or fields.get("target")
    if name is None or name.kind not in ("string", "bare") or not name.text.strip():
        return None
    if objects is None and "(" in name.text:
        return _call(name.text, span)
    written = [] if objects is None else [objects.text] if objects.kind != "list" else [i.text for i in objects.items]
    return Action(_plain(name.text), _arguments(",".join(written)), span)


def _call(text: str, span: Span) -> Action | None:
    match = _CALL.match(text)
    if match is None:
        return None
    written = match["args"] if match["args"] is not None else ",".join((match["words"] or "").split())
    return Action(_plain(match["action"]), _arguments(written), span)


def _plain(name: str) -> str:
    return _ODD.sub("_", name.strip().lower().replace("-", "_"))


def _arguments(text: str) -> tuple[str, ...]:
    return tuple([_ODD.sub("_", part.strip().strip("\"'<>").lower()) for part in text.split(",") if part.strip()])


def read_lines(source: Source) -> tuple[list[Action], list[Diagnostic]]:
    """Read one action on each line: ``GRASP(bow_0)``, ``1. open fridge_97``, ``grasp bow_n_08_1 agent_n_01_1``."""
    actions: list[Action] = []
    wrong: list[Diagnostic] = []
    for line in _LINE.finditer(source.text):
        text = line[0].strip()
        if not text or text[0] in ";#" or text.startswith(("//", "```")):
            continue
        start = line.start() + line[0].index(text)
        span = Span(start, start + len(text))
        action = _call(text, span)
        if action is None:
            wrong.append(_refusal(source, span, "expected an action with its objects, such as `OPEN(fridge_97)`"))
        else:
            actions.append(action)
    return actions, wrong


def _refusal(source: Source, span: Span, message: str) -> Diagnostic:
    return Diagnostic(SC.FOREIGN_LINE, message, (Label(source.name, span),))


def steps_of(source: Source, actions: list[Action], naming: Naming) -> ForeignPlan:
    """PDDL steps for actions. Unknown actions and objects stay as they are, for the checker to report."""
    writer = _Writer(source, naming)
    writer.find_names(actions)
    for action in actions:
        writer.write(action)
    plan = Source(f"{source.name} (as PDDL)", "".join([f"({' '.join(step)})\n" for step in writer.steps]))
    return ForeignPlan(plan, tuple(writer.places), tuple(writer.notes()))


def step_patterns(text: str, naming: Naming) -> list[str]:
    """PDDL steps that an action such as ``WIPE(table.n.01_1, rag.n.01_1)`` may become, ``_`` for any object.

    Empty if the text is not an action, or names what the scene lacks.
    """
    action = _call(text, Span(0, 0))
    if action is None:
        return []
    writer = _Writer(Source("action", text), naming)
    writer.find_names([action])
    writer.write(action)
    helping = ("navigate_to", "take_up", "put_back", "grasp")
    steps = [step for step in writer.steps if step[0] not in helping] or writer.steps[-1:]
    if not steps or steps[-1][0] not in writer.actions or not all([obj in naming.kinds for obj in steps[-1][1:]]):
        return []
    step = steps[-1]
    patterns = [step]
    for tool_action in TOOL_ACTIONS.values():
        if step[0] == tool_action.step and step[0] != tool_action.substance_step:
            at = SUBSTANCE_AT[tool_action.substance_step]
            patterns.append((tool_action.substance_step, *step[1:][:at], "_", *step[1:][at:]))
    return list(dict.fromkeys([f"({' '.join(pattern)})" for pattern in patterns]))


class _Writer:
    def __init__(self, source: Source, naming: Naming) -> None:
        self.source = source
        self.naming = naming
        self.actions = vocabulary(naming.domain).actions
        self.names: dict[str, str] = {}
        self.steps: list[tuple[str, ...]] = []
        self.places: list[Span] = []
        self.at = ""
        self.pieces = frozenset([piece for pieces in naming.pieces.values() for piece in pieces])
        self.in_hands: dict[str, str] = {}
        self.last: dict[str, str] = {}
        self.complete = False
        self.walks = 0
        self.tools = 0
        self.takes = True
        self.skipped: set[str] = set()  # words such as DONE that were noted
        self.contents = {obj: list(found) for obj, found in naming.contents.items()}
        self.diagnostics: list[Diagnostic] = []

    # -- names --------------------------------------------------------------------------------------------------------

    def find_names(self, actions: list[Action]) -> None:
        """Choose the object for each name of the plan, with a note if there was a choice."""
        first: dict[str, Span] = {}
        self.takes = any(
            ["grasp" in SYNONYMS.get(action.name, action.name) or action.name == "take_up" for action in actions]
        )
        for action in actions:
            for name in action.objects:
                first.setdefault(_base(name), action.span)
        unknown = [name for name in first if name not in self.naming.names]
        kinds = {obj: kind for obj, kind in self.naming.kinds.items() if obj != self.naming.agent}
        guesses = guess(unknown, kinds, self.naming.rooms)
        for name in first:
            if name in self.naming.names:
                self.names[name] = self.naming.names[name]
            elif name in guesses:
                self.names[name] = guesses[name].object
                if guesses[name].other_count:
                    obj, other_count = guesses[name]
                    text = f"`{name}` is read as `{obj}`, one of {other_count + 1} objects of this class"
                    self._note(
                        SC.AMBIGUOUS_OBJECT,
                        text,
                        first[name],
                        "use the name from the scene, or give the prompt as the scene",
                    )
            elif misspelt := nearest(name, kinds):
                self._note(
                    SC.AMBIGUOUS_OBJECT,
                    f"`{name}` is not an object of the scene",
                    first[name],
                    f"did you mean `{misspelt}`?",
                )

    def _note(self, code: str, message: str, span: Span, help_text: str | None = None) -> None:
        label = Label(self.source.name, span)
        self.diagnostics.append(Diagnostic(code, message, (label,), help=help_text, severity=Severity.NOTE))

    def object(self, name: str) -> str:
        """The object of a name; an unknown name stays as it is."""
        part = _PART.match(name)
        if part is None:
            return self.names.get(name, name)
        object_name = self.names.get(part[1], part[1])
        pieces = self.naming.pieces.get(object_name, ())
        number = int(part[2][:9])
        return pieces[number] if number < len(pieces) else object_name

    # -- steps --------------------------------------------------------------------------------------------------------

    def write(self, action: Action) -> None:
        """Add the step for an action, and the way to where it is done."""
        name, hand = action.name, ""
        for side in HANDS:
            if name.startswith(f"{side}_") and name != f"{side}_":
                name, hand = name.removeprefix(f"{side}_"), f"{side}_hand"
        name = SYNONYMS.get(name, name)
        objects = [self.object(written) for written in action.objects]
        agent = self.naming.agent
        self.complete = len(objects) > 1 and objects[-1] == agent  # a step in full: nothing is left out
        if self.complete:
            objects.pop()
        if (
            self.naming.domain == OMNIGIBSON
            and not self.complete
            and self._write_primitive(action, name, hand, objects)
        ):
            return
        if name == "navigate_to" and objects:
            self.at = objects[0]
            self._add(action.span, "navigate_to", objects[0], agent)
        elif name in ("grasp", "release") and len(objects) <= 1:
            self._take(action.span, name, hand, objects)
        elif name in FROM_HAND:
            self._place(action.span, name, hand, objects)
        elif self.naming.domain == IGIBSON and name in OBJECT_ALONE and len(objects) == 1:
            self._go(action.span, objects[0])
            self._add(action.span, OBJECT_ALONE[name], objects[0], agent)
        else:
            target = NEARBY.get(name, 0)
            if name in self.actions and target < len(objects):
                self._go(action.span, objects[target])
            parameters = self.actions.get(name)
            wants_agent = parameters is None or (parameters[-1:] == ("agent",) and len(objects) < len(parameters))
            self._add(action.span, name, *objects, *([agent] if wants_agent and agent else []))

    def _write_primitive(self, action: Action, name: str, hand: str, objects: list[str]) -> bool:
        """Write an action of IS-Bench, which names its tool and leaves substances out. False if it is another one."""
        if name == "done":
            if name not in self.skipped:
                self.skipped.add(name)
                message = f"`{action.name}` has no effect in the scene and is left out"
                self._note(SC.FOREIGN_LINE, message, action.span)
        elif WAIT.fullmatch(name):
            self._wait(action.span, name, objects)
        elif name in TOOL_ACTIONS and (len(objects) == 2 or (len(objects) == 3 and not self.takes)):
            self._use(action.span, name, objects)
        else:
            if name in PLACES and len(objects) == 2 and not self.takes:
                self._take(action.span, "grasp", hand, objects[:1])
            return False
        return True

    def _wait(self, span: Span, name: str, objects: list[str]) -> None:
        count = {"wait_for_cooked": 1, "wait_for_washed": 1, "wait_for_frozen": 2, "wait": 1}.get(name, 0)
        if name == "wait" and (not objects or objects[0] not in self.naming.kinds):
            count = 0
        if count:
            self._add(span, name, *objects[:count], self.naming.agent)
        else:
            self._add(span, "pass_time", self.naming.agent)

    def _use(self, span: Span, name: str, objects: list[str]) -> None:
        """Write an action with a tool. In a plan that never grasps, the tool is taken up for it and put back."""
        action = TOOL_ACTIONS[name]
        tool, place = objects[action.tool], objects[action.place]
        names_substance = not self.naming.substances.isdisjoint(objects)
        if name in ("slice", "dice"):
            step = (self.naming.cut_by.get(objects[0], name), *objects)
        elif len(objects) == 2 and not names_substance and (name != "soak" or place not in self.contents):
            step = ("soak_inside" if name == "soak" else action.step, *objects)
            self._note_contents(name, *objects)
        else:
            arguments = objects if len(objects) > 2 else self._with_substance(action.substance_step, *objects)
            step = (action.substance_step, *arguments)
            tool = arguments[-1 if action.tool else 0]
            place = arguments[min(NEARBY[action.substance_step], len(arguments) - 1)]
        implied = not self.takes and tool in self.naming.movables
        if implied:
            self._go(span, tool)
            self._add(span, "take_up", tool, self.naming.agent)
            self.tools += 1
        self._go(span, place)
        self._add(span, *step, self.naming.agent)
        if implied:
            self._add(span, "put_back", tool, self.naming.agent)

    def _note_contents(self, name: str, vessel: str, target: str) -> None:
        """Follow where substances come to, for later steps that name them."""
        taken_from, filled = (
            (target, vessel) if name in ("fill", "fill_with", "soak_under", "soak_inside") else (vessel, target)
        )
        if name in ("fill", "fill_with", "pour", "pour_into"):
            self.contents.setdefault(filled, [])[:0] = self.contents.get(taken_from, [])[:MAX_CONTENTS]

    def _with_substance(self, name: str, first: str, second: str) -> list[str]:
        """Complete the arguments of a step about one substance: a named one, or what its source holds.

        ``WIPE(table, stain)`` and ``FILL_WITH(cup, water)`` name a substance; it comes from what holds or gives it.
        """
        substance_name = next((obj for obj in (second, first) if obj in self.naming.substances), None)
        holders = [
            obj
            for obj, substances in self.contents.items()
            if substance_name in substances and obj not in (first, second)
        ]
        source, target = first, second
        if name == "wipe":
            return [first, second]
        if name in ("fill", "soak"):
            source, target = second, first
            holders = [obj for obj in holders if obj != first]
        elif substance_name == first:
            holders = [*self.in_hands.values(), *holders]
        if substance_name == source and holders:
            source = holders[0]
        substance = substance_name or next(iter(self.contents.get(source, ())), None)
        if substance is None:
            return [first, second]
        self.contents.setdefault(target, []).insert(0, substance)
        return [target, source, substance] if name in ("fill", "soak") else [source, substance, target]

    def _take(self, span: Span, name: str, hand: str, objects: list[str]) -> None:
        side = hand or "any"
        obj = objects[0] if objects else self._in_hand(span, side)
        if name == "grasp":
            self._go(span, obj)
            self.in_hands[side] = self.last[side] = obj
        else:
            self.in_hands.pop(side, None)
        self._hand_step(span, name, hand, obj)

    def _place(self, span: Span, name: str, hand: str, objects: list[str]) -> None:
        side = hand or "any"
        count = 2 if name == "place_nextto_ontop" else 1
        if len(objects) == count:
            objects = [self._in_hand(span, side), *objects]
        if len(objects) > 1:
            if name == "place_ontop" and self.naming.kinds.get(objects[1]) == "floor_n_01" and self._igibson:
                name = "place_onfloor"
            self._go(span, objects[1])
        if name in PLACES:
            self.in_hands.pop(side, None)
        self._hand_step(span, name, hand, *objects)

    def _in_hand(self, span: Span, side: str) -> str:
        """The object in a hand according to the text; if the hand is empty, the last one, and the step fails."""
        obj = self.in_hands.get(side) or self.last.get(side)
        if obj is not None:
            return obj
        which = "the agent" if side == "any" else f"the {side.replace('_', ' ')}"
        self._note(SC.AMBIGUOUS_OBJECT, f"{which} holds nothing yet: this step cannot be taken", span)
        return self.naming.movable

    @property
    def _igibson(self) -> bool:
        return self.naming.domain == IGIBSON

    def _hand_step(self, span: Span, name: str, hand: str, *arguments: str) -> None:
        agent = (self.naming.agent,) if self.naming.agent else ()
        if hand and self.naming.hands:
            self._add(span, f"{name}_with", hand, *arguments, *agent)
        else:
            self._add(span, name, *arguments, *agent)

    def _go(self, span: Span, obj: str) -> None:
        if not self.complete and obj != self.at and (obj in self.naming.kinds or obj in self.pieces):
            self.at = obj
            self.walks += 1
            self._add(span, "navigate_to", obj, self.naming.agent)

    def _add(self, span: Span, *step: str) -> None:
        self.steps.append(step if step[0] != "define" else ("define_", *step[1:]))
        self.places.append(span)

    def notes(self) -> list[Diagnostic]:
        """The notes on choices made for the user; of many such notes the first ones."""
        shown_notes = self.diagnostics
        if len(shown_notes) > MAX_NOTES:
            shown_notes = [*shown_notes[:MAX_NOTES]]
            text = f"{len(self.diagnostics) - MAX_NOTES} more names were matched this way"
            shown_notes.append(Diagnostic(SC.AMBIGUOUS_OBJECT, text, severity=Severity.NOTE))
        if self.walks:
            text = f"the plan does not walk to objects: {self.walks} `navigate_to` steps are added"
            shown_notes = [*shown_notes, Diagnostic(SC.AMBIGUOUS_OBJECT, text, severity=Severity.NOTE)]
        if self.tools:
            text = f"the plan does not grasp tools: {self.tools} are taken up for one action and put back"
            shown_notes = [*shown_notes, Diagnostic(SC.AMBIGUOUS_OBJECT, text, severity=Severity.NOTE)]
        return shown_notes


def _base(name: str) -> str:
    part = _PART.match(name)
    return part[1] if part is not None else name


def written_step(step: tuple[str, ...], naming: Naming) -> str:
    """A PDDL step in this notation."""
    name, arguments = step[0], [word for word in step[1:] if word != naming.agent]
    if name.endswith("_with") and arguments:
        side = arguments.pop(0).removesuffix("_hand")
        name = f"{side}_{name.removesuffix('_with')}"
        if any([name.endswith(action) for action in FROM_HAND]):
            arguments = arguments[1:]
        name = name.replace("place_onfloor", "place_ontop")
    alone = {step_name: action for action, step_name in OBJECT_ALONE.items()}
    name = alone.get(name, name)
    name = WRITTEN_AS.get(name, name)
    objects = ", ".join([_written(obj, naming) for obj in arguments])
    return f'{{"action": "{name.upper()}", "object": "{objects}"}}'


def _written(obj: str, naming: Naming) -> str:
    for object_name, pieces in naming.pieces.items():
        if obj in pieces:
            return f"{naming.written.get(object_name, object_name)}_part_{pieces.index(obj)}"
    return naming.written.get(obj, obj)
