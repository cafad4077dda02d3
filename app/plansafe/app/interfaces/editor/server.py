"""The language server: handlers of changes of files and folders, and of requests about a file."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from plansafe.app.interfaces.editor.code_actions import (
    FIX_ALL,
    ActionRequest,
    NoFixFound,
    actions,
    edits,
    find_repair_edit,
)
from plansafe.app.interfaces.editor.completion import complete
from plansafe.app.interfaces.editor.document_text import Text, path_of
from plansafe.app.interfaces.editor.formatter import format_file
from plansafe.app.interfaces.editor.hover import hints, hover
from plansafe.app.interfaces.editor.language_server import Server
from plansafe.app.interfaces.editor.lsp_diagnostics import SOURCE
from plansafe.app.interfaces.editor.name_mentions import LEGEND, MODIFIERS, Mention, NameKind, encode_tokens, mention_at
from plansafe.app.interfaces.editor.outline import (
    folding_ranges,
    outline_of_definition,
    outline_of_plan,
    workspace_symbols,
)
from plansafe.app.interfaces.editor.script_names import rename_refusal
from plansafe.app.interfaces.editor.symbols import RenameRefused
from plansafe.app.interfaces.editor.workspace import PLANS, Analysis
from plansafe.app.project.file_kinds import heading
from plansafe.grammar.plan_text import read_plan

ResultT = TypeVar("ResultT")
_REFUSED = -32803
"""The LSP error code RequestFailed: a valid request that cannot be fulfilled."""
_RENAMABLE = (
    NameKind.PREDICATE,
    NameKind.FUNCTION,
    NameKind.ACTION,
    NameKind.TYPE,
    NameKind.OBJECT,
    NameKind.VARIABLE,
    NameKind.RULE,
)


class Refusal(JsonRpcException):
    """A request that is refused for a reason; an editor shows the message to the user."""

    def __init__(self, message: str) -> None:
        super().__init__(message, _REFUSED)


class _NoRefusals(logging.Filter):
    """Keep refusals out of the log: they are answers, not failures of the server."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.exc_info is None or not isinstance(record.exc_info[1], Refusal)


def make_server(version: str) -> Server:
    """Create a server with all handlers."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_NoRefusals())
    server = Server(version)
    _register_document_handlers(server)
    _register_reading_features(server)
    _register_structure_features(server)
    _register_name_features(server)
    _register_editing_features(server)
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


def _register_reading_features(server: Server) -> None:
    """Register hover, inlay hints, completion and semantic tokens."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        def work(analysis: Analysis) -> types.Hover | None:
            trace = server.files.trace(analysis)
            return hover(analysis, trace, server.symbols, analysis.text.offset(params.position))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hinted(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        def work(analysis: Analysis) -> list[types.InlayHint]:
            trace = server.files.trace(analysis)
            return [] if trace is None else hints(analysis.text, trace, analysis.text.span(params.range))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["(", " ", "?", ":"]))
    async def completed(params: types.CompletionParams) -> types.CompletionList | None:
        def work(analysis: Analysis) -> types.CompletionList:
            folder = server.files.folder_session(analysis.text.path)
            return complete(folder, analysis, server.symbols, analysis.text.offset(params.position))

        return await server.ask(params.text_document.uri, work)

    legend = types.SemanticTokensLegend(LEGEND, MODIFIERS)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    async def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        def tokens_of_text(text: Text) -> types.SemanticTokens | None:
            if server.symbols.is_script(text):
                return None
            return types.SemanticTokens(encode_tokens(text, server.symbols.mentions(text)))

        def tokens_of_script(analysis: Analysis) -> types.SemanticTokens:
            return types.SemanticTokens(encode_tokens(analysis.text, server.symbols.names(analysis)))

        uri = params.text_document.uri
        return await _ask_about_text(server, uri, tokens_of_text) or await server.ask(uri, tokens_of_script)


