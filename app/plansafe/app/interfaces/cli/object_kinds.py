"""The command ``worlds kinds``: the kinds of each object of a scene, and why.

List the kinds of each object of a scene, with the reason for each kind (``safecheck worlds kinds``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from plansafe.app.options.option import Options, argument, choice, command
from plansafe.app.options.shared import DomainFile, GoalFile, WorldName
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.catalogue import find_importer, known_worlds, shipped_source, unknown_world
from plansafe.app.session.model import Settings, compiled
from plansafe.app.system.process import complain, guarded, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.domains import domain_names, domain_path
from plansafe.domains.objects.classification import ClassifiedObject, KindReason
from plansafe.domains.objects.generated_mapping import classify_objects, is_extensible
from plansafe.domains.objects.table import load_table
from plansafe.domains.world import Request
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path
from plansafe.verifier.api import Checker
from plansafe.verifier.rules.kinds import find_unclassified_objects


class ObjectStatus(Enum):
    """Whether the kinds of an object are known; in the order of the list."""

    UNKNOWN = "unknown"
    PROPOSED = "proposed"
    KNOWN = "known"


class ListedClass(NamedTuple):
    """Objects of one class with the same kinds. ``status`` is UNKNOWN for a class without any kind or proposal."""

    name: str
    status: ObjectStatus
    objects: tuple[str, ...]
    kinds: tuple[KindReason, ...]


class SceneKinds(NamedTuple):
    """The classes of a scene: unknown classes first, then classes with proposals alone.

    ``notes`` are about the scene, or errors in rows of the object table.
    """

    domain: str
    classes: tuple[ListedClass, ...]
    notes: tuple[Diagnostic, ...] = ()


def list_scene_kinds(
    world: str, scene: Source, files: dict[str, Source], task: str | None = None
) -> SceneKinds | tuple[Diagnostic, ...]:
    """Return the kinds of the objects of a scene, or the errors that prevent it.

    ``files`` are the further files of the scene by role. For a shipped domain without an importer, such as
    ``household``, ``scene`` is a problem in PDDL.
    """
    importer = find_importer(world)
    notes: tuple[Diagnostic, ...] = ()
    if importer is None and world.lower() not in domain_names():
        return (unknown_world(world, tuple(known_worlds()), domain_names()),)
    if importer is None or (importer.domain != world.lower() and scene.text.lstrip().startswith("(define (problem")):
        domain, problem = Source.from_path(domain_path(world)), scene
    else:
        role = "scene" if any([file.role == "scene" for file in importer.files]) else "problem"
        read = importer.read_scene(Request({**files, role: scene}, task))
        if not read.ok:
            return read.notes
        domain, problem, notes = read.domain, read.problem, read.notes
    name = next((n for n in domain_names() if _defines(domain, n)), "")
    if f"home-{name}" not in spec_names():
        message = f"the hazard library has no mapping for the domain of this scene, `{name or world}`"
        return (Diagnostic(SC.UNKNOWN_WORLD, message, help="`safecheck worlds list` lists the specifications"),)
    mapping = shipped_source(spec_path(f"home-{name}"))
    specs = [shipped_source(spec_path("home")), mapping]
    checker, _ = compiled(Discovery(Choice()), domain, problem, specs, Settings())
    if not checker.ok:
        return checker.diagnostics
    classified = classify_objects(domain, problem, mapping) if is_extensible(mapping) else []
    notes = (*notes, *load_table().find_errors())
    return SceneKinds(name, _list_classes(checker, classified, f"home-{name}.safe"), notes)


def _defines(domain: Source, name: str) -> bool:
    return f"(domain {name})" in " ".join(domain.text.lower().split())


def _list_classes(checker: Checker, classified: Sequence[ClassifiedObject], mapping: str) -> tuple[ListedClass, ...]:
    """Group the objects by class and kinds; unknown classes come first, then classes with proposals alone."""
    compilation = checker.compiled
    symbols, kinds = compilation.symbols, compilation.kinds.find_informative_kinds()
    ancestors = symbols.types.ancestors
    unclassified = {
        number: name
        for name, numbers in find_unclassified_objects(symbols, compilation.kinds).items()
        for number in numbers
    }
    classified_by_name = {entry.name: entry for entry in classified}
    proposed: dict[str, list[str]] = {}
    for proposal in compilation.proposed_kinds:
        proposed.setdefault(proposal.object, []).append(proposal.kind)
    groups: dict[ListedClass, list[str]] = {}
    for number, (name, types) in enumerate(zip(symbols.objects, symbols.object_types, strict=True)):
        all_types = frozenset().union(*[ancestors[t] for t in types])
        object_kinds = [kind for kind, bound in kinds.items() if not bound.isdisjoint(all_types)]
        entry = classified_by_name.get(name)
        reasons = {} if entry is None else {reason.kind: reason for reason in entry.entry.kinds}
        bound_by_mapping = KindReason("", "confirmed", "bound by the mapping of the world", mapping)
        listed = [reasons.get(kind, bound_by_mapping._replace(kind=kind)) for kind in object_kinds]
        listed += [reasons[kind] for kind in proposed.get(name, ()) if kind in reasons]
        class_name = unclassified.get(number, "")
        if not class_name:
            specific = [symbols.types.names[t] for t in types if not symbols.types.names[t].startswith("kind--")]
            class_name = " ".join(specific) if entry is None else entry.looked_up
            if entry is not None and class_name == name:  # its type has no meaning
                class_name = entry.entry.class_name
        is_unknown = number in unclassified
        status = ObjectStatus.KNOWN
        if is_unknown:
            status = ObjectStatus.PROPOSED if proposed.get(name) else ObjectStatus.UNKNOWN
        groups.setdefault(ListedClass(class_name, status, (), tuple(listed)), []).append(name)
    order = list(ObjectStatus)
    classes = [group._replace(objects=tuple(objects)) for group, objects in groups.items()]
    return tuple(sorted(classes, key=lambda c: (order.index(c.status), c.name)))


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
