"""Where names are declared and used, over all files of one domain; and new names, which the service checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.name_mentions import Mention, Names, mentions
from plansafe.app.interfaces.editor.script_names import (
    given,
    names_of_script,
    same_scene,
    scene_mention,
    script_names,
    why_not,
)
from plansafe.app.interfaces.editor.source_tree import Form, Part, tree
from plansafe.app.interfaces.editor.workspace import PLANS, Found, Judged, Workspace, belongs, judge
from plansafe.app.project.file_kinds import Kind, heading
from plansafe.app.project.inputs import Input, Inputs
from plansafe.app.session.model import Prepared
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import is_name, is_object_name

MAX_FILES = 3_000
MAX_JUDGED = 60
"""So many files are judged before and after names are changed; of more, the change is refused."""
_SUFFIXES = (".pddl", ".safe", ".plan", ".soln", ".solution", ".txt", "")
_WORD = re.compile(r"\??[^\s()\[\];\"?:$\x00-\x1f\ud800-\udfff]+")


class NotRenamed(Exception):
    """Why a name is not changed."""


class Symbols:
    """The names of a workspace, as its files are now."""

    def __init__(self, files: Workspace) -> None:
        self._files = files
        self._known: dict[str, tuple[Source, tuple[Mention, ...]]] = {}
        self._script: tuple[Prepared | None, tuple[Mention, ...]] = (None, ())

    def mentions(self, text: Text) -> tuple[Mention, ...]:
        """The names of a file; of the same text they are looked for once."""
        known = self._known.get(text.path)
        if known is None or known[0].text != text.text:
            known = self._known[text.path] = (text.source, mentions(text.source, heading(text.text).kind))
        return known[1]

    def is_script(self, text: Text) -> bool:
        """Whether a file is read as a script of a world."""
        return heading(text.text).kind in PLANS and self._files.found(text.path).configured.settings.world is not None

    def names(self, judged: Judged) -> tuple[Mention, ...]:
        """The names of a file as it was judged; of a script of a world that cannot be read, none."""
        if not self.is_script(judged.text):
            return self.mentions(judged.text)
        if judged.prepared is None:
            return ()
        if self._script[0] is not judged.prepared:
            self._script = judged.prepared, script_names(judged.prepared)
        return self._script[1]

    # -- files ------------------------------------------------------------------------------------------------------

    def group(self, judged: Judged, found: Mention) -> list[Text]:
        """The files in which a name means the same: those of its domain, or of its problem."""
        own = judged.text
        session = self._files.found(own.path)
        domain, problem = _of(session, own)
        if found.names is Names.VARIABLE or domain is None:
            return [own]
        out = {os.path.realpath(own.path): own}
        for input_ in (domain, problem):
            if input_ is not None and (text := self._files.text(input_.path)) is not None:
                out.setdefault(os.path.realpath(text.path), text)
        local = problem is not None and self._of_problem(found, out, problem)
        for path in self._paths(own):
            text = self._files.text(path)
            if text is None or os.path.realpath(path) in out:
                continue
            its_domain, its_problem = _of(session, text)
            if its_domain is None or os.path.realpath(its_domain.path) != os.path.realpath(domain.path):
                continue
            if local and problem is not None and not _same(its_problem, problem, text):
                continue
            out[os.path.realpath(path)] = text
        return list(out.values())

    def _of_problem(self, found: Mention, near: Mapping[str, Text], problem: Input) -> bool:
        """Whether an object is one problem's own."""
        if found.names is not Names.OBJECT:
            return False
        declared = [
            text
            for text in near.values()
            for m in self.mentions(text)
            if m.declares and m.names is Names.OBJECT and m.name == found.name
        ]
        return all([os.path.realpath(text.path) == os.path.realpath(problem.path) for text in declared])

    def _paths(self, own: Text) -> Iterator[str]:
        """The files of the workspace folder that may be ours, by their endings, in order."""
        root, count = self._files.root(own.path), 0
        for folder, below, names in os.walk(root):
            below[:] = sorted([name for name in below if name[0] != "." and name not in ("node_modules", "build")])
            for name in sorted(names):
                if name[0] == "." or os.path.splitext(name)[1].lower() not in _SUFFIXES:
                    continue
                count += 1
                if count > MAX_FILES:
                    return
                yield os.path.join(folder, name)

    # -- questions --------------------------------------------------------------------------------------------------

    def uses(self, judged: Judged, found: Mention) -> list[tuple[Text, Mention]]:
        """Every place of a name, declarations included."""
        if judged.script is not None:
            return self._uses_of_scripts(judged, judged.script, found)
        out = []
        for text in self.group(judged, found):
            for mention in self.mentions(text):
                if mention.names is not found.names or mention.name != found.name:
                    continue
                if found.names is Names.VARIABLE and mention.within != found.within:
                    continue
                out.append((text, mention))
        return out

    def definition(self, judged: Judged, found: Mention) -> tuple[Text, Mention] | None:
        """Where a name is declared."""
        if judged.script is not None:
            return self._of_world(judged.script, found)
        return next(((text, mention) for text, mention in self.uses(judged, found) if mention.declares), None)

    def _of_world(self, prepared: Prepared, found: Mention) -> tuple[Text, Mention] | None:
        """Where a name of a script comes from: an action from the domain of the world, an object from the scene."""
        if found.names is Names.OBJECT:
            return scene_mention(prepared, found.name)
        domain = given(prepared, "domain")
        text = None if domain is None else self._files.text(domain.path.partition(" (with ")[0])
        if text is None:
            return None
        return next(((text, m) for m in self.mentions(text) if m.declares and _same_name(m, found)), None)

    def _uses_of_scripts(self, judged: Judged, prepared: Prepared, found: Mention) -> list[tuple[Text, Mention]]:
        """The same of a name of a script: also in the specifications, and in other scripts about the same scene."""
        own = judged.text
        session, root = self._files.found(own.path), self._files.root(own.path)
        out = [(own, mention) for mention in self.names(judged) if _same_name(mention, found)]
        origin = self._of_world(prepared, found)
        out += [] if origin is None else [origin]
        for path in same_scene(session, own.path, root):
            text = self._files.text(path)
            if text is not None:
                out += [(text, mention) for mention in names_of_script(session, text) if _same_name(mention, found)]
        for path in self._paths(own):
            text = self._files.text(path) if path.lower().endswith(".safe") else None
            if text is not None:
                out += [(text, mention) for mention in self.mentions(text) if _same_name(mention, found)]
        return out

    def declared(self, judged: Judged) -> dict[Names, list[str]]:
        """The names that a file can use: its own, and those of its domain and problem."""
        domain, problem = _of(self._files.found(judged.text.path), judged.text)
        texts = {judged.text.path: judged.text}
        for input_ in (domain, problem):
            if input_ is not None and (text := self._files.text(input_.path)) is not None:
                texts.setdefault(text.path, text)
        out: dict[Names, list[str]] = {}
        for text in texts.values():
            for mention in self.mentions(text):
                if mention.declares and mention.name not in out.setdefault(mention.names, []):
                    out[mention.names].append(mention.name)
        return out

    # -- renaming ---------------------------------------------------------------------------------------------------

    def renamed(self, judged: Judged, found: Mention, new: str) -> dict[str, tuple[Text, list[Span]]]:
        """The places to change, by URI. Raises :class:`NotRenamed`.

        The service judges each file of the group before and after: what it says must be the same.
        """
        if judged.script is not None:
            raise NotRenamed(why_not(judged.script, found))
        word = new.strip().lower() or "-"
        right = (
            is_object_name(word)
            if found.names in (Names.OBJECT, Names.RULE)
            else is_name(word.removeprefix("?") or "-")
        )
        right = right and _WORD.fullmatch(word) is not None
        if not right or (found.names is Names.VARIABLE) != word.startswith("?"):
            raise NotRenamed(f"`{new}` cannot name a {found.names.value}")
        uses = self.uses(judged, found)
        if not any([mention.declares for _, mention in uses]):
            raise NotRenamed(f"nothing here declares the {found.names.value} `{found.name}`")
        root = os.path.join(os.path.realpath(self._files.root(judged.text.path)), "")
        outside = [text.path for text, _ in uses if not os.path.realpath(text.path).startswith(root)]
        if outside:
            raise NotRenamed(f"`{found.name}` is also in {outside[0]}, which is outside of the folder")
        group = self.group(judged, found)
        if len(group) > MAX_JUDGED:
            raise NotRenamed(f"{len(group)} files would have to be judged again; at most {MAX_JUDGED} are")
        if any([self._clashes(text, found, word) for text in group]):
            raise NotRenamed(f"there is a {found.names.value} `{word}` already")
        places: dict[str, tuple[Text, list[Span]]] = {}
        for text, mention in uses:
            places.setdefault(text.uri, (text, []))[1].append(mention.span)
        changed = {uri: _replaced(text, spans, new.strip()) for uri, (text, spans) in places.items()}
        self._verified(judged, group, changed)
        return places

    def _clashes(self, text: Text, found: Mention, word: str) -> bool:
        return any(
            [m.names is found.names and m.name == word and m.within == found.within for m in self.mentions(text)]
        )

    def _verified(self, judged: Judged, group: list[Text], changed: Mapping[str, str]) -> None:
        """Raise :class:`NotRenamed` unless the service says the same of every file with the new texts."""
        unsaved = self._files.unsaved()
        unsaved.update({os.path.realpath(text.path): changed[text.uri] for text in group if text.uri in changed})
        before = self._files.found(judged.text.path)
        after = self._files.found(judged.text.path, unsaved)
        for text in group:
            now = Text(text.uri, text.path, changed.get(text.uri, text.text))
            if _said(judge(before, text)) != _said(judge(after, now)):
                raise NotRenamed(f"that would change what is said of {os.path.basename(text.path)}")


