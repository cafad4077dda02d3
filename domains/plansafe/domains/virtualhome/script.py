"""Scripts of VirtualHome to plans of the shipped domain, and steps of a plan back to lines of a script."""

from __future__ import annotations

import re

from plansafe.domains.virtualhome.cast import Cast, Mention, candidate_ids, candidates
from plansafe.domains.virtualhome.graph import Id
from plansafe.domains.virtualhome.json_plan import read_object
from plansafe.domains.virtualhome.names import may_mean, plain, squeezed
from plansafe.domains.virtualhome.notation import Argument, Reading, Written, capped, read_lines
from plansafe.domains.world import ForeignPlan, Scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_FENCE = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_JSON = re.compile(r"\s*(\{|\[\s*[\[{\"'\]])")
_OBJECT = re.compile(r"^[ \t]*(\{|\[[ \t]*(?:[{\"']|$))", re.MULTILINE)
_REMEMBERED = 100_000
_SHOWN = 5

# Names of one action in scripts of different sources; ``puton`` with two objects is what others call ``putback``.
_ACTIONS = {
    "put": "putback",
    "putonto": "putback",
    "putobj": "putobjback",
    "lookatshort": "lookat",
    "lookatmedium": "lookat",
    "lookatlong": "lookat",
    "walkto": "walk",
    "walktowards": "walk",
    "turnon": "switchon",
    "turnoff": "switchoff",
    "unplug": "plugout",
    "pickup": "grab",
    "liedown": "lie",
}


def read_plan(source: Source, scene: Scene) -> ForeignPlan:
    """Read a script in any of its notations. Linear in its length, but for the objects that it leaves open."""
    data: Cast = scene.data
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
                if len(resolved) < _REMEMBERED:
                    resolved[argument] = name
            if name is None:
                wanted = Argument(squeezed(argument.word), (argument.number or "1").lstrip("0") or "0")
                waiting.append((number, len(words), wanted))
                open_arguments.setdefault(wanted, Mention(argument, step.place))
                name = ""
            elif name not in data.numbers:
                missing.setdefault(argument, step.place)
            words.append(name)
        lines.append(words)
    if missing:
        diagnostics += capped([_missing(argument, place, source.name, data) for argument, place in missing.items()])
    if waiting:
        from plansafe.domains.virtualhome.binding import bind  # noqa: PLC0415 - loads the engine

        chosen, notes = bind(lines, waiting, open_arguments, scene, source.name)
        diagnostics += notes
        for number, position, wanted in waiting:
            lines[number][position] = chosen[wanted]
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


def _read(source: Source) -> Reading:
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
        found = _OBJECT.search(text, start, end)
        if found is not None:
            inside = read_object(source, found.start(1), end)
            return inside if inside.steps else reading
    return reading


def _no_script(source: Source) -> Diagnostic:
    line = source.text.lstrip()
    start = len(source.text) - len(line)
    place = Span(start, start + len(line.splitlines()[0]))
    advice = 'write a script as lines such as `[GRAB] <mug> (1.41)`, or as JSON such as {"GRAB": ["mug", 41]}'
    return Diagnostic(SC.FOREIGN_LINE, "the script has no steps", (Label(source.name, place),), help=advice)


def action_name(word: str, arguments: int = 1) -> str:
    """The name of an action in the domain: ``PUT_BACK`` is ``putback``. Unknown words stay as they are."""
    word = squeezed(word)
    if word == "puton" and arguments == 2:
        return "putback"
    return _ACTIONS.get(word, word) or "_"


def _character(step: Written, data: Cast) -> str:
    if step.character < len(data.characters):
        return data.characters[step.character]
    return f"char{step.character}"


def _resolve(argument: Argument, data: Cast) -> str | None:
    """The PDDL name that an argument stands for; ``None`` if it leaves the object open.

    A number behind a point, or that is the number of an object which the word may mean, is that of the object in the
    graph; another small one only tells the things of one script apart.
    """
    objects = data.home.objects
    word, number = argument
    own = plain(word)
    if number is not None:
        _, point, digits = number.rpartition(".")
        identity = _identity(digits, data)
        if identity is not None and may_mean(own, objects[identity].class_name):
            return objects[identity].name
        if point or len(digits) > 1 or not candidate_ids(own, data):
            return _unknown(f"{own}_{digits.lstrip('0') or '0'}", data)
    elif own in data.numbers:
        return own
    return None if candidate_ids(own, data) else _unknown(own, data)


def _missing(argument: Argument, place: Span, name: str, data: Cast) -> Diagnostic:
    """Say why an argument is no object of the scene; the checker says that the step is none."""
    word, number = argument
    digits = (number or "").rpartition(".")[2]
    identity = _identity(digits, data) if len(digits) > 1 else None
    why = f"no object has the number {digits}" if candidate_ids(word, data) else f"there is no {plain(word)}"
    if identity is not None:
        why = f"number {digits} is {data.home.objects[identity].name}"
    fitting = candidates(word, data)[:_SHOWN]
    classes = sorted({plain(node.class_name) for node in data.home.objects.values()})
    advice = f"the scene has {', '.join(fitting)}" if fitting else suggest_name(plain(word), classes)
    message = f"`<{word}>{f' ({number})' if number else ''}` is not an object of the scene: {why}"
    return Diagnostic(SC.AMBIGUOUS_OBJECT, message, (Label(name, place),), help=advice, severity=Severity.NOTE)


def _identity(digits: str, data: Cast) -> Id | None:
    number: Id = int(digits) if len(digits) < 20 else digits
    if number in data.home.objects:
        return number
    return digits if digits in data.home.objects else None


def _unknown(name: str, data: Cast) -> str:
    """A name for what the scene has not: none that the scene has."""
    while name in data.numbers:
        name += "_"
    return name


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """A step in the form of ActivityPrograms: ``[GRAB] <mug> (1.41)``; other characters than the first are named."""
    data: Cast = scene.data
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
