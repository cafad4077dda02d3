"""Opening, changing, saving and closing files, and what else changes on the disk; the whole server is made here."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text, path_of
from plansafe.app.interfaces.editor.features import questions
from plansafe.app.interfaces.editor.language_server import Server
from plansafe.app.interfaces.editor.lsp_diagnostics import SOURCE


def make_server(version: str) -> Server:
    """The server with everything that it can do."""
    server = Server(version)
    _documents(server)
    questions(server)
    return server


def _documents(server: Server) -> None:
    """Opening, changing, saving and closing files; what else changes on the disk."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        said: Any = params.initialization_options
        server.files.said = said if isinstance(said, dict) else {}

    @server.feature(types.SHUTDOWN)
    def shut_down(*_: object) -> None:
        server.stop()

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        _begin(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        _put(server, Text(item.uri, path_of(item.uri), item.text, item.version, item.language_id))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        before = server.files.texts.get(params.text_document.uri)
        if before is not None:
            _put(server, before.changed(list(params.content_changes), params.text_document.version))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.later(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        age = server.files.age
        server.files.close(uri)
        server.clear(uri)
        if server.files.age != age:
            server.everything_later()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        if any([change.uri not in server.files.texts for change in params.changes]):
            server.files.forget()
            server.everything_later()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        settings: Any = params.settings
        said = settings.get(SOURCE, settings) if isinstance(settings, dict) else {}
        server.files.said = said if isinstance(said, dict) else {}
        server.files.forget()
        server.everything_later()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(folder.uri) for folder in params.event.removed}
        roots = [root for root in server.files.roots if root not in gone]
        server.files.roots = [*roots, *[path_of(folder.uri) for folder in params.event.added]]
        server.files.forget()
        server.everything_later()


def _begin(server: Server) -> None:
    """What the editor said of itself when it began, and which files on the disk it shall watch."""
    workspace = server.workspace
    roots = [path_of(folder.uri) for folder in workspace.folders.values()]
    if not roots and workspace.root_uri:
        roots = [path_of(workspace.root_uri)]
    server.files.roots = roots
    capabilities = server.client_capabilities.workspace
    watching = capabilities.did_change_watched_files if capabilities is not None else None
    if watching is not None and watching.dynamic_registration:
        globs = ("**/*.{pddl,safe,plan,soln,json}", "**/{safecheck,pyproject,home}.toml")
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(glob) for glob in globs])
        wish = types.Registration("watched-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([wish]))


def _put(server: Server, text: Text) -> None:
    age = server.files.age
    server.files.put(text)
    server.later(text.uri)
    if server.files.age != age:
        server.everything_later(text.uri)
