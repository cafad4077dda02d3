"""Read scripts of VirtualHome as plans of the shipped domain, write steps as lines, and locate names in scripts.

Read plans of language models in JSON: ``{"WALK": ["bathroom", "1"], "GRAB": ["novel", 1000]}``.

Each pair of an object is a step, in the order of the text; a key that occurs twice is two steps. Lists of such objects,
and of lines of a script, are also read.
"""

from __future__ import annotations

import re

from plansafe.domains.virtualhome.graph import Id, Mention, SceneObjects, candidate_ids, candidates
from plansafe.domains.virtualhome.names import letters_of, may_mean, pddl_name
from plansafe.domains.virtualhome.script_lines import (
    Argument,
    ScriptReading,
    ScriptStep,
    limit_diagnostics,
    line_places,
    read_lines,
)
from plansafe.domains.world import ForeignPlan, Scene
from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, MalformedValue, NestedTooDeep, UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_FENCE = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_JSON = re.compile(r"\s*(\{|\[\s*[\[{\"'\]])")
_OBJECT = re.compile(r"^[ \t]*(\{|\[[ \t]*(?:[{\"']|$))", re.MULTILINE)
_ID = re.compile(r'"id"\s*:\s*(?:"([^"\\]*)"|(-?\d+))')
_NODES = re.compile(r'"nodes"\s*:')
_MAX_REMEMBERED = 100_000
_MAX_LISTED = 5

# Names of actions in scripts of different sources; ``puton`` with two objects is ``putback``.
_ACTIONS = {
    "put": "putback", "putonto": "putback", "putobj": "putobjback", "lookatshort": "lookat", "lookatmedium": "lookat",
    "lookatlong": "lookat", "walkto": "walk", "walktowards": "walk", "turnon": "switchon", "turnoff": "switchoff",
    "unplug": "plugout", "pickup": "grab", "liedown": "lie"
}  # fmt: skip


def read_plan(source: Source, scene: Scene) -> ForeignPlan:
    """Read a script in any of its notations. Linear in its length, except for open objects."""
    data: SceneObjects = scene.data
    reading = _read(source)
    diagnostics = list(reading.diagnostics)
    if any([d.severity is Severity.ERROR for d in diagnostics]):
        return ForeignPlan(None, (), tuple(diagnostics))
    if not reading.steps and source.text.strip():
        return ForeignPlan(None, (), (*diagnostics, _no_script(source)))
    lines: list[list[str]] = []
    open_arguments: dict[Argument, Mention] = {}
    waiting: list[tuple[int, int, Argument]] = []
    missing: dict[Argument, Span] = {}
    resolved = data.resolved
    for number, step in enumerate(reading.steps):
        words = [action_name(step.action, len(step.arguments)), _character(step, data)]
        for argument in step.arguments:
            try:
                name = resolved[argument]
            except KeyError:
                name = _resolve(argument, data)
                if len(resolved) < _MAX_REMEMBERED:
                    resolved[argument] = name
            if name is None:
                open_argument = Argument(letters_of(argument.word), (argument.number or "1").lstrip("0") or "0")
                waiting.append((number, len(words), open_argument))
                open_arguments.setdefault(open_argument, Mention(argument, step.place))
                name = ""
            elif name not in data.numbers:
                missing.setdefault(argument, step.place)
            words.append(name)
        lines.append(words)
    if missing:
        diagnostics += limit_diagnostics(
            [_missing(argument, place, source.name, data) for argument, place in missing.items()]
        )
    if waiting:
        from plansafe.domains.virtualhome.binding import bind  # noqa: PLC0415 - loads the engine

        bound_objects, notes = bind(lines, waiting, open_arguments, scene, source.name)
        diagnostics += notes
        for number, position, open_argument in waiting:
            lines[number][position] = bound_objects[open_argument]
    text = "".join([f"({' '.join(words)})\n" for words in lines])
    places = tuple([step.place for step in reading.steps])
    title, description = _find_title(source.text[: min([place.start for place in places], default=0)])
    return ForeignPlan(Source(f"{source.name} as PDDL", text), places, tuple(diagnostics), title, description)


def _find_title(text: str) -> tuple[str, str]:
    """Return the title and the description in the text above the first step."""
    if _JSON.match(text):
        return "", ""
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "//", "```"))
    ]
    return (lines[0] if lines else ""), " ".join(lines[1:])


def _read(source: Source) -> ScriptReading:
    text = source.text
    start, end = 0, len(text)
    fence = _FENCE.search(text) if "```" in text else None
    if fence is not None:
        start, end = fence.span(1)
    json = _JSON.match(text, start, end)
    if json is not None:
        return read_object(source, json.start(1), end)
    reading = read_lines(source, start, end)
    if not reading.steps:
        match = _OBJECT.search(text, start, end)
        if match is not None:
            json_reading = read_object(source, match.start(1), end)
            return json_reading if json_reading.steps else reading
    return reading