def _same_name(mention: Mention, found: Mention) -> bool:
    return mention.names is found.names and mention.name == found.name


def declaration(source: Source, mention: Mention) -> str:
    """The list that declares a name, as it is written; of an action or a rule, the first lines."""
    parts: tuple[Part, ...] = tree(source)
    best: Form | None = None
    while True:
        inner = next((p for p in parts if isinstance(p, Form) and p.span.start < mention.span.start < p.span.end), None)
        if inner is None:
            break
        best, parts = inner, inner.parts
    if best is None or best.head in (":objects", ":constants", ":types"):
        line = source.position(mention.span.start)[0]
        return source.line(line).strip()
    lines = source.slice(best.span).splitlines()
    return "\n".join(lines[:12]) + ("\n  .." if len(lines) > 12 else "")


def _of(found: Found, text: Text) -> tuple[Input | None, Input | None]:
    """The domain and the problem that a file belongs to; a domain and a problem are their own."""
    said = heading(text.text)
    own = Input(said.kind.value, text.path, "open", text.source)
    if said.kind is Kind.DOMAIN:
        return own, None
    if said.kind in PLANS:
        inputs: Inputs = found.discovery.find(Input("plan", text.path, "open", text.source), said)
        return inputs.domain, inputs.problem
    domain, problem, _ = belongs(found, text, said)
    return domain, own if said.kind is Kind.PROBLEM else problem if said.kind is Kind.SAFETY else None


def _same(its: Input | None, problem: Input, text: Text) -> bool:
    """Whether a file is about a problem; specifications are about any."""
    if heading(text.text).kind in (Kind.SAFETY, Kind.MAPPING):
        return True
    return its is not None and os.path.realpath(its.path) == os.path.realpath(problem.path)


def _replaced(text: Text, spans: list[Span], new: str) -> str:
    out, at = [], 0
    for span in sorted(spans):
        out += [text.text[at : span.start], new]
        at = span.end
    return "".join([*out, text.text[at:]])


def _said(judged: Judged) -> object:
    """What must not change with a name: verdicts, and which mistakes there are."""
    codes = sorted([d.code for d in judged.diagnostics])
    if judged.result is None:
        return codes
    report = judged.result.report
    return codes, report.headline, report.goal, report.safe, [(f.code, f.step) for f in report.findings]
