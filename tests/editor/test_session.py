"""A session with a real client over standard input and output: what an editor shows while one types."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")


def codes(found: list[types.Diagnostic]) -> list[object]:
    return [d.code for d in found]


def markdown(found: types.Hover | None) -> str:
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def hovered(editor, name: str, words: str, skip: int = 0, within: int = 1) -> str:
    place = editor.place(name, words, skip, within)
    return markdown(await editor.client.text_document_hover_async(types.HoverParams(editor.document(name), place)))


async def completed(editor, name: str, place: types.Position) -> list[types.CompletionItem]:
    params = types.CompletionParams(editor.document(name), place)
    return list((await editor.client.text_document_completion_async(params)).items)


async def offered(editor, name: str, words: str, *only: str) -> list[types.CodeAction]:
    place = editor.place(name, words)
    context = types.CodeActionContext([], only=list(only) or None)
    params = types.CodeActionParams(editor.document(name), types.Range(place, place), context)
    return list(await editor.client.text_document_code_action_async(params) or [])


def applied(editor, name: str, edit: types.WorkspaceEdit) -> str:
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


# -- what is said while one types -------------------------------------------------------------------------------------


async def test_an_unsafe_plan_is_shown_at_its_step_with_rule_and_page(editor) -> None:
    (found,) = await editor.open("tea.plan")
    assert found.code == "SC201"
    assert (found.range.start.line, found.range.end.character) == (2, len("(go kitchen hall)"))
    assert found.severity is types.DiagnosticSeverity.Error
    assert found.source == "safecheck"
    assert "a stove is on in kitchen" in found.message
    assert "Nobody sees a fire begin." in found.message
    assert found.code_description.href.endswith("/explain/SC201.md")
    assert Path(found.code_description.href.removeprefix("file://")).read_text().startswith("# SC201")
    where = {info.location.uri.rpartition("/")[2]: info.message for info in found.related_information}
    assert set(where) == {"tea.plan", "kitchen.safe"}
    assert "becomes true here" in where["tea.plan"]


async def test_a_plan_that_is_mended_is_silent_though_nothing_was_saved(editor) -> None:
    place = types.Range(types.Position(2, 0), types.Position(2, 0))
    text = editor.texts["tea.plan"].replace("(go ", "(switch-off hob kitchen)\n(go ")
    assert await editor.edit("tea.plan", place, "(switch-off hob kitchen)\n", text) == []
    assert "switch-off" not in (editor.folder / "tea.plan").read_text()
    for _ in range(200):  # the verdict is told behind the diagnostics
        if editor.client.verdicts[-1].headline == "SAFE":
            break
        await asyncio.sleep(0.05)
    assert editor.client.verdicts[-1].headline == "SAFE"


async def test_a_word_that_is_wrong_is_shown_and_mended(editor) -> None:
    (found,) = await editor.change("tea.plan", "(swich-on hob kitchen)\n(go kitchen hall)\n")
    assert found.code == "SC401"
    assert "did you mean `switch-on`?" in found.message
    (action,) = [a for a in await offered(editor, "tea.plan", "swich") if a.title.startswith("Write")]
    assert applied(editor, "tea.plan", action.edit).startswith("(switch-on hob kitchen)")
    assert action.is_preferred


async def test_places_are_counted_in_units_of_utf_16(editor) -> None:
    text = "; \U0001f525 fire \U0001f525\n(swich-on hob kitchen) ; \U0001f525\n"
    found = await editor.change("tea.plan", text)
    assert codes(found)[0] == "SC401"
    text = "(switch-on \U0001f525 kitchen) (go kitchen hall)\n"
    (found, *_) = await editor.change("tea.plan", text)
    assert found.code == "SC403"
    assert (found.range.start.character, found.range.end.character) == (len("(switch-on "), len("(switch-on xx"))
    # a change behind the wide character, as an editor counts it
    at = len("(switch-on xx kitchen) (go kitchen ")
    place = types.Range(types.Position(0, at), types.Position(0, at + len("hall")))
    now = text.replace("hall", "hull")
    found = await editor.edit("tea.plan", place, "hull", now)
    assert codes(found) == ["SC403", "SC403"]
    assert found[1].range == place


async def test_what_is_being_written_is_no_crash(editor) -> None:
    assert codes(await editor.change("tea.plan", "(go kitchen")) == ["SC002"]
    assert codes(await editor.change("tea.plan", "")) == ["SC310"]
    assert codes(await editor.change("tea.plan", "(" * 5000)) != []
    assert codes(await editor.change("tea.plan", "(go\u2028kitchen hall)\n")) == []


async def test_a_step_that_cannot_be_taken_says_what_follows_from_it(editor) -> None:
    found = await editor.change("tea.plan", "(go hall kitchen)\n(switch-on hob kitchen)\n(go kitchen hall)\n")
    assert codes(found)[0] == "SC301"
    assert "robot-in hall" in found[0].message or any(
        "robot-in hall" in i.message for i in found[0].related_information
    )


async def test_a_rule_that_is_violated_many_times_is_one_error_and_hints(editor) -> None:
    rounds = 80
    text = "(switch-on hob kitchen)\n" + "(go kitchen hall)\n(go hall kitchen)\n" * rounds + "(go kitchen hall)\n"
    found = await editor.change("tea.plan", text)
    assert codes(found) == ["SC201"] * (rounds + 1)
    first, *later = found
    assert first.severity is types.DiagnosticSeverity.Error
    assert {d.severity for d in later} == {types.DiagnosticSeverity.Hint}
    assert f"\nand {rounds} more, at steps 4, 6, 8, 10, 12, .. {2 * rounds + 2}" in first.message
    assert [d.range.start.line for d in found] == list(range(1, 2 * rounds + 2, 2))
    related = [info.message for info in first.related_information]
    assert len(related) == 12
    assert "rule `stove-off-before-leaving` is violated at step 4: a stove is on in kitchen" in related
    assert not any([d.related_information or "\n" in d.message for d in later])
    last = editor.place("tea.plan", "(go kitchen", rounds)
    params = types.CodeActionParams(editor.document("tea.plan"), types.Range(last, last), types.CodeActionContext([]))
    titles = [a.title for a in await editor.client.text_document_code_action_async(params)]
    assert titles == ["Apply the nearest safe plan"]


async def test_a_word_that_is_wrong_many_times_is_mended_at_each_place(editor) -> None:
    found = await editor.change("tea.plan", "(swich-on hob kitchen)\n" * 3 + "(go kitchen hal)\n")
    severities = types.DiagnosticSeverity
    assert [(d.code, d.severity) for d in found] == [
        ("SC401", severities.Error),
        ("SC401", severities.Hint),
        ("SC401", severities.Hint),
        ("SC403", severities.Error),
    ]
    assert "and 2 more, at steps 2-3" in found[0].message
    place = editor.place("tea.plan", "swich", 2)
    params = types.CodeActionParams(editor.document("tea.plan"), types.Range(place, place), types.CodeActionContext([]))
    actions = await editor.client.text_document_code_action_async(params)
    (action,) = [a for a in actions if a.title == "Write `switch-on`"]
    assert applied(editor, "tea.plan", action.edit).splitlines()[2] == "(switch-on hob kitchen)"


async def test_a_rule_that_changes_is_applied_to_the_open_plan(editor) -> None:
    unsafe = "(switch-on hob kitchen)\n(go kitchen hall)\n"
    assert codes(await editor.change("tea.plan", unsafe)) == ["SC201"]
    assert await editor.open("kitchen.safe") == []
    rules = editor.texts["kitchen.safe"]
    gentle = rules.replace(":forbid (exists", ":forbid (not (exists").replace("(on ?s)))\n", "(on ?s))))\n")
    await editor.change("kitchen.safe", gentle)
    assert await editor.said("tea.plan") == []
    await editor.change("kitchen.safe", rules)
    assert codes(await editor.said("tea.plan")) == ["SC201"]


async def test_a_mistake_in_a_rule_is_shown_in_the_rule(editor) -> None:
    rules = editor.texts["kitchen.safe"]
    (found,) = await editor.change("kitchen.safe", rules.replace("(on ?s))", "(onn ?s))"))
    assert found.code == "SC102"
    assert found.range.start.line == 3
    (action,) = [a for a in await offered(editor, "kitchen.safe", "onn ?s") if a.title == "Write `on`"]
    assert applied(editor, "kitchen.safe", action.edit) == rules
    await editor.change("kitchen.safe", rules)
    await editor.close("kitchen.safe")


async def test_domain_and_problem_have_their_own_mistakes(editor) -> None:
    assert await editor.open("domain.pddl") == []
    domain = editor.texts["domain.pddl"]
    (found,) = await editor.change(
        "domain.pddl", domain.replace("(not (on ?s))) :effect (on ?s)", "(not (om ?s))) :effect (on ?s)")
    )
    assert (found.code, found.range.start.line) == ("SC102", 4)
    assert "domain.pddl" in (await editor.said("tea.plan"))[0].message
    await editor.change("domain.pddl", domain)
    assert await editor.open("problem.pddl") == []
    problem = editor.texts["problem.pddl"]
    (found,) = await editor.change("problem.pddl", problem.replace("(in hob kitchen)", "(in hob kitchn)"))
    assert found.code == "SC108"
    await editor.change("problem.pddl", problem)


async def test_a_script_of_a_world_is_judged_with_its_scene(editor) -> None:
    found = await editor.open("world/warm-milk.txt", language="safecheck-script")
    assert codes(found) == ["SC201", "SC203"]
    assert editor.texts["world/warm-milk.txt"].splitlines()[found[0].range.start.line].startswith("[WALK] <bed>")
    assert "stove_10 is on" in found[0].message


async def test_comments_of_another_extension_choose_domain_and_problem(editor) -> None:
    assert await editor.open("named/named.plan") == []
    text = editor.texts["named/named.plan"]
    found = await editor.change("named/named.plan", text.replace(";;!problem: tea\n", ""))
    assert codes(found) == ["SC603"]
    await editor.close("named/named.plan")


async def test_a_bad_project_file_is_said_and_passed_over(editor) -> None:
    file = editor.folder / "world" / "safecheck.toml"
    before = file.read_text()
    file.write_text(before + "colour = 3\n")
    editor.now()
    change = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
    found = await editor.said("world/warm-milk.txt")
    assert "SC622" in codes(found)
    file.write_text(before)
    editor.now()
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
    assert codes(await editor.said("world/warm-milk.txt")) == ["SC201", "SC203"]


async def test_of_several_keys_in_a_row_the_last_is_judged(editor) -> None:
    editor.now()
    for letters in ("(", "(g", "(go", "(go kitchen hall)\n"):
        editor.versions["tea.plan"] += 1
        editor.texts["tea.plan"] = letters
        version = types.VersionedTextDocumentIdentifier(version=editor.versions["tea.plan"], uri=editor.uri("tea.plan"))
        whole = [types.TextDocumentContentChangeWholeDocument(letters)]
        editor.client.text_document_did_change(types.DidChangeTextDocumentParams(version, whole))
    assert await editor.said("tea.plan") == []


# -- what is shown ----------------------------------------------------------------------------------------------------


async def test_a_step_shows_the_state_before_and_what_it_changes(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen hall)\n")
    said = await hovered(editor, "tea.plan", "(switch-on")
    assert "**Step 1** of 2" in said
    assert said.index("It changes:") < said.index("Before it:")
    assert "`(robot-in kitchen)`" in said.partition("Before it:")[2]
    assert "`(on hob)`: F → T" in said
    assert "`(switch-on ?s - stove ?r - room)`" in said
    said = await hovered(editor, "tea.plan", "hall")
    assert "`(robot-in kitchen)`: T → F" in said
    assert "`hall` is a `room`" in said
    assert "SC201" in said


async def test_a_rule_is_shown_in_words(editor) -> None:
    await editor.open("kitchen.safe")
    said = await hovered(editor, "kitchen.safe", "stove-off-before-leaving")
    assert "whenever" in said.lower()
    assert "`on ?s`" in said
    assert "Nobody sees a fire begin." in said


async def test_a_name_shows_its_declaration(editor) -> None:
    assert "(on ?s - stove)" in await hovered(editor, "kitchen.safe", "(on ?s)")
    assert ":action switch-off" in await hovered(editor, "domain.pddl", "switch-off")
    assert "hob - stove" in await hovered(editor, "problem.pddl", "(in hob", within=5)


async def test_hints_say_what_changed(editor) -> None:
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    params = types.InlayHintParams(editor.document("tea.plan"), whole)
    found = await editor.client.text_document_inlay_hint_async(params)
    assert [hint.label for hint in found] == ["+(on hob)", "+(robot-in hall) -(robot-in kitchen)"]
    assert found[0].position == types.Position(0, len("(switch-on hob kitchen)"))
    part = types.Range(types.Position(1, 0), types.Position(1, 3))
    assert (
        len(
            await editor.client.text_document_inlay_hint_async(types.InlayHintParams(editor.document("tea.plan"), part))
        )
        == 1
    )


async def test_words_are_coloured_by_what_they_are(editor) -> None:
    params = types.SemanticTokensParams(editor.document("tea.plan"))
    data = (await editor.client.text_document_semantic_tokens_full_async(params)).data
    legend = editor.client.legend.token_types
    assert [legend[data[i + 3]] for i in range(0, len(data), 5)] == ["function", "variable", "variable"] * 2
    assert list(data[:10]) == [0, 1, 9, legend.index("function"), 0, 0, 10, 3, legend.index("variable"), 0]
    params = types.SemanticTokensParams(editor.document("domain.pddl"))
    data = (await editor.client.text_document_semantic_tokens_full_async(params)).data
    kinds = {legend[data[i + 3]] for i in range(0, len(data), 5)}
    assert kinds == {"keyword", "namespace", "type", "property", "parameter", "function", "operator"}


async def outline(editor, name: str) -> list[types.DocumentSymbol]:
    params = types.DocumentSymbolParams(editor.document(name))
    return list(await editor.client.text_document_document_symbol_async(params))


def inside(outer: types.Range, inner: types.Range) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


async def test_an_outline_has_what_is_declared(editor) -> None:
    (domain,) = await outline(editor, "domain.pddl")
    assert (domain.name, domain.kind, domain.detail) == ("kitchen", types.SymbolKind.Namespace, "domain")
    found = domain.children
    assert [s.name for s in found if s.kind is types.SymbolKind.Function] == ["switch-on", "switch-off", "go"]
    assert [s.name for s in found if s.kind is types.SymbolKind.Property] == ["robot-in", "in", "on"]
    assert [s.name for s in found if s.kind is types.SymbolKind.Class] == ["room", "stove"]
    assert all(inside(domain.range, s.range) and inside(s.range, s.selection_range) for s in found)
    (go,) = [s for s in found if s.name == "go"]
    assert (go.range.start.line, go.range.end.line) == (7, 9)
    assert go.range.start.character == 2
    (rules,) = await outline(editor, "kitchen.safe")
    assert (rules.name, rules.detail, [s.name for s in rules.children]) == (
        "kitchen",
        "safety",
        ["stove-off-before-leaving"],
    )


async def test_an_outline_of_a_plan_has_its_steps_below_their_comments(editor) -> None:
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


async def folded(editor, name: str) -> list[tuple[int, int]]:
    params = types.FoldingRangeParams(editor.document(name))
    return [(f.start_line, f.end_line) for f in await editor.client.text_document_folding_range_async(params)]


async def test_forms_and_blocks_of_a_plan_can_be_folded(editor) -> None:
    assert await folded(editor, "tea.plan") == [(1, 5)]
    assert await folded(editor, "domain.pddl") == [(0, 9), (3, 4), (5, 6), (7, 9)]
    text = editor.texts["domain.pddl"]
    await editor.change("domain.pddl", "; one\n; two\n(define (domain kitchen)\n  (:types room\n  )\n)\n; last")
    assert await folded(editor, "domain.pddl") == [(0, 1), (2, 4)]
    await editor.change("domain.pddl", text)


async def test_symbols_of_the_workspace_are_found_by_their_letters(editor) -> None:
    async def found(query: str) -> set[tuple[str, str]]:
        symbols = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(query))
        return {(s.name, s.location.uri.removeprefix(editor.folder.as_uri() + "/")) for s in symbols}

    assert {("switch-off", "domain.pddl"), ("switch-off", "named/d.pddl")} <= await found("SwOff")
    assert ("stove-off-before-leaving", "kitchen.safe") in await found("before")
    assert await found("nothing-has-this-name") == set()
    everything = await found("")
    assert {"kitchen", "tea", "room", "robot-in", "go", "hob"} <= {name for name, _ in everything}
    await editor.change("domain.pddl", editor.texts["domain.pddl"].replace(":action go", ":action stroll"))
    assert ("stroll", "domain.pddl") in await found("stroll")  # not saved
    await editor.change("domain.pddl", editor.texts["domain.pddl"].replace(":action stroll", ":action go"))


# -- what can be written ----------------------------------------------------------------------------------------------


async def test_legal_steps_come_first_and_those_that_break_a_rule_behind(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(\n")
    found = await completed(editor, "tea.plan", types.Position(1, 1))
    labels = [item.label for item in sorted(found, key=lambda item: item.sort_text)]
    assert labels[:2] == ["switch-off hob kitchen)", "go kitchen hall)"]
    details = {item.label: item.detail for item in found}
    assert details["switch-off hob kitchen)"] == "executable here"
    assert details["go kitchen hall)"] == "breaks stove-off-before-leaving"
    assert "switch-on" in labels[2:]


async def test_a_chosen_step_leaves_a_plan_that_can_be_read(editor) -> None:
    found = await completed(editor, "tea.plan", types.Position(1, 1))
    (item,) = [item for item in found if item.label == "switch-off hob kitchen)"]
    edit = types.WorkspaceEdit({editor.uri("tea.plan"): [item.text_edit]})
    assert codes(await editor.change("tea.plan", applied(editor, "tea.plan", edit))) == ["SC310"]


async def test_arguments_are_of_the_right_type(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen )\n")
    found = await completed(editor, "tea.plan", types.Position(1, len("(go kitchen ")))
    labels = [item.label for item in sorted(found, key=lambda item: item.sort_text)]
    assert labels[0] == "go kitchen hall"
    assert set(labels[1:]) == {"kitchen", "hall"}
    await editor.change("tea.plan", "(switch-on \n")
    found = await completed(editor, "tea.plan", types.Position(0, len("(switch-on ")))
    assert "hob" in [item.label for item in found]
    assert "kitchen" not in [item.label for item in found]


async def test_definitions_are_completed_by_section(editor) -> None:
    domain = editor.texts["domain.pddl"]
    text = domain.rstrip()[:-1] + "\n  (:\n  (:action look :parameters (?r - ) :precondition (rob) :effect ( ))\n"
    await editor.change("domain.pddl", text)

    async def labels(words: str, within: int) -> list[str]:
        return [i.label for i in await completed(editor, "domain.pddl", editor.place("domain.pddl", words, 0, within))]

    assert ":action" in await labels("(:\n", 2)
    assert {"room", "stove"} <= set(await labels("(?r - )", 6))
    assert {"robot-in", "and"} <= set(await labels("(rob)", 4))
    await editor.change("domain.pddl", domain)


async def test_steps_of_a_world_are_written_in_its_form(editor) -> None:
    name = "world/warm-milk.txt"
    text = editor.texts[name].rstrip().rpartition("\n")[0] + "\n["
    await editor.change(name, text)
    line = text.count("\n")
    found = await completed(editor, name, types.Position(line, 1))
    assert found
    assert all(item.text_edit.new_text.startswith("[") for item in found)
    edit = types.WorkspaceEdit({editor.uri(name): [found[0].text_edit]})
    assert "SC011" not in codes(await editor.change(name, applied(editor, name, edit)))


# -- where names are --------------------------------------------------------------------------------------------------


async def test_definitions_are_found_in_other_files(editor) -> None:
    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen hall)\n")

    async def defined(name: str, words: str, within: int = 1) -> tuple[str, int]:
        place = editor.place(name, words, 0, within)
        found = await editor.client.text_document_definition_async(types.DefinitionParams(editor.document(name), place))
        return found.uri.rpartition("/")[2], found.range.start.line

    assert await defined("tea.plan", "(switch-on") == ("domain.pddl", 3)
    assert await defined("tea.plan", "hob") == ("problem.pddl", 1)
    assert await defined("kitchen.safe", "(on ?s)", 2) == ("domain.pddl", 2)
    assert await defined("kitchen.safe", "(go ?from", 2) == ("domain.pddl", 7)
    assert await defined("problem.pddl", "(robot-in kitchen)", 2) == ("domain.pddl", 2)
    assert await defined("domain.pddl", "(in ?s ?r) (not", 5) == ("domain.pddl", 3)


async def test_references_are_found_in_all_files_of_the_domain_and_no_other(editor) -> None:
    place = editor.place("domain.pddl", "(on ?s - stove)", 0, 1)
    params = types.ReferenceParams(types.ReferenceContext(True), editor.document("domain.pddl"), place)
    found = await editor.client.text_document_references_async(params)
    assert {f.uri.rpartition("/")[2] for f in found} == {"domain.pddl", "kitchen.safe"}
    assert not any("/named/" in f.uri for f in found)
    assert len(found) == 6
    params.context.include_declaration = False
    assert len(await editor.client.text_document_references_async(params)) == 5
    place = editor.place("tea.plan", "hob", 0, 1)
    params = types.ReferenceParams(types.ReferenceContext(True), editor.document("tea.plan"), place)
    found = await editor.client.text_document_references_async(params)
    assert {f.uri.rpartition("/")[2] for f in found} == {"problem.pddl", "tea.plan", "other.plan"}


async def renamed(editor, name: str, words: str, new: str, within: int = 1) -> types.WorkspaceEdit:
    params = types.RenameParams(editor.document(name), editor.place(name, words, 0, within), new)
    return await editor.client.text_document_rename_async(params)


async def test_an_action_a_predicate_and_an_object_get_new_names_everywhere(editor) -> None:
    edit = await renamed(editor, "tea.plan", "(go kitchen", "walk")
    assert {uri.rpartition("/")[2]: len(e) for uri, e in edit.changes.items()} == {
        "domain.pddl": 1,
        "kitchen.safe": 1,
        "tea.plan": 1,
        "other.plan": 1,
    }
    edit = await renamed(editor, "domain.pddl", "(on ?s - stove)", "burning")
    assert sum(len(e) for e in edit.changes.values()) == 6
    edit = await renamed(editor, "problem.pddl", "hob - stove", "gas-ring")
    assert {uri.rpartition("/")[2] for uri in edit.changes} == {"problem.pddl", "tea.plan", "other.plan"}
    edit = await renamed(editor, "domain.pddl", "?from ?to - room", "?here")
    assert len(edit.changes[editor.uri("domain.pddl")]) == 4


@pytest.mark.parametrize("new", ["in", "two words", "(", "", "and"])
async def test_a_name_that_is_taken_or_none_is_refused(editor, new: str) -> None:
    with pytest.raises(JsonRpcException):
        await renamed(editor, "domain.pddl", "(on ?s - stove)", new)


async def test_a_shipped_name_is_not_changed(editor) -> None:
    name = "shipped.plan"
    (editor.folder / "shipped").mkdir()
    name = "shipped/shipped.plan"
    (editor.folder / "shipped" / "p.pddl").write_text(
        "(define (problem p) (:domain household) (:objects robot - robot a b - room)"
        " (:init (present robot a) (passage a b) (handfree robot)) (:goal (present robot b)))"
    )
    await editor.open(name, "(go robot a b)\n")
    with pytest.raises(JsonRpcException, match="outside the workspace folder"):
        await renamed(editor, name, "(go robot", "walk")
    await editor.close(name)


# -- scripts of a world ------------------------------------------------------------------------------------------------


SCRIPT = "world/warm-milk.txt"


async def of_script(editor) -> None:
    """The script as it is on the disk."""
    await editor.open(SCRIPT, (editor.folder / SCRIPT).read_text(encoding="utf-8"), "virtualhome")


async def led(editor, name: str, words: str, within: int) -> tuple[str, str] | None:
    """The file that a definition leads to, and the words there."""
    params = types.DefinitionParams(editor.document(name), editor.place(name, words, 0, within))
    place = await editor.client.text_document_definition_async(params)
    if place is None:
        return None
    path = Path(place.uri.removeprefix("file://"))
    line = path.read_text(encoding="utf-8").splitlines()[place.range.start.line]
    return path.name, line[place.range.start.character : place.range.end.character]


async def test_an_object_of_a_script_is_found_in_the_scene(editor) -> None:
    await of_script(editor)
    assert await led(editor, SCRIPT, "[WALK] <fridge>", 9) == ("home.json", '"id": 11')
    assert await led(editor, SCRIPT, "(1.21) <cooking_pot>", 2) == ("home.json", '"id": 21')
    assert await led(editor, SCRIPT, "Warm milk", 2) is None


async def test_an_action_of_a_script_is_found_in_the_domain_of_the_world(editor) -> None:
    assert await led(editor, SCRIPT, "[GRAB]", 2) == ("domain.pddl", "grab")
    assert await led(editor, SCRIPT, "[PUTBACK]", 2) == ("domain.pddl", "putback")


async def test_uses_of_an_object_are_found_in_all_scripts_about_its_scene(editor) -> None:
    place = editor.place(SCRIPT, "<fridge>", 0, 2)
    params = types.ReferenceParams(types.ReferenceContext(True), editor.document(SCRIPT), place)
    found = await editor.client.text_document_references_async(params)
    count = {uri.rpartition("/")[2]: [f.uri for f in found].count(uri) for uri in {f.uri for f in found}}
    assert count == {"warm-milk.txt": 5, "home.json": 1, "again.txt": 2}
    params.context.include_declaration = False
    assert len(await editor.client.text_document_references_async(params)) == 7
    lit = types.DocumentHighlightParams(editor.document(SCRIPT), place)
    assert len(await editor.client.text_document_document_highlight_async(lit)) == 5


async def test_names_of_a_script_are_those_of_the_scene_and_get_no_other(editor) -> None:
    with pytest.raises(JsonRpcException, match=r"object of home\.json"):
        await renamed(editor, SCRIPT, "<fridge>", "icebox")
    with pytest.raises(JsonRpcException, match="action of the home world"):
        await renamed(editor, SCRIPT, "[GRAB]", "take")
    params = types.PrepareRenameParams(editor.document(SCRIPT), editor.place(SCRIPT, "<fridge>", 0, 2))
    with pytest.raises(JsonRpcException, match=r"`fridge_11` is an object of home\.json"):
        await editor.client.text_document_prepare_rename_async(params)


async def test_words_of_a_script_are_shown_and_coloured_as_what_they_are(editor) -> None:
    assert "`fridge_11` is a `fridge`" in await hovered(editor, SCRIPT, "[WALK] <fridge>", within=9)
    assert "`(open ?c - character ?x - object)`" in await hovered(editor, SCRIPT, "[OPEN]", within=2)
    params = types.SemanticTokensParams(editor.document(SCRIPT))
    data = (await editor.client.text_document_semantic_tokens_full_async(params)).data
    legend = editor.client.legend.token_types
    assert [legend[data[i + 3]] for i in range(0, 20, 5)] == ["function", "variable", "function", "variable"]
    assert data[2] == len("WALK")
    await editor.close(SCRIPT)


# -- what the linter says ----------------------------------------------------------------------------------------------


async def test_a_rule_that_adds_nothing_is_told_once_typing_rests(editor) -> None:
    rules = (editor.folder / "kitchen.safe").read_text(encoding="utf-8")
    idle = "(:termination no-hob :parameters (?s - stove) :forbid (and (on ?s) (not (on ?s))))"
    useless = f"{rules.rstrip()[:-1]}\n  {idle})\n"
    await editor.open("kitchen.safe")
    assert await editor.change("kitchen.safe", useless) == []
    (found, *_) = [d for d in await editor.said_with("kitchen.safe", "SC750") if d.code == "SC750"]
    assert found.severity is types.DiagnosticSeverity.Warning
    assert "`no-hob` can never be violated" in found.message
    assert "PROVED" in found.message
    assert found.code_description.href.endswith("/explain/SC750.md")
    assert editor.texts["kitchen.safe"].splitlines()[found.range.start.line].strip().startswith("(:termination no-hob")
    assert codes(await editor.change("kitchen.safe", rules)) == []
    await editor.close("kitchen.safe")


# -- what can be changed ----------------------------------------------------------------------------------------------


async def test_the_nearest_safe_plan_is_applied(editor) -> None:
    await editor.change("tea.plan", "; tea\n(switch-on hob kitchen) ; hot\n(go kitchen hall)\n")
    (action,) = [a for a in await offered(editor, "tea.plan", "(go") if a.title == "Apply the nearest safe plan"]
    assert action.edit is None
    done = await editor.client.code_action_resolve_async(action)
    text = applied(editor, "tea.plan", done.edit)
    assert text == "; tea\n(switch-on hob kitchen) ; hot\n(switch-off hob kitchen)\n(go kitchen hall)\n"


async def test_fix_all_is_for_saving(editor) -> None:
    (action,) = await offered(editor, "tea.plan", "; tea", "source.fixAll")
    assert action.kind == "source.fixAll.safecheck"
    assert await editor.change("tea.plan", applied(editor, "tea.plan", action.edit)) == []
    assert await offered(editor, "tea.plan", "; tea", "source.fixAll") == []


async def test_a_missing_step_is_inserted(editor) -> None:
    await editor.change("tea.plan", "(switch-off hob kitchen)\n(go kitchen hall)\n")
    (action,) = [a for a in await offered(editor, "tea.plan", "(switch-off") if a.title.startswith("Insert")]
    done = await editor.client.code_action_resolve_async(action)
    text = applied(editor, "tea.plan", done.edit)
    assert text == "(switch-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n"


async def test_an_offer_for_an_older_text_is_refused(editor) -> None:
    (action, *_) = [a for a in await offered(editor, "tea.plan", "(switch-off") if a.data]
    await editor.change("tea.plan", "(go hall kitchen)\n")
    with pytest.raises(JsonRpcException, match="changed since"):
        await editor.client.code_action_resolve_async(action)


async def test_a_request_that_is_cancelled_is_answered_as_such(editor) -> None:
    protocol = editor.client.protocol
    editor.now()
    editor.versions["tea.plan"] += 1
    editor.texts["tea.plan"] = "(go kitchen hall)\n(go hall kitchen)\n" * 3000
    version = types.VersionedTextDocumentIdentifier(version=editor.versions["tea.plan"], uri=editor.uri("tea.plan"))
    whole = [types.TextDocumentContentChangeWholeDocument(editor.texts["tea.plan"])]
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(version, whole))
    params = types.HoverParams(editor.document("tea.plan"), types.Position(0, 1))
    protocol.send_request("textDocument/hover", params, msg_id="to-cancel")
    waiting = protocol._request_futures["to-cancel"]
    protocol.notify("$/cancelRequest", types.CancelParams("to-cancel"))
    with pytest.raises(JsonRpcException, match="cancel"):
        await asyncio.wrap_future(waiting)
    assert codes(await editor.change("tea.plan", "(go kitchen hall)\n")) == []


async def test_a_rule_is_allowed_by_a_comment_where_the_project_file_lets_plans_say_so(editor) -> None:
    assert codes(await editor.open("free/free.plan")) == ["SC201"]
    (action,) = [a for a in await offered(editor, "free/free.plan", "(go") if a.title.startswith("Allow")]
    text = applied(editor, "free/free.plan", action.edit)
    assert text.endswith("(go kitchen hall) ; safecheck: allow stove-off-before-leaving -- (say why)\n")
    assert codes(await editor.change("free/free.plan", text)) == ["SC701"]  # no other rule has anything to say
    assert [a for a in await offered(editor, "tea.plan", "(go") if a.title.startswith("Allow")] == []
    await editor.close("free/free.plan")


async def test_what_the_editor_is_told_wins_over_the_project_file(editor) -> None:
    def told(**settings: object) -> None:
        editor.now()
        params = types.DidChangeConfigurationParams({"safecheck": settings})
        editor.client.workspace_did_change_configuration(params)

    await editor.change("tea.plan", "(switch-on hob kitchen)\n(go kitchen hall)\n")
    told(specifications=[], minSeverity="critical", judge="all", domain="nowhere.pddl")
    assert codes(await editor.said("tea.plan")) == ["SC601"]
    told(minSeverity="worst")
    assert codes(await editor.said("tea.plan")) == ["SC607", "SC201"]
    told(specifications=["kitchen.safe"], domain="", judge=None)
    assert codes(await editor.said("tea.plan")) == ["SC201"]


async def test_layout_keeps_words_and_comments(editor) -> None:
    await editor.change("tea.plan", "(go   kitchen\thall)(go hall kitchen) ; back\n\n\n(go kitchen hall)")
    options = types.FormattingOptions(2, True)
    params = types.DocumentFormattingParams(editor.document("tea.plan"), options)
    found = await editor.client.text_document_formatting_async(params)
    text = applied(editor, "tea.plan", types.WorkspaceEdit({editor.uri("tea.plan"): list(found)}))
    assert text == "(go kitchen hall)\n(go hall kitchen)  ; back\n\n(go kitchen hall)\n"
    params = types.DocumentFormattingParams(editor.document("domain.pddl"), options)
    found = await editor.client.text_document_formatting_async(params)
    text = applied(editor, "domain.pddl", types.WorkspaceEdit({editor.uri("domain.pddl"): list(found)}))
    assert "  (:action go\n    :parameters (?from ?to - room)\n" in text
    await editor.change("domain.pddl", text)
    assert list(await editor.client.text_document_formatting_async(params)) == []


async def test_a_closed_file_has_nothing_said_of_it(editor) -> None:
    await editor.change("tea.plan", "(go hall kitchen)\n")
    await editor.close("tea.plan")
    while editor.client.published[-1].version is not None or editor.client.published[-1].uri != editor.uri("tea.plan"):
        await asyncio.sleep(0.005)
    assert list(editor.client.published[-1].diagnostics) == []