def _register_structure_features(server: Server) -> None:
    """Register outline, folding and the symbols of the workspace."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outlined(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        def of_text(text: Text) -> list[types.DocumentSymbol] | None:
            if server.symbols.is_script(text):
                return None
            if heading(text.text).kind in PLANS:
                return outline_of_plan(text, [step.span for step in read_plan(text.source).steps])
            return outline_of_definition(text, server.symbols.mentions(text))

        def of_script(analysis: Analysis) -> list[types.DocumentSymbol] | None:
            return None if analysis.prepared is None else outline_of_plan(analysis.text, analysis.prepared.places)

        uri = params.text_document.uri
        symbols = await _ask_about_text(server, uri, of_text)
        return await server.ask(uri, of_script) if symbols is None else symbols

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folded(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        def work(text: Text) -> list[types.FoldingRange]:
            return folding_ranges(text, heading(text.text).kind)

        return await _ask_about_text(server, params.text_document.uri, work)

    @server.feature(types.WORKSPACE_SYMBOL)
    async def listed(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return await server.worker.run(lambda: workspace_symbols(server.symbols, params.query))


async def _ask_about_text(server: Server, uri: str, work: Callable[[Text], ResultT | None]) -> ResultT | None:
    """Run a function on an open file without analysing the file."""

    def run_on_text() -> ResultT | None:
        text = server.files.texts.get(uri)
        return None if text is None else work(text)

    return await server.worker.run(run_on_text)


def _register_name_features(server: Server) -> None:
    """Register definition, references, highlights and rename."""

    def mention_under_cursor(analysis: Analysis, position: types.Position) -> Mention | None:
        target = mention_at(server.symbols.names(analysis), analysis.text.offset(position))
        return target if target is not None and target.name_kind in _RENAMABLE else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def defined(params: types.DefinitionParams) -> types.Location | None:
        def work(analysis: Analysis) -> types.Location | None:
            target = mention_under_cursor(analysis, params.position)
            place = server.symbols.definition(analysis, target) if target is not None else None
            return None if place is None else types.Location(place[0].uri, place[0].range(place[1].span))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def used(params: types.ReferenceParams) -> list[types.Location] | None:
        def work(analysis: Analysis) -> list[types.Location]:
            target = mention_under_cursor(analysis, params.position)
            uses = server.symbols.uses(analysis, target) if target is not None else []
            uses = [use for use in uses if params.context.include_declaration or not use[1].declares]
            return [types.Location(text.uri, text.range(mention.span)) for text, mention in uses]

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def lit(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        def work(analysis: Analysis) -> list[types.DocumentHighlight]:
            target = mention_under_cursor(analysis, params.position)
            if target is None:
                return []
            same = [
                m for m in server.symbols.names(analysis) if (m.name_kind, m.name) == (target.name_kind, target.name)
            ]
            if target.name_kind is NameKind.VARIABLE:
                same = [m for m in same if m.within == target.within]
            return [types.DocumentHighlight(analysis.text.range(m.span)) for m in same]

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepared(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        def work(analysis: Analysis) -> types.PrepareRenamePlaceholder | None:
            target = mention_under_cursor(analysis, params.position)
            if target is None:
                return None
            if analysis.script is not None:
                raise Refusal(rename_refusal(analysis.script, target))
            place = analysis.text.range(target.span)
            return types.PrepareRenamePlaceholder(place, analysis.text.source.slice(target.span))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        def work(analysis: Analysis) -> types.WorkspaceEdit | None:
            target = mention_under_cursor(analysis, params.position)
            if target is None:
                raise Refusal("the cursor is not on a name that can be changed")
            try:
                places = server.symbols.rename(analysis, target, params.new_name)
            except RenameRefused as error:
                raise Refusal(str(error)) from None
            new = params.new_name.strip()
            changes = {
                uri: [types.TextEdit(text.range(span), new) for span in spans] for uri, (text, spans) in places.items()
            }
            return types.WorkspaceEdit(changes)

        return await server.ask(params.text_document.uri, work)


def _register_editing_features(server: Server) -> None:
    """Register code actions and formatting."""
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds, resolve_provider=True))
    async def offered(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        def work(analysis: Analysis) -> list[types.CodeAction]:
            only = tuple([str(getattr(kind, "value", kind)) for kind in params.context.only or ()])
            request = ActionRequest(only, analysis.text.span(params.range), _can_resolve_edits(server))
            return actions(server.files.folder_session(analysis.text.path), analysis, request)

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        if not isinstance(data, dict) or not isinstance(data.get("uri"), str):
            return action

        def work(analysis: Analysis) -> types.CodeAction:
            if analysis.text.version != data.get("version"):
                raise Refusal("the text has changed since this code action was offered; request the code actions again")
            try:
                folder = server.files.folder_session(analysis.text.path)
                action.edit = find_repair_edit(folder, analysis, str(data.get("what")))
            except NoFixFound as error:
                raise Refusal(str(error)) from None
            return action

        return await server.ask(data["uri"], work) or action

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def laid_out(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        def work(analysis: Analysis) -> list[types.TextEdit]:
            if analysis.kind.value in ("empty", "other"):
                return []
            new = format_file(analysis.text.source, analysis.kind)
            return [] if new is None else edits(analysis.text, new)

        return await server.ask(params.text_document.uri, work)


def _can_resolve_edits(server: Server) -> bool:
    """Whether the editor can resolve the edit of a code action after the user chooses it."""
    document = server.client_capabilities.text_document
    code_action = document.code_action if document is not None else None
    support = code_action.resolve_support if code_action is not None else None
    return support is not None and "edit" in support.properties and bool(code_action and code_action.data_support)
