"""Names in the scripts of a world: what the words of a step mean, and the files that say that it is there.

A script names what its scene has and what its world can do, and declares nothing itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from plansafe.app.interfaces.editor.document_text import Text, uri_of
from plansafe.app.interfaces.editor.name_mentions import Mention, Names
from plansafe.app.interfaces.editor.workspace import Found
from plansafe.app.project.inputs import Input
from plansafe.app.project.project_file import STEM, plan_stem
from plansafe.app.session.home_world import foreign_plans
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source

MAX_SCRIPTS = 300
"""So many other scripts are searched for a name."""


def script_names(prepared: Prepared) -> tuple[Mention, ...]:
    """The names of a script, by what they are called in PDDL, in the order of the text."""
    if prepared.write is None:
        return ()
    source = prepared.inputs[0].source
    out = []
    for step, place in zip(read_plan(prepared.plan).steps, prepared.places, strict=False):
        spans = prepared.write.word_places(source, place, step.tokens)
        for number, (name, span) in enumerate(zip(step.tokens, spans, strict=True)):
            if span is not None:
                out.append(Mention(Names.OBJECT if number else Names.ACTION, name, span))
    return tuple(sorted(out, key=lambda mention: mention.span))


def scene_mention(prepared: Prepared, name: str) -> tuple[Text, Mention] | None:
    """Where the scene has an object; ``None`` where its file is no text that an editor opens, such as a packed one."""
    scene = given(prepared, "scene")
    if scene is None or prepared.write is None or not _readable(scene):
        return None
    span = prepared.write.object_place(scene.source, name)
    if span is None:
        return None
    return Text(uri_of(scene.path), scene.path, scene.source.text), Mention(Names.OBJECT, name, span, True)


def given(prepared: Prepared, role: str) -> Input | None:
    """The file of a role that a script is judged with."""
    return next((one for one in prepared.inputs if one.role == role), None)


def _readable(file: Input) -> bool:
    try:
        with open(file.path, "rb") as opened:
            return opened.read(2) != b"\x1f\x8b"
    except OSError:
        return False


def same_scene(found: Found, own: str, root: str) -> Iterator[str]:
    """The other scripts of a folder that are about the scene of this one, in order."""
    settings = found.configured.settings
    scene, count = _scene(settings, own), 0
    for path in foreign_plans(root, settings):
        if os.path.realpath(path) == os.path.realpath(own) or _scene(settings, path) != scene:
            continue
        count += 1
        if count > MAX_SCRIPTS:
            return
        yield path


def _scene(settings: Settings, plan: str) -> str | None:
    """The file of the scene of a script."""
    if settings.scene is not None:
        return os.path.realpath(settings.scene.replace(STEM, plan_stem(plan)))
    project = settings.project
    if project is None or project.scene is None:
        return None
    return os.path.realpath(project.for_plan(project.scene, plan))


def names_of_script(found: Found, text: Text) -> tuple[Mention, ...]:
    """The names of another script; of one that cannot be read, none."""
    prepared = found.session.prepare(Source(text.path, text.text))
    return script_names(prepared) if isinstance(prepared, Prepared) else ()


def why_not(prepared: Prepared, found: Mention) -> str:
    """Why a name of a script gets no other."""
    if found.names is Names.ACTION:
        return f"`{found.name}` is an action of the world, which has no other name for it"
    scene = given(prepared, "scene")
    where = "the scene" if scene is None else os.path.basename(scene.path)
    return f"`{found.name}` is an object of {where}: a script calls it as the scene does, so it gets no other name here"
