"""Names in the scripts of a home world, and the files that declare these names.

A script uses the objects of its scene and the actions of its home world. It declares no names itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from plansafe.app.interfaces.editor.document_text import Text, uri_of
from plansafe.app.interfaces.editor.name_mentions import Mention, NameKind
from plansafe.app.project.inputs import Input
from plansafe.app.project.project import STEM, plan_stem
from plansafe.app.session.audit import Session
from plansafe.app.session.home_world import world_plans
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source

MAX_SCRIPTS = 300
"""Maximum number of other scripts to search for a name."""


def script_names(prepared: Prepared) -> tuple[Mention, ...]:
    """Return the names in a script, by their PDDL names, in text order."""
    if prepared.write is None:
        return ()
    source = prepared.inputs[0].source
    out = []
    for step, place in zip(read_plan(prepared.plan).steps, prepared.places, strict=False):
        spans = prepared.write.word_places(source, place, step.tokens)
        for number, (name, span) in enumerate(zip(step.tokens, spans, strict=True)):
            if span is not None:
                out.append(Mention(NameKind.OBJECT if number else NameKind.ACTION, name, span))
    return tuple(sorted(out, key=lambda mention: mention.span))


def scene_mention(prepared: Prepared, name: str) -> tuple[Text, Mention] | None:
    """Return the place of an object in the scene file, or ``None`` if the file is not text."""
    scene = input_of_role(prepared, "scene")
    if scene is None or prepared.write is None or not _readable(scene):
        return None
    span = prepared.write.object_place(scene.source, name)
    if span is None:
        return None
    return Text(uri_of(scene.path), scene.path, scene.source.text), Mention(NameKind.OBJECT, name, span, True)


def input_of_role(prepared: Prepared, role: str) -> Input | None:
    """Return the input file of a script with a role, such as ``scene``."""
    return next((file for file in prepared.inputs if file.role == role), None)


def _readable(file: Input) -> bool:
    try:
        with open(file.path, "rb") as opened:
            return opened.read(2) != b"\x1f\x8b"
    except OSError:
        return False


def scripts_of_scene(settings: Settings, script: str, root: str) -> Iterator[str]:
    """Yield the other scripts of a folder with the same scene, sorted."""
    scene, count = _scene(settings, script), 0
    for path in world_plans(root, settings):
        if os.path.realpath(path) == os.path.realpath(script) or _scene(settings, path) != scene:
            continue
        count += 1
        if count > MAX_SCRIPTS:
            return
        yield path


def _scene(settings: Settings, plan: str) -> str | None:
    """Return the scene file of a script."""
    if settings.scene is not None:
        return os.path.realpath(settings.scene.replace(STEM, plan_stem(plan)))
    project = settings.project
    if project is None or project.scene is None:
        return None
    return os.path.realpath(project.for_plan(project.scene, plan))


def names_of_script(session: Session, text: Text) -> tuple[Mention, ...]:
    """Return the names in another script; none if it cannot be read."""
    prepared = session.prepare(Source(text.path, text.text))
    return script_names(prepared) if isinstance(prepared, Prepared) else ()


def rename_refusal(prepared: Prepared, mention: Mention) -> str:
    """Return the reason why a name in a script cannot be changed."""
    if mention.name_kind is NameKind.ACTION:
        return f"`{mention.name}` is an action of the home world and cannot be renamed"
    scene = input_of_role(prepared, "scene")
    where = "the scene" if scene is None else os.path.basename(scene.path)
    return f"`{mention.name}` is an object of {where} and can only be renamed there"
