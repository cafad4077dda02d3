"""Find declarations and uses of a name in all files of one domain, and rename it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.name_mentions import Mention, NameKind, find_mentions
from plansafe.app.interfaces.editor.script_names import (
    input_of_role,
    names_of_script,
    rename_refusal,
    scene_mention,
    script_names,
    scripts_of_scene,
)
from plansafe.app.interfaces.editor.source_tree import Form, Part, parse_tree
from plansafe.app.interfaces.editor.workspace import (
    PLANS,
    Analysis,
    FolderSession,
    Workspace,
    analyse_file,
    related_inputs,
)
from plansafe.app.project.file_kinds import Kind, heading
from plansafe.app.project.inputs import Input, Inputs
from plansafe.app.session.model import Prepared
from plansafe.grammar.diagnostics import Span, with_article
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import is_name, is_object_name

MAX_FILES = 3_000
MAX_CHECKED = 60
"""Maximum number of files to analyse for one rename; a rename that affects more files is refused."""
_SUFFIXES = (".pddl", ".safe", ".plan", ".soln", ".solution", ".txt", "")
_WORD = re.compile(r"\??[^\s()\[\];\"?:$\x00-\x1f\ud800-\udfff]+")


class RenameRefused(Exception):
    """A rename is refused; the message gives the reason."""


class Symbols:
    """The names in the current files of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._files = workspace
        self._mentions: dict[str, tuple[Source, tuple[Mention, ...]]] = {}
        self._script: tuple[Prepared | None, tuple[Mention, ...]] = (None, ())

    def mentions(self, text: Text) -> tuple[Mention, ...]:
        """Return the names in a PDDL or specification file, cached per text."""
        cached = self._mentions.get(text.path)
        if cached is None or cached[0].text != text.text:
            cached = self._mentions[text.path] = (text.source, find_mentions(text.source, heading(text.text).kind))
        return cached[1]

    def is_script(self, text: Text) -> bool:
        """Whether a file is read as a script of a home world."""
        return (
            heading(text.text).kind in PLANS
            and self._files.folder_session(text.path).effective.settings.world is not None
        )

    def names(self, analysis: Analysis) -> tuple[Mention, ...]:
        """Return the names in an analysed file; none for a script that cannot be read."""
        if not self.is_script(analysis.text):
            return self.mentions(analysis.text)
        if analysis.prepared is None:
            return ()
        if self._script[0] is not analysis.prepared:
            self._script = analysis.prepared, script_names(analysis.prepared)
        return self._script[1]

    # -- files ------------------------------------------------------------------------------------------------------

    def group(self, analysis: Analysis, target: Mention) -> list[Text]:
        """Return the files in which a name has the same meaning: the files of its domain or of its problem."""
        current = analysis.text
        folder = self._files.folder_session(analysis.text.path)
        domain, problem = _domain_and_problem(folder, current)
        if target.name_kind is NameKind.VARIABLE or domain is None:
            return [current]
        out = {os.path.realpath(current.path): current}
        for input_ in (domain, problem):
            if input_ is not None and (text := self._files.text(input_.path)) is not None:
                out.setdefault(os.path.realpath(text.path), text)
        local = problem is not None and self._of_problem(target, out, problem)
        for path in self._paths(current):
            text = self._files.text(path)
            if text is None or os.path.realpath(path) in out:
                continue
            file_domain, file_problem = _domain_and_problem(folder, text)
            if file_domain is None or os.path.realpath(file_domain.path) != os.path.realpath(domain.path):
                continue
            if local and problem is not None and not _is_about(file_problem, problem, text):
                continue
            out[os.path.realpath(path)] = text
        return list(out.values())

    def _of_problem(self, target: Mention, texts: Mapping[str, Text], problem: Input) -> bool:
        """Whether a name is an object that only the problem declares."""
        if target.name_kind is not NameKind.OBJECT:
            return False
        declared = [
            text
            for text in texts.values()
            for m in self.mentions(text)
            if m.declares and m.name_kind is NameKind.OBJECT and m.name == target.name
        ]
        return all([os.path.realpath(text.path) == os.path.realpath(problem.path) for text in declared])

    def definition_files(self) -> Iterator[Text]:
        """Yield the domains, problems and specifications of all workspace folders."""
        for root in list(self._files.roots):
            for path in _files_below(root, (".pddl", ".safe")):
                text = self._files.text(path)
                if text is not None and heading(text.text).kind not in PLANS:
                    yield text

    def _paths(self, current: Text) -> Iterator[str]:
        """Yield the files of the workspace folder with a suffix of plans, PDDL or specifications, sorted."""
        return _files_below(self._files.root(current.path), _SUFFIXES)

    # -- uses -------------------------------------------------------------------------------------------------------

    def uses(self, analysis: Analysis, target: Mention) -> list[tuple[Text, Mention]]:
        """Return every use of a name, including declarations."""
        if analysis.script is not None:
            return self._script_uses(analysis, analysis.script, target)
        out = []
        for text in self.group(analysis, target):
            for mention in self.mentions(text):
                if mention.name_kind is not target.name_kind or mention.name != target.name:
                    continue
                if target.name_kind is NameKind.VARIABLE and mention.within != target.within:
                    continue
                out.append((text, mention))
        return out

    def definition(self, analysis: Analysis, target: Mention) -> tuple[Text, Mention] | None:
        """Return the declaration of a name."""
        if analysis.script is not None:
            return self._script_definition(analysis.script, target)
        return next(((text, mention) for text, mention in self.uses(analysis, target) if mention.declares), None)

    def _script_definition(self, prepared: Prepared, target: Mention) -> tuple[Text, Mention] | None:
        """Return the declaration of a name in a script: in the home world's domain or in the scene."""
        if target.name_kind is NameKind.OBJECT:
            return scene_mention(prepared, target.name)
        domain = input_of_role(prepared, "domain")
        text = None if domain is None else self._files.text(domain.path.partition(" (with ")[0])
        if text is None:
            return None
        return next(((text, m) for m in self.mentions(text) if m.declares and _same_name(m, target)), None)

    def _script_uses(self, analysis: Analysis, prepared: Prepared, target: Mention) -> list[tuple[Text, Mention]]:
        """Return the uses of a script's name in this script, in scripts of the same scene, and in specifications."""
        current = analysis.text
        folder, root = self._files.folder_session(current.path), self._files.root(current.path)
        out = [(current, mention) for mention in self.names(analysis) if _same_name(mention, target)]
        definition = self._script_definition(prepared, target)
        out += [] if definition is None else [definition]
        for path in scripts_of_scene(folder.effective.settings, current.path, root):
            text = self._files.text(path)
            if text is not None:
                names = names_of_script(folder.session, text)
                out += [(text, mention) for mention in names if _same_name(mention, target)]
        for path in self._paths(current):
            text = self._files.text(path) if path.lower().endswith(".safe") else None
            if text is not None:
                out += [(text, mention) for mention in self.mentions(text) if _same_name(mention, target)]
        return out

    def declared(self, analysis: Analysis) -> dict[NameKind, list[str]]:
        """Return the names that a file can use: declared in the file, its domain or its problem."""
        domain, problem = _domain_and_problem(self._files.folder_session(analysis.text.path), analysis.text)
        texts = {analysis.text.path: analysis.text}
        for input_ in (domain, problem):
            if input_ is not None and (text := self._files.text(input_.path)) is not None:
                texts.setdefault(text.path, text)
        out: dict[NameKind, list[str]] = {}
        for text in texts.values():
            for mention in self.mentions(text):
                if mention.declares and mention.name not in out.setdefault(mention.name_kind, []):
                    out[mention.name_kind].append(mention.name)
        return out

    # -- renaming ---------------------------------------------------------------------------------------------------

    def rename(self, analysis: Analysis, target: Mention, new: str) -> dict[str, tuple[Text, list[Span]]]:
        """Return the spans to change, by URI.

        Analyses each affected file before and after the change: verdicts and diagnostic codes must not differ.

        Raises:
            RenameRefused: the name cannot be changed.
        """
        if analysis.script is not None:
            raise RenameRefused(rename_refusal(analysis.script, target))
        word = new.strip().lower() or "-"
        is_valid = (
            is_object_name(word)
            if target.name_kind in (NameKind.OBJECT, NameKind.RULE)
            else is_name(word.removeprefix("?") or "-")
        )
        is_valid = is_valid and _WORD.fullmatch(word) is not None
        if not is_valid or (target.name_kind is NameKind.VARIABLE) != word.startswith("?"):
            raise RenameRefused(f"`{new}` cannot name {with_article(target.name_kind.value)}")
        uses = self.uses(analysis, target)
        if not any([mention.declares for _, mention in uses]):
            raise RenameRefused(f"no file here declares the {target.name_kind.value} `{target.name}`")
        root = os.path.join(os.path.realpath(self._files.root(analysis.text.path)), "")
        outside = [text.path for text, _ in uses if not os.path.realpath(text.path).startswith(root)]
        if outside:
            raise RenameRefused(f"`{target.name}` is also in {outside[0]}, which is outside the workspace folder")
        group = self.group(analysis, target)
        if len(group) > MAX_CHECKED:
            raise RenameRefused(f"the rename affects {len(group)} files; at most {MAX_CHECKED} are supported")
        if any([self._clashes(text, target, word) for text in group]):
            raise RenameRefused(f"{with_article(target.name_kind.value)} `{word}` already exists")
        places: dict[str, tuple[Text, list[Span]]] = {}
        for text, mention in uses:
            places.setdefault(text.uri, (text, []))[1].append(mention.span)
        changed = {uri: _apply_edits(text, spans, new.strip()) for uri, (text, spans) in places.items()}
        self._verify_unchanged(analysis, group, changed)
        return places

    def _clashes(self, text: Text, target: Mention, word: str) -> bool:
        return any(
            [
                m.name_kind is target.name_kind and m.name == word and m.within == target.within
                for m in self.mentions(text)
            ]
        )

    def _verify_unchanged(self, analysis: Analysis, group: list[Text], changed: Mapping[str, str]) -> None:
        """Raise :class:`RenameRefused` if the analysis of any file differs with the new texts."""
        unsaved = self._files.unsaved()
        unsaved.update({os.path.realpath(text.path): changed[text.uri] for text in group if text.uri in changed})
        before = self._files.folder_session(analysis.text.path)
        after = self._files.folder_session(analysis.text.path, unsaved)
        for text in group:
            changed_text = Text(text.uri, text.path, changed.get(text.uri, text.text))
            if _outcome(analyse_file(before, text)) != _outcome(analyse_file(after, changed_text)):
                raise RenameRefused(
                    f"the rename would change the verdict or the diagnostics of {os.path.basename(text.path)}"
                )


