"""Completion: in a plan, the executable steps with safe steps first; elsewhere, keywords and declared names."""

from __future__ import annotations

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import clean
from plansafe.app.interfaces.editor.name_mentions import RULES, NameKind, find_mentions
from plansafe.app.interfaces.editor.source_tree import enclosing_forms, parse_tree
from plansafe.app.interfaces.editor.state_trace import LIMITS, StateTrace
from plansafe.app.interfaces.editor.symbols import Symbols
from plansafe.app.interfaces.editor.workspace import PLANS, Analysis, FolderSession
from plansafe.app.project.file_kinds import heading
from plansafe.app.session.model import Prepared
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import step_text

MAX_ITEMS = 300
_SECTIONS = {
    "domain": ":requirements :types :constants :predicates :functions :derived :action :durative-action :constraints",
    "problem": ":domain :objects :init :goal :constraints :metric",
    "safety": ":domain :extends :vocabulary :define :template :apply :disable :open :invariant"
    " :process :trajectory :termination :obligation",
    "mapping": ":specification :domain :extends :kinds :groups :types :predicates :functions :actions :constants :plain"
    " :objects :proposed :without",
    "plan": ":domain :problem :steps :ordering",
}
_FIELDS = {
    ":action": ":parameters :precondition :effect",
    ":durative-action": ":parameters :duration :condition :effect",
    ":process": ":parameters :on :at-end :during :when :forbid :require :forbid-after :require-after",
    ":trajectory": ":parameters :formula",
    ":termination": ":parameters :when :forbid :require",
    ":obligation": ":parameters :when :then :within",
}
_RULE_FIELDS = ":hazard :target :severity :message :rationale :source :fix"
_OPERATORS = "and or not imply exists forall when"
_TEMPORAL_OPERATORS = (
    "always sometime once historically since until yesterday next at-most-once sometime-after sometime-before"
)


def complete(folder: FolderSession, analysis: Analysis, symbols: Symbols, offset: int) -> types.CompletionList:
    """Return the completions at an offset."""
    if analysis.kind in PLANS:
        return _in_plan(folder, analysis, offset)
    return types.CompletionList(False, _in_definition(analysis, symbols, offset))


def _in_plan(folder: FolderSession, analysis: Analysis, offset: int) -> types.CompletionList:
    text = analysis.text
    forms = enclosing_forms(parse_tree(text.source), offset)
    form = forms[-1] if forms and forms[-1].head[:1] != ":" and forms[-1].head != "define" else None
    is_script = folder.effective.settings.world is not None
    if is_script:  # a script with an incomplete step cannot be read
        line = text.source.position(offset)[0]
        start = text.source.line_starts[line - 1]
        cut = Span(start, start + len(text.source.line(line)))
    else:
        cut = form.span if form is not None else Span(offset, offset)
    without_step = text.text[: cut.start] + " " * (cut.end - cut.start) + text.text[cut.end :]
    prepared = folder.session.prepare(Source(text.path, without_step))
    if not isinstance(prepared, Prepared):
        return types.CompletionList(False, [])
    trace = StateTrace(prepared)
    number = len([span for span in trace.places if span.end <= cut.start])
    execution = trace.before(number)
    items: list[types.CompletionItem] = []
    closed = form is not None and text.text[form.span.end - 1] == ")" and form.span.end > offset
    inner = cut
    if form is not None and not is_script:
        inner = Span(form.span.start + 1, form.span.end - 1 if closed else max(form.span.end, offset))
        inner = _clip_to_line(text, inner, offset)
    typed = text.text[inner.start : offset].lower().split()
    is_incomplete = False
    if execution is not None:
        items, is_incomplete = _legal_steps(
            execution, prepared, text, inner, typed, is_script or form is None, closed or is_script
        )
    if form is not None and not is_script:
        items += _step_words(prepared, text, typed, offset)
    return types.CompletionList(is_incomplete, items)


def _clip_to_line(text: Text, span: Span, offset: int) -> Span:
    """Restrict a span to the line of the cursor; editors can only replace text on that line."""
    line = text.source.position(offset)[0]
    start = text.source.line_starts[line - 1]
    return Span(max(span.start, start), min(span.end, start + len(text.source.line(line))))


