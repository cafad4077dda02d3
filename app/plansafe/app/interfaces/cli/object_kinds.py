"""The command ``worlds kinds``: the kinds of each object of a scene, and why."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.app.options.option import Options, argument, choice, command
from plansafe.app.options.shared import DomainFile, GoalFile, WorldName
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.object_kinds import ListedClass, ObjectStatus, SceneKinds, list_scene_kinds
from plansafe.app.system.process import complain, guarded, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

SCHEMA = 1
_LISTED_OBJECTS = 4
"""Objects of a class that are shown in the text."""
_HEADINGS = {
    ObjectStatus.UNKNOWN: "unknown: rules about kinds ignore these objects, and a plan that uses them may be UNKNOWN",
    ObjectStatus.PROPOSED: "only proposed: as unknown, and the proposed kinds may add findings",
    ObjectStatus.KNOWN: "known",
}


class KindsOptions(WorldName, DomainFile, GoalFile, Options, group="Output"):
    """The options of ``worlds kinds``."""

    scene: str = argument("SCENE", "A scene of the world, or a problem of a shipped domain.", required=True)
    form: str = choice("--format", values=("text", "json"), default="text", help="Write the kinds in this format.")


@command(KindsOptions)
def kinds(options: KindsOptions) -> int:
    """Show the kinds of each object of a scene, with reason and source; objects without a known kind first.

    Exit codes: 0 shown, 2 a file cannot be used, or a row of the object table has an error.
    """
    return guarded(lambda: _kinds(options))


def _kinds(options: KindsOptions) -> int:
    if options.world is None:
        message = "the kinds of objects depend on the world of the scene"
        return complain(Diagnostic(SC.BAD_OPTION, message, help="name it with --world, such as --world virtualhome"))
    discovery = Discovery(Choice())
    files: dict[str, Source] = {}
    for role, path in (("scene", options.scene), ("goal", options.goal), ("domain", options.domain)):
        if path is None:
            continue
        input_file = discovery.read(path, role, f"--{role}")
        if isinstance(input_file, Diagnostic):
            return complain(input_file)
        files[role] = input_file.source
    scene = files.pop("scene")
    listed = list_scene_kinds(options.world, scene, files, options.task)
    if not isinstance(listed, SceneKinds):
        print_diagnostics(listed, {source.name: source for source in (scene, *files.values())})
        return 2
    errors = [note for note in listed.notes if note.severity is Severity.ERROR]
    if errors:
        tables = {label.source for error in errors for label in error.labels}
        print_diagnostics(errors, {name: Source.from_path(name) for name in tables})
        return 2
    stream = standard_output()
    stream.write(_json(listed) if options.form == "json" else "\n".join(_lines(listed)) + "\n")
    return 0


def _json(listed: SceneKinds) -> str:
    from plansafe.app.render.json import json_line  # noqa: PLC0415 - for this format alone

    classes = [
        {
            "class": entry.name,
            "status": entry.status.value,
            "objects": entry.objects,
            "kinds": [kind._asdict() for kind in entry.kinds],
        }
        for entry in listed.classes
    ]
    return json_line({"schema": SCHEMA, "domain": listed.domain, "classes": classes})


def _lines(listed: SceneKinds) -> Iterator[str]:
    for status in ObjectStatus:
        entries = [entry for entry in listed.classes if entry.status is status]
        if entries:
            yield f"{_HEADINGS[status]} ({len(entries)} {'class' if len(entries) == 1 else 'classes'})"
            for entry in entries:
                yield from _class_lines(entry)
            yield ""
    counts = {status: sum([len(e.objects) for e in listed.classes if e.status is status]) for status in ObjectStatus}
    counted = ", ".join([f"{count} {status.value}" for status, count in counts.items()])
    yield f"{sum(counts.values())} objects: {counted}"


def _class_lines(entry: ListedClass) -> Iterator[str]:
    more = len(entry.objects) - _LISTED_OBJECTS
    objects = ", ".join(entry.objects[:_LISTED_OBJECTS]) + (f", and {more} more" if more > 0 else "")
    yield f"  {visible(entry.name)}  ({visible(objects)})"
    if entry.status is ObjectStatus.KNOWN and not entry.kinds:
        yield "      no kind: it was considered"
    for kind in entry.kinds:
        marker = " (proposed)" if kind.status == "proposed" else ""
        yield f"      {kind.kind:<18}{marker} {visible(kind.reason)}  [{visible(kind.source)}]"