def _no_script(source: Source) -> Diagnostic:
    line = source.text.lstrip()
    start = len(source.text) - len(line)
    place = Span(start, start + len(line.splitlines()[0]))
    advice = 'write a script as lines such as `[GRAB] <mug> (1.41)`, or as JSON such as {"GRAB": ["mug", 41]}'
    return Diagnostic(SC.FOREIGN_LINE, "the script has no steps", (Label(source.name, place),), help=advice)


def action_name(word: str, arguments: int = 1) -> str:
    """The name of an action in the domain: ``putback`` for ``PUT_BACK``. Unknown words do not change."""
    word = letters_of(word)
    if word == "puton" and arguments == 2:
        return "putback"
    return _ACTIONS.get(word, word) or "_"


def _character(step: ScriptStep, data: SceneObjects) -> str:
    if step.character < len(data.characters):
        return data.characters[step.character]
    return f"char{step.character}"


def _resolve(argument: Argument, data: SceneObjects) -> str | None:
    """The PDDL name of an argument; ``None`` if it leaves the object open.

    A number after a point, or a number of an object that the word can mean, is the object's number in the graph. Other
    small numbers only distinguish the objects of one script.
    """
    objects = data.home.objects
    word, number = argument
    class_name = pddl_name(word)
    if number is not None:
        _, point, digits = number.rpartition(".")
        identity = _identity(digits, data)
        if identity is not None and may_mean(class_name, objects[identity].class_name):
            return objects[identity].name
        if point or len(digits) > 1 or not candidate_ids(class_name, data):
            return _unknown(f"{class_name}_{digits.lstrip('0') or '0'}", data)
    elif class_name in data.numbers:
        return class_name
    return None if candidate_ids(class_name, data) else _unknown(class_name, data)


def _missing(argument: Argument, place: Span, name: str, data: SceneObjects) -> Diagnostic:
    """Report why an argument is not an object of the scene; the checker reports the step."""
    word, number = argument
    digits = (number or "").rpartition(".")[2]
    identity = _identity(digits, data) if len(digits) > 1 else None
    reason = f"no object has the number {digits}" if candidate_ids(word, data) else f"there is no {pddl_name(word)}"
    if identity is not None:
        reason = f"number {digits} is {data.home.objects[identity].name}"
    similar_objects = candidates(word, data)[:_MAX_LISTED]
    classes = sorted({pddl_name(node.class_name) for node in data.home.objects.values()})
    advice = (
        f"the scene has {', '.join(similar_objects)}" if similar_objects else suggest_name(pddl_name(word), classes)
    )
    message = f"`<{word}>{f' ({number})' if number else ''}` is not an object of the scene: {reason}"
    return Diagnostic(SC.AMBIGUOUS_OBJECT, message, (Label(name, place),), help=advice, severity=Severity.NOTE)


def _identity(digits: str, data: SceneObjects) -> Id | None:
    number: Id = int(digits) if len(digits) < 20 else digits
    if number in data.home.objects:
        return number
    return digits if digits in data.home.objects else None


def _unknown(name: str, data: SceneObjects) -> str:
    """A name that no object of the scene has."""
    while name in data.numbers:
        name += "_"
    return name


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """Write a step in the form of ActivityPrograms: ``[GRAB] <mug> (1.41)``; only the first character is not named."""
    data: SceneObjects = scene.data
    who = data.characters.index(step[1]) if len(step) > 1 and step[1] in data.characters else -1
    prefix = f"<char{who}> " if who > 0 else ""
    parts = [f"{prefix}[{step[0].upper()}]"]
    for name in step[2 if who >= 0 else 1 :]:
        number = data.numbers.get(name)
        if number is None:
            parts.append(f"<{name}>")
        else:
            parts.append(f"<{data.home.objects[number].class_name}> (1.{number})")
    return " ".join(parts)