def _legal_steps(
    execution: Execution, prepared: Prepared, text: Text, place: Span, typed: list[str], whole_step: bool, closed: bool
) -> tuple[list[types.CompletionItem], bool]:
    """Return the legal steps of a state and whether more exist; steps that violate rules come last and name them."""
    engine, objects = execution.engine, execution.engine.task.objects
    names = [typed[0]] if typed and typed[0] in engine.task.actions else []
    try:
        options = execution.options(*names)
    except LIMITS:
        return [], False
    parts, rules = engine.rule_set.parts, prepared.checker.rules
    items = []
    for option in options:
        step = step_text(option.step, objects)
        if prepared.write is None and not whole_step:
            words = step[1:-1].split()
            if words[: max(len(typed) - 1, 0)] != typed[: max(len(typed) - 1, 0)]:
                continue
            step = step[1:-1] + ("" if closed else ")")
        elif prepared.write is not None:
            step = prepared.write.step(tuple(step[1:-1].split()))
        broken = list(dict.fromkeys([rules[parts[b.part].rule].name for b in option.broken]))
        items.append(
            types.CompletionItem(
                clean(step),
                kind=types.CompletionItemKind.Event,
                detail=clean(f"breaks {', '.join(broken)}") if broken else "executable here",
                sort_text=("1" if broken else "0") + step,
                filter_text=clean(step),
                text_edit=types.TextEdit(text.range(place), clean(step)),
            )
        )
    items.sort(key=lambda item: item.sort_text or "")
    return items[:MAX_ITEMS], len(items) > MAX_ITEMS


def _step_words(prepared: Prepared, text: Text, typed: list[str], offset: int) -> list[types.CompletionItem]:
    """Return the actions or objects that fit the cursor position, even if the step is not executable."""
    task = prepared.checker.engine.task
    previous = text.text[offset - 1 : offset]
    position = len(typed) if not typed or previous.isspace() else len(typed) - 1
    if position == 0:
        actions = [(a.name, " ".join([v.name for v in a.parameters])) for a in task.actions.values()]
        kind = types.CompletionItemKind.Function
        return [
            types.CompletionItem(clean(name), kind=kind, detail=clean(detail), sort_text="2" + clean(name))
            for name, detail in actions[:MAX_ITEMS]
        ]
    action = task.actions.get(typed[0])
    if action is None or position > len(action.parameters):
        return []
    parameter = action.parameters[position - 1]
    kind = types.CompletionItemKind.Variable
    return [
        types.CompletionItem(clean(task.objects[o]), kind=kind, detail=parameter.name, sort_text="2")
        for o in task.domains[parameter.domain][:MAX_ITEMS]
    ]


def _in_definition(analysis: Analysis, symbols: Symbols, offset: int) -> list[types.CompletionItem]:
    """Return the keywords of the current section and the declared names."""
    text = analysis.text
    forms = enclosing_forms(parse_tree(text.source), offset)
    start = offset
    while start and text.text[start - 1] not in " \t\r\n()":
        start -= 1
    kind = heading(text.text).kind.value
    keyword, variable = types.CompletionItemKind.Keyword, types.CompletionItemKind.Variable
    at_head = text.text[start - 1 : start] == "("
    section = next((form.head for form in forms if form.head in _FIELDS), "")
    if len(forms) == 1 or (len(forms) == 2 and at_head):
        words = _SECTIONS.get(kind, "").split()
        return [_completion_item(text, Span(start, offset), w, keyword) for w in words]
    if section and len(forms) == 2:
        words = (_FIELDS[section] + (f" {_RULE_FIELDS}" if section in RULES else "")).split()
        return [_completion_item(text, Span(start, offset), w, keyword) for w in words]
    place = Span(start, offset)
    out: list[types.CompletionItem] = []
    declared_names = symbols.declared(analysis)
    if at_head:
        operators = f"{_OPERATORS} {_TEMPORAL_OPERATORS if section in RULES else ''}".split()
        name_kinds = {
            NameKind.PREDICATE: types.CompletionItemKind.Property,
            NameKind.FUNCTION: types.CompletionItemKind.Value,
            NameKind.ACTION: types.CompletionItemKind.Function,
        }
        out += [_completion_item(text, place, w, keyword, "1") for w in operators]
    elif text.text[max(start - 2, 0) : start].strip() == "-":
        name_kinds = {NameKind.TYPE: types.CompletionItemKind.Class}
    else:
        name_kinds = {NameKind.OBJECT: variable}
        section_form = next((form for form in forms if form.head in _FIELDS), None)
        if section_form is not None:
            bound = [
                m.name
                for m in find_mentions(text.source, analysis.kind)
                if m.within == section_form.span and m.declares
            ]
            out += [_completion_item(text, place, name, variable, "0") for name in dict.fromkeys(bound)]
    for names, item_kind in name_kinds.items():
        out += [_completion_item(text, place, name, item_kind, "0") for name in declared_names.get(names, ())]
    return out[:MAX_ITEMS]


def _completion_item(
    text: Text, place: Span, word: str, kind: types.CompletionItemKind, rank: str = "0"
) -> types.CompletionItem:
    return types.CompletionItem(
        clean(word), kind=kind, sort_text=rank + clean(word), text_edit=types.TextEdit(text.range(place), clean(word))
    )
