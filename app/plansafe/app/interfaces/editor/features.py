"""What an editor asks about a file, and which file beside this one answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from plansafe.app.interfaces.editor.code_actions import FIX_ALL, NoFix, Wish, actions, edits, searched
from plansafe.app.interfaces.editor.completion import complete
from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.formatter import formatted
from plansafe.app.interfaces.editor.hover import hover
from plansafe.app.interfaces.editor.inlay_hints import hints
from plansafe.app.interfaces.editor.language_server import Server
from plansafe.app.interfaces.editor.name_mentions import Mention, Names, at
from plansafe.app.interfaces.editor.script_names import why_not
from plansafe.app.interfaces.editor.semantic_tokens import LEGEND, MODIFIERS, colours
from plansafe.app.interfaces.editor.symbols import NotRenamed
from plansafe.app.interfaces.editor.workspace import Judged

Done = TypeVar("Done")
_REFUSED = -32803
"""The protocol's code for a request that is right and cannot be done."""
_NAMED = (Names.PREDICATE, Names.FUNCTION, Names.ACTION, Names.TYPE, Names.OBJECT, Names.VARIABLE, Names.RULE)


def refusal(message: str) -> JsonRpcException:
    """Why something is not done, which the editor shows."""
    return JsonRpcException(message, _REFUSED)


def questions(server: Server) -> None:
    """Register all of them."""
    _reading(server)
    _names(server)
    _changing(server)


def _reading(server: Server) -> None:
    """Hovers, hints, completion, colours, outline."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        def work(judged: Judged) -> types.Hover | None:
            walk = server.files.walk(judged)
            return hover(judged, walk, server.symbols, judged.text.offset(params.position))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hinted(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        def work(judged: Judged) -> list[types.InlayHint]:
            walk = server.files.walk(judged)
            return [] if walk is None else hints(judged.text, walk, judged.text.span(params.range))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["(", " ", "?", ":"]))
    async def completed(params: types.CompletionParams) -> types.CompletionList | None:
        def work(judged: Judged) -> types.CompletionList:
            found = server.files.found(judged.text.path)
            return complete(found, judged, server.symbols, judged.text.offset(params.position))

        return await server.ask(params.text_document.uri, work)

    legend = types.SemanticTokensLegend(LEGEND, MODIFIERS)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    async def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        def of_text(text: Text) -> types.SemanticTokens | None:
            if server.symbols.is_script(text):
                return None
            return types.SemanticTokens(colours(text, server.symbols.mentions(text)))

        def of_script(judged: Judged) -> types.SemanticTokens:
            return types.SemanticTokens(colours(judged.text, server.symbols.names(judged)))

        uri = params.text_document.uri
        return await _of_text(server, uri, of_text) or await server.ask(uri, of_script)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outlined(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        def work(text: Text) -> list[types.DocumentSymbol]:
            return [
                types.DocumentSymbol(m.name, _OUTLINE[m.names], text.range(m.span), text.range(m.span))
                for m in server.symbols.mentions(text)
                if m.declares and m.names in _OUTLINE
            ]

        return await _of_text(server, params.text_document.uri, work)


_OUTLINE = {
    Names.DOMAIN: types.SymbolKind.Namespace,
    Names.PROBLEM: types.SymbolKind.Namespace,
    Names.TYPE: types.SymbolKind.Class,
    Names.PREDICATE: types.SymbolKind.Property,
    Names.FUNCTION: types.SymbolKind.Number,
    Names.ACTION: types.SymbolKind.Function,
    Names.OBJECT: types.SymbolKind.Variable,
    Names.RULE: types.SymbolKind.Constant,
}


async def _of_text(server: Server, uri: str, work: Callable[[Text], Done | None]) -> Done | None:
    """Ask something that needs no verdict."""

    def turn() -> Done | None:
        text = server.files.texts.get(uri)
        return None if text is None else work(text)

    return await server.worker.run(turn)


def _names(server: Server) -> None:
    """Definition, references, new names."""

    def named(judged: Judged, position: types.Position) -> Mention | None:
        found = at(server.symbols.names(judged), judged.text.offset(position))
        return found if found is not None and found.names in _NAMED else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def defined(params: types.DefinitionParams) -> types.Location | None:
        def work(judged: Judged) -> types.Location | None:
            found = named(judged, params.position)
            place = server.symbols.definition(judged, found) if found is not None else None
            return None if place is None else types.Location(place[0].uri, place[0].range(place[1].span))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def used(params: types.ReferenceParams) -> list[types.Location] | None:
        def work(judged: Judged) -> list[types.Location]:
            found = named(judged, params.position)
            uses = server.symbols.uses(judged, found) if found is not None else []
            kept = [use for use in uses if params.context.include_declaration or not use[1].declares]
            return [types.Location(text.uri, text.range(mention.span)) for text, mention in kept]

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def lit(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        def work(judged: Judged) -> list[types.DocumentHighlight]:
            found = named(judged, params.position)
            if found is None:
                return []
            same = [m for m in server.symbols.names(judged) if (m.names, m.name) == (found.names, found.name)]
            if found.names is Names.VARIABLE:
                same = [m for m in same if m.within == found.within]
            return [types.DocumentHighlight(judged.text.range(m.span)) for m in same]

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepared(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        def work(judged: Judged) -> types.PrepareRenamePlaceholder | None:
            found = named(judged, params.position)
            if found is None:
                return None
            if judged.script is not None:
                raise refusal(why_not(judged.script, found))
            place = judged.text.range(found.span)
            return types.PrepareRenamePlaceholder(place, judged.text.source.slice(found.span))

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        def work(judged: Judged) -> types.WorkspaceEdit | None:
            found = named(judged, params.position)
            if found is None:
                raise refusal("there is no name here")
            try:
                places = server.symbols.renamed(judged, found, params.new_name)
            except NotRenamed as why:
                raise refusal(str(why)) from None
            new = params.new_name.strip()
            changes = {
                uri: [types.TextEdit(text.range(span), new) for span in spans] for uri, (text, spans) in places.items()
            }
            return types.WorkspaceEdit(changes)

        return await server.ask(params.text_document.uri, work)


def _changing(server: Server) -> None:
    """Fixes and layout."""
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds, resolve_provider=True))
    async def offered(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        def work(judged: Judged) -> list[types.CodeAction]:
            only = tuple([str(getattr(kind, "value", kind)) for kind in params.context.only or ()])
            wish = Wish(only, judged.text.span(params.range), _lazily(server))
            return actions(server.files.found(judged.text.path), judged, wish)

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        if not isinstance(data, dict) or not isinstance(data.get("uri"), str):
            return action

        def work(judged: Judged) -> types.CodeAction:
            if judged.text.version != data.get("version"):
                raise refusal("the text has changed since this was offered")
            try:
                found = server.files.found(judged.text.path)
                action.edit = searched(found, judged, str(data.get("what")))
            except NoFix as why:
                raise refusal(str(why)) from None
            return action

        return await server.ask(data["uri"], work) or action

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def laid_out(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        def work(judged: Judged) -> list[types.TextEdit]:
            if judged.kind.value in ("empty", "other"):
                return []
            new = formatted(judged.text.source, judged.kind)
            return [] if new is None else edits(judged.text, new)

        return await server.ask(params.text_document.uri, work)


def _lazily(server: Server) -> bool:
    """Whether the editor asks for an edit once an action is chosen."""
    document = server.client_capabilities.text_document
    can = document.code_action if document is not None else None
    support = can.resolve_support if can is not None else None
    return support is not None and "edit" in support.properties and bool(can and can.data_support)