def word_places(source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
    """The places of action, character and objects of a step; ``None`` for a character that is not written."""
    places = line_places(source.text, place) or argument_places(source.text, place)
    if places is None or len(places) != len(words):
        return (None,) * len(words)
    return places


def object_place(source: Source, scene: Scene, name: str) -> Span | None:
    """The place of ``"id": 11`` in an object's node; ``None`` if it is not found."""
    data: SceneObjects = scene.data
    number = data.numbers.get(name)
    if number is None:
        return None
    start = _NODES.search(source.text)
    for match in _ID.finditer(source.text, 0 if start is None else start.end()):
        if (match[1] if isinstance(number, str) else match[2]) == str(number):
            return Span(*match.span())
    return None


_WRAPPERS = frozenset(("actions", "plan", "steps", "script", "action_sequence", "output"))
_DIGITS = re.compile(r"\d+\Z")


def read_object(source: Source, start: int, end: int) -> ScriptReading:
    """Read the steps of the JSON value that begins with the bracket at ``start``. Linear in its length."""
    try:
        value = parse_value(source.text, start, end)
    except NestedTooDeep as error:
        return _refused(source, "the JSON text is nested too deeply", Span(error.start, error.start + 1))
    except MalformedValue as error:
        place = Span(error.start, min(error.start + 1, len(source.text)))
        return _refused(source, "the plan is neither JSON nor a script", place)
    except UnreadableValue as error:
        return _refused(source, "the text ends inside this value", Span(error.start, error.start + 1))
    text_after = source.text[value.end : end].strip()
    reading = ScriptReading([], [])
    if text_after and not text_after.startswith(("`", "#")):
        line = source.text.find(text_after[:1], value.end, end)
        reading.diagnostics.append(_error(source, "text after the plan", Span(line, line + len(text_after))))
    _steps(source, value, reading)
    return reading._replace(diagnostics=limit_diagnostics(reading.diagnostics))


def _refused(source: Source, message: str, place: Span) -> ScriptReading:
    return ScriptReading([], [_error(source, message, place)])


def _error(source: Source, message: str, place: Span) -> Diagnostic:
    advice = 'write a plan in JSON as {"WALK": ["bathroom", 1], "STANDUP": []}, or a list of such objects'
    return Diagnostic(SC.FOREIGN_LINE, message, (Label(source.name, place),), help=advice)


def _steps(source: Source, value: DataValue, reading: ScriptReading) -> None:
    """Add the steps of a value, which may be nested lists of objects."""
    stack = [value]
    while stack:
        item = stack.pop()
        if item.kind == "list":
            stack += reversed(item.items)
        elif item.kind == "object":
            pairs = item.pairs
            if len(pairs) == 1 and pairs[0][0].text.lower() in _WRAPPERS and pairs[0][1].kind in ("list", "object"):
                stack.append(pairs[0][1])
                continue
            for key, arguments in pairs:
                _pair(source, key, arguments, reading)
        elif item.kind == "string" and item.exact:
            line = read_lines(source, item.start + 1, item.end - 1)
            reading.steps.extend(line.steps)
            reading.diagnostics.extend(line.diagnostics)
            if not line.steps and not line.diagnostics and item.text.strip():
                reading.diagnostics.append(_error(source, "this text is not a step", Span(item.start, item.end)))
        else:
            reading.diagnostics.append(_error(source, "this is not a step", Span(item.start, item.end)))


def _pair(source: Source, key: DataValue, arguments: DataValue, reading: ScriptReading) -> None:
    place = Span(key.start, arguments.end)
    items = arguments.items if arguments.kind == "list" else () if arguments.kind == "object" else (arguments,)
    if arguments.kind == "object" or not all([item.kind in ("string", "bare") for item in items]):
        message = "the objects of a step must be a list of names and numbers"
        reading.diagnostics.append(_error(source, message, Span(arguments.start, arguments.end)))
        return
    reading.steps.append(ScriptStep(key.text, tuple([argument for argument, _ in _arguments(items)]), place))


def _arguments(items: tuple[DataValue, ...]) -> list[tuple[Argument, Span]]:
    """The arguments of a step with their places; a number belongs to the word before it."""
    arguments: list[tuple[Argument, Span]] = []
    for item in items:
        text = item.text.strip()
        if _DIGITS.match(text) and arguments and arguments[-1][0].number is None:
            (word, _), place = arguments[-1]
            arguments[-1] = Argument(word, text), Span(place.start, item.end)
        elif text and text not in ("null", "None"):
            arguments.append((Argument(text, None), Span(item.start, item.end)))
    return arguments


def argument_places(text: str, place: Span) -> tuple[Span | None, ...] | None:
    """The places of the action and objects of a pair ``"WALK": ["kitchen", 11]``; ``None`` if it cannot be read."""
    pair = "{" + text[place.start : place.end] + "}"
    try:
        value = parse_value(pair, 0, len(pair))
    except UnreadableValue:
        return None
    if value.kind != "object" or len(value.pairs) != 1:
        return None
    key, arguments = value.pairs[0]
    items = arguments.items if arguments.kind == "list" else () if arguments.kind == "object" else (arguments,)
    offset = place.start - 1
    spans = [Span(span.start + offset, span.end + offset) for _, span in _arguments(items)]
    return (Span(key.start + offset + 1, key.end + offset - 1), None, *spans)
