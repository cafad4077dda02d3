"""Test a session of the language server with a real client over standard input and output."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")


def codes(diagnostics: list[types.Diagnostic]) -> list[object]:
    return [d.code for d in diagnostics]


def markdown(hover: types.Hover | None) -> str:
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    return hover.contents.value


async def hover_text(editor, name: str, words: str, skip: int = 0, within: int = 1) -> str:
    place = editor.place(name, words, skip, within)
    return markdown(await editor.client.text_document_hover_async(types.HoverParams(editor.document(name), place)))


async def completions(editor, name: str, place: types.Position) -> list[types.CompletionItem]:
    params = types.CompletionParams(editor.document(name), place)
    return list((await editor.client.text_document_completion_async(params)).items)


async def code_actions(editor, name: str, words: str, *only: str) -> list[types.CodeAction]:
    place = editor.place(name, words)
    context = types.CodeActionContext([], only=list(only) or None)
    params = types.CodeActionParams(editor.document(name), types.Range(place, place), context)
    return list(await editor.client.text_document_code_action_async(params) or [])


def apply_edit(editor, name: str, edit: types.WorkspaceEdit) -> str:
    """The text of a file after an edit, as an editor would make it."""
    lines = editor.texts[name].splitlines(keepends=True)

    def offset(place: types.Position) -> int:
        before = sum(map(len, lines[: place.line]))
        line = lines[place.line] if place.line < len(lines) else ""
        return before + len(line.encode("utf-16-le")[: 2 * place.character].decode("utf-16-le"))

    text = editor.texts[name]
    changes = edit.changes[editor.uri(name)]
    for change in sorted(changes, key=lambda c: (c.range.start.line, c.range.start.character), reverse=True):
        text = text[: offset(change.range.start)] + change.new_text + text[offset(change.range.end) :]
    return text


# -- diagnostics while the user types ----------------------------------------------------------------------------------


async def test_unsafe_step_links_to_rule_and_explanation(editor) -> None:
    (diagnostic,) = await editor.open("tea.plan")
    assert diagnostic.code == "SC201"
    assert (diagnostic.range.start.line, diagnostic.range.end.character) == (2, len("(go kitchen hall)"))
    assert diagnostic.severity is types.DiagnosticSeverity.Error
    assert diagnostic.source == "safecheck"
    assert "a stove is on in kitchen" in diagnostic.message
    assert "Nobody sees a fire begin." in diagnostic.message
    assert diagnostic.code_description.href.endswith("/explain/SC201.md")
    assert Path(diagnostic.code_description.href.removeprefix("file://")).read_text().startswith("# SC201")
    where = {info.location.uri.rpartition("/")[2]: info.message for info in diagnostic.related_information}
    assert set(where) == {"tea.plan", "kitchen.safe"}
    assert "becomes true here" in where["tea.plan"]


async def test_unsaved_fix_clears_diagnostics(editor) -> None:
    place = types.Range(types.Position(2, 0), types.Position(2, 0))
    text = editor.texts["tea.plan"].replace("(go ", "(switch-off hob kitchen)\n(go ")
    assert await editor.edit("tea.plan", place, "(switch-off hob kitchen)\n", text) == []
    assert "switch-off" not in (editor.folder / "tea.plan").read_text()
    for _ in range(200):  # the server sends the verdict after the diagnostics
        if editor.client.verdicts[-1].headline == "SAFE":
            break
        await asyncio.sleep(0.05)
    assert editor.client.verdicts[-1].headline == "SAFE"


async def test_unknown_action_has_a_quick_fix(editor) -> None:
    (diagnostic,) = await editor.change("tea.plan", "(swich-on hob kitchen)\n(go kitchen hall)\n")
    assert diagnostic.code == "SC401"
    assert "did you mean `switch-on`?" in diagnostic.message
    (action,) = [a for a in await code_actions(editor, "tea.plan", "swich") if a.title.startswith("Write")]
    assert apply_edit(editor, "tea.plan", action.edit).startswith("(switch-on hob kitchen)")
    assert action.is_preferred


async def test_positions_are_counted_in_utf_16_units(editor) -> None:
    text = "; \U0001f525 fire \U0001f525\n(swich-on hob kitchen) ; \U0001f525\n"
    assert codes(await editor.change("tea.plan", text))[0] == "SC401"
    text = "(switch-on \U0001f525 kitchen) (go kitchen hall)\n"
    (first, *_) = await editor.change("tea.plan", text)
    assert first.code == "SC403"
    assert (first.range.start.character, first.range.end.character) == (len("(switch-on "), len("(switch-on xx"))
    # a change after the wide character, as an editor counts it
    column = len("(switch-on xx kitchen) (go kitchen ")
    hall = types.Range(types.Position(0, column), types.Position(0, column + len("hall")))
    diagnostics = await editor.edit("tea.plan", hall, "hull", text.replace("hall", "hull"))
    assert codes(diagnostics) == ["SC403", "SC403"]
    assert diagnostics[1].range == hall


async def test_incomplete_text_does_not_crash_the_server(editor) -> None:
    assert codes(await editor.change("tea.plan", "(go kitchen")) == ["SC002"]
    assert codes(await editor.change("tea.plan", "")) == ["SC310"]
    assert codes(await editor.change("tea.plan", "(" * 5000)) != []
    assert codes(await editor.change("tea.plan", "(go\u2028kitchen hall)\n")) == []


async def test_failed_step_shows_the_missing_fact(editor) -> None:
    diagnostics = await editor.change("tea.plan", "(go hall kitchen)\n(switch-on hob kitchen)\n(go kitchen hall)\n")
    assert codes(diagnostics)[0] == "SC301"
    assert "robot-in hall" in diagnostics[0].message or any(
        "robot-in hall" in i.message for i in diagnostics[0].related_information
    )


async def test_repeated_violation_is_one_error_and_hints(editor) -> None:
    rounds = 80
    text = "(switch-on hob kitchen)\n" + "(go kitchen hall)\n(go hall kitchen)\n" * rounds + "(go kitchen hall)\n"
    diagnostics = await editor.change("tea.plan", text)
    assert codes(diagnostics) == ["SC201"] * (rounds + 1)
    first, *later = diagnostics
    assert first.severity is types.DiagnosticSeverity.Error
    assert {d.severity for d in later} == {types.DiagnosticSeverity.Hint}
    assert f"\nand {rounds} more, at steps 4, 6, 8, 10, 12, .. {2 * rounds + 2}" in first.message
    assert [d.range.start.line for d in diagnostics] == list(range(1, 2 * rounds + 2, 2))
    related = [info.message for info in first.related_information]
    assert len(related) == 12
    assert "rule `stove-off-before-leaving` is violated at step 4: a stove is on in kitchen" in related
    assert not any([d.related_information or "\n" in d.message for d in later])
    last = editor.place("tea.plan", "(go kitchen", rounds)
    params = types.CodeActionParams(editor.document("tea.plan"), types.Range(last, last), types.CodeActionContext([]))
    titles = [a.title for a in await editor.client.text_document_code_action_async(params)]
    assert titles == ["Apply the nearest safe plan"]


async def test_repeated_misspelling_has_a_quick_fix_at_each_place(editor) -> None:
    diagnostics = await editor.change("tea.plan", "(swich-on hob kitchen)\n" * 3 + "(go kitchen hal)\n")
    severities = types.DiagnosticSeverity
    assert [(d.code, d.severity) for d in diagnostics] == [
        ("SC401", severities.Error),
        ("SC401", severities.Hint),
        ("SC401", severities.Hint),
        ("SC403", severities.Error),
    ]
    assert "and 2 more, at steps 2-3" in diagnostics[0].message
    place = editor.place("tea.plan", "swich", 2)
    params = types.CodeActionParams(editor.document("tea.plan"), types.Range(place, place), types.CodeActionContext([]))
    actions = await editor.client.text_document_code_action_async(params)
    (action,) = [a for a in actions if a.title == "Write `switch-on`"]
    assert apply_edit(editor, "tea.plan", action.edit).splitlines()[2] == "(switch-on hob kitchen)"


async def test_changed_rule_is_applied_to_the_open_plan(editor) -> None:
    unsafe = "(switch-on hob kitchen)\n(go kitchen hall)\n"
    assert codes(await editor.change("tea.plan", unsafe)) == ["SC201"]
    assert await editor.open("kitchen.safe") == []
    rules = editor.texts["kitchen.safe"]
    gentle = rules.replace(":forbid (exists", ":forbid (not (exists").replace("(on ?s)))\n", "(on ?s))))\n")
    await editor.change("kitchen.safe", gentle)
    assert await editor.diagnostics("tea.plan") == []
    await editor.change("kitchen.safe", rules)
    assert codes(await editor.diagnostics("tea.plan")) == ["SC201"]


async def test_error_in_a_rule_is_shown_in_the_rule(editor) -> None:
    rules = editor.texts["kitchen.safe"]
    (diagnostic,) = await editor.change("kitchen.safe", rules.replace("(on ?s))", "(onn ?s))"))
    assert diagnostic.code == "SC102"
    assert diagnostic.range.start.line == 3
    (action,) = [a for a in await code_actions(editor, "kitchen.safe", "onn ?s") if a.title == "Write `on`"]
    assert apply_edit(editor, "kitchen.safe", action.edit) == rules
    await editor.change("kitchen.safe", rules)
    await editor.close("kitchen.safe")


async def test_errors_of_domain_and_problem_are_shown_in_their_files(editor) -> None:
    assert await editor.open("domain.pddl") == []
    domain = editor.texts["domain.pddl"]
    (diagnostic,) = await editor.change(
        "domain.pddl", domain.replace("(not (on ?s))) :effect (on ?s)", "(not (om ?s))) :effect (on ?s)")
    )
    assert (diagnostic.code, diagnostic.range.start.line) == ("SC102", 4)
    assert "domain.pddl" in (await editor.diagnostics("tea.plan"))[0].message
    await editor.change("domain.pddl", domain)
    assert await editor.open("problem.pddl") == []
    problem = editor.texts["problem.pddl"]
    (diagnostic,) = await editor.change("problem.pddl", problem.replace("(in hob kitchen)", "(in hob kitchn)"))
    assert diagnostic.code == "SC108"
    await editor.change("problem.pddl", problem)


async def test_script_is_checked_with_its_scene(editor) -> None:
    diagnostics = await editor.open("world/warm-milk.txt", language="safecheck-script")
    assert codes(diagnostics) == ["SC201", "SC203"]
    assert editor.texts["world/warm-milk.txt"].splitlines()[diagnostics[0].range.start.line].startswith("[WALK] <bed>")
    assert "stove_10 is on" in diagnostics[0].message


async def test_comments_of_another_extension_select_domain_and_problem(editor) -> None:
    assert await editor.open("named/named.plan") == []
    text = editor.texts["named/named.plan"]
    diagnostics = await editor.change("named/named.plan", text.replace(";;!problem: tea\n", ""))
    assert codes(diagnostics) == ["SC603"]
    await editor.close("named/named.plan")


async def test_error_in_the_project_file_is_reported_and_ignored(editor) -> None:
    file = editor.folder / "world" / "safecheck.toml"
    before = file.read_text()
    file.write_text(before + "colour = 3\n")
    editor.forget_diagnostics()
    change = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
    diagnostics = await editor.diagnostics("world/warm-milk.txt")
    assert "SC622" in codes(diagnostics)
    file.write_text(before)
    editor.forget_diagnostics()
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
    assert codes(await editor.diagnostics("world/warm-milk.txt")) == ["SC201", "SC203"]


async def test_only_the_last_of_several_keystrokes_is_checked(editor) -> None:
    editor.forget_diagnostics()
    for letters in ("(", "(g", "(go", "(go kitchen hall)\n"):
        editor.send_change("tea.plan", types.TextDocumentContentChangeWholeDocument(letters), letters)
    assert await editor.diagnostics("tea.plan") == []


# -- hover, hints, outline ---------------------------------------------------------------------------------------------


async def test_hover_on_a_step_shows_state_and_changes(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen hall)\n")
    text = await hover_text(editor, "tea.plan", "(switch-on")
    assert "**Step 1** of 2" in text
    assert text.index("It changes:") < text.index("Before it:")
    assert "`(robot-in kitchen)`" in text.partition("Before it:")[2]
    assert "`(on hob)`: F → T" in text
    assert "`(switch-on ?s - stove ?r - room)`" in text
    text = await hover_text(editor, "tea.plan", "hall")
    assert "`(robot-in kitchen)`: T → F" in text
    assert "`hall` is a `room`" in text
    assert "SC201" in text


async def test_hover_on_a_rule_shows_it_in_words(editor) -> None:
    await editor.open("kitchen.safe")
    text = await hover_text(editor, "kitchen.safe", "stove-off-before-leaving")
    assert "whenever" in text.lower()
    assert "`on ?s`" in text
    assert "Nobody sees a fire begin." in text


async def test_hover_on_a_name_shows_its_declaration(editor) -> None:
    assert "(on ?s - stove)" in await hover_text(editor, "kitchen.safe", "(on ?s)")
    assert ":action switch-off" in await hover_text(editor, "domain.pddl", "switch-off")
    assert "hob - stove" in await hover_text(editor, "problem.pddl", "(in hob", within=5)


async def test_inlay_hints_show_changed_facts(editor) -> None:
    file_range = types.Range(types.Position(0, 0), types.Position(9, 0))
    params = types.InlayHintParams(editor.document("tea.plan"), file_range)
    hints = await editor.client.text_document_inlay_hint_async(params)
    assert [hint.label for hint in hints] == ["+(on hob)", "+(robot-in hall) -(robot-in kitchen)"]
    assert hints[0].position == types.Position(0, len("(switch-on hob kitchen)"))
    second_line = types.Range(types.Position(1, 0), types.Position(1, 3))
    params = types.InlayHintParams(editor.document("tea.plan"), second_line)
    assert len(await editor.client.text_document_inlay_hint_async(params)) == 1


async def test_semantic_tokens_distinguish_kinds_of_names(editor) -> None:
    params = types.SemanticTokensParams(editor.document("tea.plan"))
    tokens = (await editor.client.text_document_semantic_tokens_full_async(params)).data
    legend = editor.client.legend.token_types
    assert [legend[tokens[i + 3]] for i in range(0, len(tokens), 5)] == ["function", "variable", "variable"] * 2
    assert list(tokens[:10]) == [0, 1, 9, legend.index("function"), 0, 0, 10, 3, legend.index("variable"), 0]
    params = types.SemanticTokensParams(editor.document("domain.pddl"))
    tokens = (await editor.client.text_document_semantic_tokens_full_async(params)).data
    kinds = {legend[tokens[i + 3]] for i in range(0, len(tokens), 5)}
    assert kinds == {"keyword", "namespace", "type", "property", "parameter", "function", "operator"}


async def outline(editor, name: str) -> list[types.DocumentSymbol]:
    params = types.DocumentSymbolParams(editor.document(name))
    return list(await editor.client.text_document_document_symbol_async(params))


def inside(outer: types.Range, inner: types.Range) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


async def test_outline_lists_declarations(editor) -> None:
    (domain,) = await outline(editor, "domain.pddl")
    assert (domain.name, domain.kind, domain.detail) == ("kitchen", types.SymbolKind.Namespace, "domain")
    symbols = domain.children
    assert [s.name for s in symbols if s.kind is types.SymbolKind.Function] == ["switch-on", "switch-off", "go"]
    assert [s.name for s in symbols if s.kind is types.SymbolKind.Property] == ["robot-in", "in", "on"]
    assert [s.name for s in symbols if s.kind is types.SymbolKind.Class] == ["room", "stove"]
    assert all(inside(domain.range, s.range) and inside(s.range, s.selection_range) for s in symbols)
    (go,) = [s for s in symbols if s.name == "go"]
    assert (go.range.start.line, go.range.end.line) == (7, 9)
    assert go.range.start.character == 2
    (rules,) = await outline(editor, "kitchen.safe")
    assert (rules.name, rules.detail, [s.name for s in rules.children]) == (
        "kitchen",
        "safety",
        ["stove-off-before-leaving"],
    )


async def test_outline_of_a_plan_groups_steps_by_comment(editor) -> None:
    text = "(switch-on hob kitchen)\n; leave\n; at once\n(switch-off hob\n  kitchen)\n(go kitchen hall)\n"
    text += "\n(go hall kitchen)\n"
    await editor.change("tea.plan", text)
    first, leave, last = await outline(editor, "tea.plan")
    assert (first.name, last.name) == ("1: (switch-on hob kitchen)", "4: (go hall kitchen)")
    assert [s.name for s in leave.children] == ["2: (switch-off hob kitchen)", "3: (go kitchen hall)"]
    assert (leave.name, leave.range.start.line, leave.range.end.line) == ("leave", 1, 5)
    assert all(inside(leave.range, s.range) for s in leave.children)
    steps = [s.name for s in await outline(editor, "world/warm-milk.txt")]
    assert steps[0] == "1: [WALK] <kitchen> (1.1)" or steps[0].startswith("1: [")


async def folds(editor, name: str) -> list[tuple[int, int]]:
    params = types.FoldingRangeParams(editor.document(name))
    return [(f.start_line, f.end_line) for f in await editor.client.text_document_folding_range_async(params)]


async def test_forms_and_plan_blocks_can_be_folded(editor) -> None:
    assert await folds(editor, "tea.plan") == [(1, 5)]
    assert await folds(editor, "domain.pddl") == [(0, 9), (3, 4), (5, 6), (7, 9)]
    text = editor.texts["domain.pddl"]
    await editor.change("domain.pddl", "; one\n; two\n(define (domain kitchen)\n  (:types room\n  )\n)\n; last")
    assert await folds(editor, "domain.pddl") == [(0, 1), (2, 4)]
    await editor.change("domain.pddl", text)


async def test_workspace_symbols_are_found_by_their_letters(editor) -> None:
    async def search(query: str) -> set[tuple[str, str]]:
        symbols = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(query))
        return {(s.name, s.location.uri.removeprefix(editor.folder.as_uri() + "/")) for s in symbols}

    assert {("switch-off", "domain.pddl"), ("switch-off", "named/d.pddl")} <= await search("SwOff")
    assert ("stove-off-before-leaving", "kitchen.safe") in await search("before")
    assert await search("nothing-has-this-name") == set()
    all_symbols = await search("")
    assert {"kitchen", "tea", "room", "robot-in", "go", "hob"} <= {name for name, _ in all_symbols}
    await editor.change("domain.pddl", editor.texts["domain.pddl"].replace(":action go", ":action stroll"))
    assert ("stroll", "domain.pddl") in await search("stroll")  # not saved
    await editor.change("domain.pddl", editor.texts["domain.pddl"].replace(":action stroll", ":action go"))


# -- completion --------------------------------------------------------------------------------------------------------


async def test_completion_lists_safe_steps_before_unsafe_ones(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(\n")
    items = await completions(editor, "tea.plan", types.Position(1, 1))
    labels = [item.label for item in sorted(items, key=lambda item: item.sort_text)]
    assert labels[:2] == ["switch-off hob kitchen)", "go kitchen hall)"]
    details = {item.label: item.detail for item in items}
    assert details["switch-off hob kitchen)"] == "executable here"
    assert details["go kitchen hall)"] == "breaks stove-off-before-leaving"
    assert "switch-on" in labels[2:]


async def test_completed_step_leaves_a_readable_plan(editor) -> None:
    items = await completions(editor, "tea.plan", types.Position(1, 1))
    (item,) = [item for item in items if item.label == "switch-off hob kitchen)"]
    edit = types.WorkspaceEdit({editor.uri("tea.plan"): [item.text_edit]})
    assert codes(await editor.change("tea.plan", apply_edit(editor, "tea.plan", edit))) == ["SC310"]


async def test_completed_arguments_have_the_right_type(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen )\n")
    items = await completions(editor, "tea.plan", types.Position(1, len("(go kitchen ")))
    labels = [item.label for item in sorted(items, key=lambda item: item.sort_text)]
    assert labels[0] == "go kitchen hall"
    assert set(labels[1:]) == {"kitchen", "hall"}
    await editor.change("tea.plan", "(switch-on \n")
    labels = [i.label for i in await completions(editor, "tea.plan", types.Position(0, len("(switch-on ")))]
    assert "hob" in labels
    assert "kitchen" not in labels


async def test_definitions_are_completed_by_section(editor) -> None:
    domain = editor.texts["domain.pddl"]
    text = domain.rstrip()[:-1] + "\n  (:\n  (:action look :parameters (?r - ) :precondition (rob) :effect ( ))\n"
    await editor.change("domain.pddl", text)

    async def labels(words: str, within: int) -> list[str]:
        return [
            i.label for i in await completions(editor, "domain.pddl", editor.place("domain.pddl", words, 0, within))
        ]

    assert ":action" in await labels("(:\n", 2)
    assert {"room", "stove"} <= set(await labels("(?r - )", 6))
    assert {"robot-in", "and"} <= set(await labels("(rob)", 4))
    await editor.change("domain.pddl", domain)


async def test_completed_steps_of_a_script_have_its_syntax(editor) -> None:
    name = "world/warm-milk.txt"
    text = editor.texts[name].rstrip().rpartition("\n")[0] + "\n["
    await editor.change(name, text)
    line = text.count("\n")
    items = await completions(editor, name, types.Position(line, 1))
    assert items
    assert all(item.text_edit.new_text.startswith("[") for item in items)
    edit = types.WorkspaceEdit({editor.uri(name): [items[0].text_edit]})
    assert "SC011" not in codes(await editor.change(name, apply_edit(editor, name, edit)))


# -- definitions, references-------------------------------------------------------------------------------------------


async def test_definitions_are_found_in_other_files(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen hall)\n")

    async def defined(name: str, words: str, within: int = 1) -> tuple[str, int]:
        place = editor.place(name, words, 0, within)
        location = await editor.client.text_document_definition_async(
            types.DefinitionParams(editor.document(name), place)
        )
        return location.uri.rpartition("/")[2], location.range.start.line

    assert await defined("tea.plan", "(switch-on") == ("domain.pddl", 3)
    assert await defined("tea.plan", "hob") == ("problem.pddl", 1)
    assert await defined("kitchen.safe", "(on ?s)", 2) == ("domain.pddl", 2)
    assert await defined("kitchen.safe", "(go ?from", 2) == ("domain.pddl", 7)
    assert await defined("problem.pddl", "(robot-in kitchen)", 2) == ("domain.pddl", 2)
    assert await defined("domain.pddl", "(in ?s ?r) (not", 5) == ("domain.pddl", 3)


async def test_references_are_found_only_in_files_of_the_domain(editor) -> None:
    place = editor.place("domain.pddl", "(on ?s - stove)", 0, 1)
    params = types.ReferenceParams(types.ReferenceContext(True), editor.document("domain.pddl"), place)
    references = await editor.client.text_document_references_async(params)
    assert {reference.uri.rpartition("/")[2] for reference in references} == {"domain.pddl", "kitchen.safe"}
    assert not any("/named/" in reference.uri for reference in references)
    assert len(references) == 6
    params.context.include_declaration = False
    assert len(await editor.client.text_document_references_async(params)) == 5
    place = editor.place("tea.plan", "hob", 0, 1)
    params = types.ReferenceParams(types.ReferenceContext(True), editor.document("tea.plan"), place)
    references = await editor.client.text_document_references_async(params)
    assert {reference.uri.rpartition("/")[2] for reference in references} == {"problem.pddl", "tea.plan", "other.plan"}


async def rename(editor, name: str, words: str, new: str, within: int = 1) -> types.WorkspaceEdit:
    params = types.RenameParams(editor.document(name), editor.place(name, words, 0, within), new)
    return await editor.client.text_document_rename_async(params)


async def test_rename_changes_all_uses(editor) -> None:
    edit = await rename(editor, "tea.plan", "(go kitchen", "walk")
    assert {uri.rpartition("/")[2]: len(e) for uri, e in edit.changes.items()} == {
        "domain.pddl": 1,
        "kitchen.safe": 1,
        "tea.plan": 1,
        "other.plan": 1,
    }
    edit = await rename(editor, "domain.pddl", "(on ?s - stove)", "burning")
    assert sum(len(e) for e in edit.changes.values()) == 6
    edit = await rename(editor, "problem.pddl", "hob - stove", "gas-ring")
    assert {uri.rpartition("/")[2] for uri in edit.changes} == {"problem.pddl", "tea.plan", "other.plan"}
    edit = await rename(editor, "domain.pddl", "?from ?to - room", "?here")
    assert len(edit.changes[editor.uri("domain.pddl")]) == 4


@pytest.mark.parametrize("new", ["in", "two words", "(", "", "and"])
async def test_rename_refuses_a_used_or_invalid_name(editor, new: str) -> None:
    with pytest.raises(JsonRpcException):
        await rename(editor, "domain.pddl", "(on ?s - stove)", new)


async def test_rename_refuses_a_shipped_name(editor) -> None:
    name = "shipped.plan"
    (editor.folder / "shipped").mkdir()
    name = "shipped/shipped.plan"
    (editor.folder / "shipped" / "p.pddl").write_text(
        "(define (problem p) (:domain household) (:objects robot - robot a b - room)"
        " (:init (present robot a) (passage a b) (handfree robot)) (:goal (present robot b)))"
    )
    await editor.open(name, "(go robot a b)\n")
    with pytest.raises(JsonRpcException, match="outside the workspace folder"):
        await rename(editor, name, "(go robot", "walk")
    await editor.close(name)


# -- scripts of a world ------------------------------------------------------------------------------------------------


SCRIPT = "world/warm-milk.txt"


async def open_script(editor) -> None:
    """Open the script, or set it back to the text of its file."""
    await editor.open(SCRIPT, (editor.folder / SCRIPT).read_text(encoding="utf-8"), "virtualhome")


async def definition(editor, name: str, words: str, within: int) -> tuple[str, str] | None:
    """The name of the file with the definition of ``words``, and the text that is defined there."""
    params = types.DefinitionParams(editor.document(name), editor.place(name, words, 0, within))
    place = await editor.client.text_document_definition_async(params)
    if place is None:
        return None
    path = Path(place.uri.removeprefix("file://"))
    line = path.read_text(encoding="utf-8").splitlines()[place.range.start.line]
    return path.name, line[place.range.start.character : place.range.end.character]


async def test_object_of_a_script_is_defined_in_the_scene(editor) -> None:
    await open_script(editor)
    assert await definition(editor, SCRIPT, "[WALK] <fridge>", 9) == ("home.json", '"id": 11')
    assert await definition(editor, SCRIPT, "(1.21) <cooking_pot>", 2) == ("home.json", '"id": 21')
    assert await definition(editor, SCRIPT, "Warm milk", 2) is None


async def test_action_of_a_script_is_defined_in_the_domain(editor) -> None:
    assert await definition(editor, SCRIPT, "[GRAB]", 2) == ("domain.pddl", "grab")
    assert await definition(editor, SCRIPT, "[PUTBACK]", 2) == ("domain.pddl", "putback")


async def test_references_to_an_object_are_found_in_all_scripts_of_its_scene(editor) -> None:
    place = editor.place(SCRIPT, "<fridge>", 0, 2)
    params = types.ReferenceParams(types.ReferenceContext(True), editor.document(SCRIPT), place)
    references = await editor.client.text_document_references_async(params)
    uses = Counter(reference.uri.rpartition("/")[2] for reference in references)
    assert uses == {"warm-milk.txt": 5, "home.json": 1, "again.txt": 2}
    params.context.include_declaration = False
    assert len(await editor.client.text_document_references_async(params)) == 7
    highlight = types.DocumentHighlightParams(editor.document(SCRIPT), place)
    assert len(await editor.client.text_document_document_highlight_async(highlight)) == 5


async def test_rename_refuses_names_of_scene_and_home_world(editor) -> None:
    with pytest.raises(JsonRpcException, match=r"object of home\.json"):
        await rename(editor, SCRIPT, "<fridge>", "icebox")
    with pytest.raises(JsonRpcException, match="action of the home world"):
        await rename(editor, SCRIPT, "[GRAB]", "take")
    params = types.PrepareRenameParams(editor.document(SCRIPT), editor.place(SCRIPT, "<fridge>", 0, 2))
    with pytest.raises(JsonRpcException, match=r"`fridge_11` is an object of home\.json"):
        await editor.client.text_document_prepare_rename_async(params)


async def test_hover_and_semantic_tokens_in_a_script(editor) -> None:
    assert "`fridge_11` is a `fridge`" in await hover_text(editor, SCRIPT, "[WALK] <fridge>", within=9)
    assert "`(open ?c - character ?x - object)`" in await hover_text(editor, SCRIPT, "[OPEN]", within=2)
    params = types.SemanticTokensParams(editor.document(SCRIPT))
    tokens = (await editor.client.text_document_semantic_tokens_full_async(params)).data
    legend = editor.client.legend.token_types
    assert [legend[tokens[i + 3]] for i in range(0, 20, 5)] == ["function", "variable", "function", "variable"]
    assert tokens[2] == len("WALK")
    await editor.close(SCRIPT)


# -- findings of the linter --------------------------------------------------------------------------------------------


async def test_useless_rule_is_reported_after_a_pause_in_typing(editor) -> None:
    rules = (editor.folder / "kitchen.safe").read_text(encoding="utf-8")
    idle = "(:termination no-hob :parameters (?s - stove) :forbid (and (on ?s) (not (on ?s))))"
    useless = f"{rules.rstrip()[:-1]}\n  {idle})\n"
    await editor.open("kitchen.safe")
    assert await editor.change("kitchen.safe", useless) == []
    (warning, *_) = [d for d in await editor.diagnostics_with("kitchen.safe", "SC750") if d.code == "SC750"]
    assert warning.severity is types.DiagnosticSeverity.Warning
    assert "`no-hob` can never be violated" in warning.message
    assert "PROVED" in warning.message
    assert warning.code_description.href.endswith("/explain/SC750.md")
    assert (
        editor.texts["kitchen.safe"].splitlines()[warning.range.start.line].strip().startswith("(:termination no-hob")
    )
    assert codes(await editor.change("kitchen.safe", rules)) == []
    await editor.close("kitchen.safe")


# -- code actions, formatting------------------------------------------------------------------------------------------


async def test_nearest_safe_plan_is_a_code_action(editor) -> None:
    await editor.change("tea.plan", "; tea\n(switch-on hob kitchen) ; hot\n(go kitchen hall)\n")
    (action,) = [a for a in await code_actions(editor, "tea.plan", "(go") if a.title == "Apply the nearest safe plan"]
    assert action.edit is None
    resolved = await editor.client.code_action_resolve_async(action)
    text = apply_edit(editor, "tea.plan", resolved.edit)
    assert text == "; tea\n(switch-on hob kitchen) ; hot\n(switch-off hob kitchen)\n(go kitchen hall)\n"


async def test_fix_all_applies_the_fix(editor) -> None:
    (action,) = await code_actions(editor, "tea.plan", "; tea", "source.fixAll")
    assert action.kind == "source.fixAll.safecheck"
    assert await editor.change("tea.plan", apply_edit(editor, "tea.plan", action.edit)) == []
    assert await code_actions(editor, "tea.plan", "; tea", "source.fixAll") == []


async def test_missing_step_has_a_quick_fix(editor) -> None:
    await editor.change("tea.plan", "(switch-off hob kitchen)\n(go kitchen hall)\n")
    (action,) = [a for a in await code_actions(editor, "tea.plan", "(switch-off") if a.title.startswith("Insert")]
    resolved = await editor.client.code_action_resolve_async(action)
    text = apply_edit(editor, "tea.plan", resolved.edit)
    assert text == "(switch-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n"


async def test_code_action_for_an_older_text_is_refused(editor) -> None:
    (action, *_) = [a for a in await code_actions(editor, "tea.plan", "(switch-off") if a.data]
    await editor.change("tea.plan", "(go hall kitchen)\n")
    with pytest.raises(JsonRpcException, match="changed since"):
        await editor.client.code_action_resolve_async(action)


async def test_cancelled_request_is_answered_as_cancelled(editor) -> None:
    protocol = editor.client.protocol
    editor.forget_diagnostics()
    long_plan = "(go kitchen hall)\n(go hall kitchen)\n" * 3000
    editor.send_change("tea.plan", types.TextDocumentContentChangeWholeDocument(long_plan), long_plan)
    params = types.HoverParams(editor.document("tea.plan"), types.Position(0, 1))
    protocol.send_request("textDocument/hover", params, msg_id="to-cancel")
    hover = protocol._request_futures["to-cancel"]
    protocol.notify("$/cancelRequest", types.CancelParams("to-cancel"))
    with pytest.raises(JsonRpcException, match="cancel"):
        await asyncio.wrap_future(hover)
    assert codes(await editor.change("tea.plan", "(go kitchen hall)\n")) == []


async def test_allow_comment_is_offered_if_the_project_file_permits_it(editor) -> None:
    assert codes(await editor.open("free/free.plan")) == ["SC201"]
    (action,) = [a for a in await code_actions(editor, "free/free.plan", "(go") if a.title.startswith("Allow")]
    text = apply_edit(editor, "free/free.plan", action.edit)
    assert text.endswith("(go kitchen hall) ; safecheck: allow stove-off-before-leaving -- (say why)\n")
    assert codes(await editor.change("free/free.plan", text)) == ["SC701"]  # no other rule has anything to say
    assert [a for a in await code_actions(editor, "tea.plan", "(go") if a.title.startswith("Allow")] == []
    await editor.close("free/free.plan")


async def test_editor_settings_override_the_project_file(editor) -> None:
    def configure(**settings: object) -> None:
        editor.forget_diagnostics()
        params = types.DidChangeConfigurationParams({"safecheck": settings})
        editor.client.workspace_did_change_configuration(params)

    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen hall)\n")
    configure(specifications=[], minSeverity="critical", judge="all", domain="nowhere.pddl")
    assert codes(await editor.diagnostics("tea.plan")) == ["SC601"]
    configure(minSeverity="worst")
    assert codes(await editor.diagnostics("tea.plan")) == ["SC607", "SC201"]
    configure(specifications=["kitchen.safe"], domain="", judge=None)
    assert codes(await editor.diagnostics("tea.plan")) == ["SC201"]


async def test_formatting_keeps_steps_and_comments(editor) -> None:
    await editor.change("tea.plan", "(go   kitchen\thall)(go hall kitchen) ; back\n\n\n(go kitchen hall)")
    options = types.FormattingOptions(2, True)
    params = types.DocumentFormattingParams(editor.document("tea.plan"), options)
    edits = await editor.client.text_document_formatting_async(params)
    text = apply_edit(editor, "tea.plan", types.WorkspaceEdit({editor.uri("tea.plan"): list(edits)}))
    assert text == "(go kitchen hall)\n(go hall kitchen)  ; back\n\n(go kitchen hall)\n"
    params = types.DocumentFormattingParams(editor.document("domain.pddl"), options)
    edits = await editor.client.text_document_formatting_async(params)
    text = apply_edit(editor, "domain.pddl", types.WorkspaceEdit({editor.uri("domain.pddl"): list(edits)}))
    assert "  (:action go\n    :parameters (?from ?to - room)\n" in text
    await editor.change("domain.pddl", text)
    assert list(await editor.client.text_document_formatting_async(params)) == []


async def test_closing_a_file_clears_its_diagnostics(editor) -> None:
    await editor.change("tea.plan", "(go hall kitchen)\n")
    await editor.close("tea.plan")
    while editor.client.published[-1].version is not None or editor.client.published[-1].uri != editor.uri("tea.plan"):
        await asyncio.sleep(0.005)
    assert list(editor.client.published[-1].diagnostics) == []
