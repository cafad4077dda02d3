"""Create the language server and its handlers of file, configuration and folder changes."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text, path_of
from plansafe.app.interfaces.editor.features import register_features
from plansafe.app.interfaces.editor.language_server import Server
from plansafe.app.interfaces.editor.lsp_diagnostics import SOURCE


def make_server(version: str) -> Server:
    """Create a server with all handlers."""
    server = Server(version)
    _register_document_handlers(server)
    register_features(server)
    return server


def _register_document_handlers(server: Server) -> None:
    """Register the handlers for open, changed, saved and closed files and for changes on disk."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        options: Any = params.initialization_options
        server.files.editor_settings = options if isinstance(options, dict) else {}

    @server.feature(types.SHUTDOWN)
    def shut_down(*_: object) -> None:
        server.stop()

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        _start_workspace(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        _store(server, Text(item.uri, path_of(item.uri), item.text, item.version, item.language_id))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        text = server.files.texts.get(params.text_document.uri)
        if text is not None:
            _store(server, text.changed(list(params.content_changes), params.text_document.version))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.schedule_check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        generation = server.files.generation
        server.files.close(uri)
        server.clear(uri)
        if server.files.generation != generation:
            server.schedule_all_checks()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        if any([change.uri not in server.files.texts for change in params.changes]):
            server.files.invalidate()
            server.schedule_all_checks()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        settings: Any = params.settings
        own_settings = settings.get(SOURCE, settings) if isinstance(settings, dict) else {}
        server.files.editor_settings = own_settings if isinstance(own_settings, dict) else {}
        server.files.invalidate()
        server.schedule_all_checks()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        removed = {path_of(folder.uri) for folder in params.event.removed}
        roots = [root for root in server.files.roots if root not in removed]
        server.files.roots = [*roots, *[path_of(folder.uri) for folder in params.event.added]]
        server.files.invalidate()
        server.schedule_all_checks()


def _start_workspace(server: Server) -> None:
    """Read the workspace folders, and ask the editor to watch files on disk."""
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
        request = types.Registration("watched-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([request]))


def _store(server: Server, text: Text) -> None:
    generation = server.files.generation
    server.files.put(text)
    server.schedule_check(text.uri)
    if server.files.generation != generation:
        server.schedule_all_checks(text.uri)