def _files_below(root: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Yield the files of a folder and the folders in it that have one of these suffixes, at most ``MAX_FILES``."""
    count = 0
    for folder, below, names in os.walk(root):
        below[:] = sorted([name for name in below if name[0] != "." and name not in ("node_modules", "build")])
        for name in sorted(names):
            if name[0] == "." or os.path.splitext(name)[1].lower() not in suffixes:
                continue
            count += 1
            if count > MAX_FILES:
                return
            yield os.path.join(folder, name)


def _same_name(mention: Mention, target: Mention) -> bool:
    return mention.name_kind is target.name_kind and mention.name == target.name


def declaration(source: Source, mention: Mention) -> str:
    """Return the source text that declares a name, at most 12 lines."""
    parts: tuple[Part, ...] = parse_tree(source)
    innermost: Form | None = None
    while True:
        inner = next((p for p in parts if isinstance(p, Form) and p.span.start < mention.span.start < p.span.end), None)
        if inner is None:
            break
        innermost, parts = inner, inner.parts
    if innermost is None or innermost.head in (":objects", ":constants", ":types"):
        line = source.position(mention.span.start)[0]
        return source.line(line).strip()
    lines = source.slice(innermost.span).splitlines()
    return "\n".join(lines[:12]) + ("\n  .." if len(lines) > 12 else "")


def _domain_and_problem(folder: FolderSession, text: Text) -> tuple[Input | None, Input | None]:
    """Return the domain and the problem that a file belongs to; a domain belongs to itself, a problem also."""
    file_heading = heading(text.text)
    this_file = Input(file_heading.kind.value, text.path, "open", text.source)
    if file_heading.kind is Kind.DOMAIN:
        return this_file, None
    if file_heading.kind in PLANS:
        inputs: Inputs = folder.discovery.find(Input("plan", text.path, "open", text.source), file_heading)
        return inputs.domain, inputs.problem
    domain, problem, _ = related_inputs(folder, text, file_heading)
    return (
        domain,
        this_file if file_heading.kind is Kind.PROBLEM else problem if file_heading.kind is Kind.SAFETY else None,
    )


def _is_about(file_problem: Input | None, problem: Input, text: Text) -> bool:
    """Whether a file belongs to a problem; specifications belong to every problem."""
    if heading(text.text).kind in (Kind.SAFETY, Kind.MAPPING):
        return True
    return file_problem is not None and os.path.realpath(file_problem.path) == os.path.realpath(problem.path)


def _apply_edits(text: Text, spans: list[Span], new: str) -> str:
    out, at = [], 0
    for span in sorted(spans):
        out += [text.text[at : span.start], new]
        at = span.end
    return "".join([*out, text.text[at:]])


def _outcome(analysis: Analysis) -> object:
    """Return what a rename must not change: the verdicts, the findings and the diagnostic codes."""
    codes = sorted([d.code for d in analysis.diagnostics])
    if analysis.result is None:
        return codes
    report = analysis.result.report
    return codes, report.headline, report.goal, report.safe, [(f.code, f.step) for f in report.findings]
