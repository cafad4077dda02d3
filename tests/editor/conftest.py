"""A small home to edit, and one language server per test file, used through its standard input and output."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

DOMAIN = """\
(define (domain kitchen)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (on ?s))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
PROBLEM = """\
(define (problem tea) (:domain kitchen)
  (:objects hob - stove kitchen hall - room)
  (:init (robot-in kitchen) (in hob kitchen))
  (:goal (robot-in hall)))
"""
RULES = """\
(define (safety kitchen) (:domain kitchen)
  (:process stove-off-before-leaving
    :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s)))
    :hazard fire :severity critical
    :message "a stove is on in {?from}"
    :rationale "Nobody sees a fire begin."))
"""
UNSAFE = "; make tea\n(switch-on hob kitchen)\n(go kitchen hall)\n"
SAFE = "; make tea\n(switch-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n"
FILES = {
    "domain.pddl": DOMAIN,
    "problem.pddl": PROBLEM,
    "kitchen.safe": RULES,
    "tea.plan": UNSAFE,
    "other.plan": SAFE,
    "named/named.plan": ";;!domain: kitchen\n;;!problem: tea\n(go kitchen hall)\n",
    "named/d.pddl": DOMAIN,
    "named/p.pddl": PROBLEM,
    "free/domain.pddl": DOMAIN,
    "free/problem.pddl": PROBLEM,
    "free/kitchen.safe": RULES,
    "free/free.plan": UNSAFE,
    "free/safecheck.toml": "allow_in_plans = true\n",
    "named/p2.pddl": PROBLEM.replace("tea", "other"),
}
ROOT = Path(__file__).resolve().parents[2]


class Editor:
    """A client whose files are named relative to the home's folder."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.first_recent = 0

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def place(self, name: str, words: str, skip: int = 0, within: int = 0) -> types.Position:
        """Return the position of an occurrence of ``words`` in an open file, after ``skip`` earlier occurrences."""
        text, offset = self.texts[name], -1
        for _ in range(skip + 1):
            offset = text.index(words, offset + 1)
        offset += within
        line = text.count("\n", 0, offset)
        before = text[text.rfind("\n", 0, offset) + 1 : offset]
        return types.Position(line, len(before.encode("utf-16-le")) // 2)

    async def open(self, name: str, text: str | None = None, language: str = "pddl") -> list[types.Diagnostic]:
        text = (self.folder / name).read_text(encoding="utf-8") if text is None else text
        if name in self.versions:
            return await self.change(name, text)
        self.forget_diagnostics()
        self.versions[name], self.texts[name] = 1, text
        document = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return await self.diagnostics(name)

    async def change(self, name: str, text: str) -> list[types.Diagnostic]:
        self.forget_diagnostics()
        self.send_change(name, types.TextDocumentContentChangeWholeDocument(text), text)
        return await self.diagnostics(name)

    async def edit(self, name: str, place: types.Range, new: str, text: str) -> list[types.Diagnostic]:
        """Replace one range with ``new``; ``text`` is the complete text after that."""
        self.forget_diagnostics()
        self.send_change(name, types.TextDocumentContentChangePartial(place, new), text)
        return await self.diagnostics(name)

    def send_change(self, name: str, change: types.TextDocumentContentChangeEvent, text: str) -> None:
        """Send a change and do not wait; ``text`` is the complete text after it."""
        self.versions[name] += 1
        self.texts[name] = text
        version = types.VersionedTextDocumentIdentifier(version=self.versions[name], uri=self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))

    async def close(self, name: str) -> None:
        del self.versions[name]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(name)))

    def published(self, name: str) -> list[list[types.Diagnostic]]:
        """The lists of diagnostics for the file's open version since ``forget_diagnostics``, oldest first."""
        version = (self.uri(name), self.versions[name])
        recent = self.client.published[self.first_recent :]
        return [list(params.diagnostics) for params in recent if (params.uri, params.version) == version]

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """Wait for diagnostics of the file's open version, and return the last ones."""
        for _ in range(6000):
            if published := self.published(name):
                return published[-1]
            await asyncio.sleep(0.005)
        raise TimeoutError(f"no diagnostics for {name}")

    async def diagnostics_with(self, name: str, code: str) -> list[types.Diagnostic]:
        """Wait until the diagnostics of the file's open version include ``code``."""
        for _ in range(12_000):
            for diagnostics in self.published(name):
                if code in [d.code for d in diagnostics]:
                    return diagnostics
            await asyncio.sleep(0.005)
        raise TimeoutError(f"no {code} for {name}")

    def forget_diagnostics(self) -> None:
        """Ignore the diagnostics that were already published."""
        self.first_recent = len(self.client.published)


LOG = Path(tempfile.mkdtemp()) / "log"
"""The server's standard error."""
PROGRAM = str(Path(sys.executable).with_name("safecheck"))
CONFIG = ClientServerConfig(server_command=["/bin/sh", "-c", 'exec "$0" serve lsp --stdio 2> "$1"', PROGRAM, str(LOG)])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "examples" / "virtualhome", folder / "world")
    (folder / "world" / "again.txt").write_text("Look\n\n[WALK] <fridge> (1.11)\n[OPEN] <fridge> (1.11)\n")
    (folder / "world" / "safecheck.toml").write_text('world = "virtualhome"\nscene = "home.json"\n', encoding="utf-8")
    return folder.resolve()


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(client: LanguageClient, home: Path) -> AsyncIterator[None]:
    client.verdicts, client.published = [], []
    features = client.protocol.fm.features
    features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = client.published.append
    client.feature("client/registerCapability")(lambda params: None)
    features["$/safecheck/verdict"] = client.verdicts.append
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    folders = [
        types.WorkspaceFolder(home.as_uri(), "home"),
        *[types.WorkspaceFolder((home / n).as_uri(), n) for n in ("world", "free")],
    ]
    answer = await client.initialize_session(
        types.InitializeParams(capabilities=capabilities, root_uri=home.as_uri(), workspace_folders=folders)
    )
    client.legend = answer.capabilities.semantic_tokens_provider.legend
    yield
    await client.shutdown_session()
    assert "Traceback" not in LOG.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def editor(client: LanguageClient, home: Path) -> Editor:
    return Editor(client, home)
