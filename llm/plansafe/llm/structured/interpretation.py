"""Interpret the values of a document as steps, with their marks and remarks (docs/plan-text.md)."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.groups import Argument, argument, split_commas
from plansafe.llm.loose.lines import Lines
from plansafe.llm.loose.names import Refused, key, short
from plansafe.llm.structured import columns, keys
from plansafe.llm.structured.json_text import read_json
from plansafe.llm.structured.keys import bare_key, field_words
from plansafe.llm.structured.marks import BOX, box_mark, is_struck
from plansafe.llm.structured.transcripts import begins_with_failure, mentions_failure
from plansafe.llm.structured.tree import Document, Kind, Mark, Node, NotThisFormat, Unreadable
from plansafe.verifier.model.nodes import Action

_MARKER = re.compile(r"[ \t]*(?:(?:step[ _-]?)?\d{1,4}[.):]|[-*\u2022])[ \t]+", re.IGNORECASE)
_STEP_KEY = re.compile(r"(?:step|action)?[ _-]?(\d{1,4})\Z", re.IGNORECASE)
_NUMERIC = re.compile(r"\d[\d.]{0,20}\Z")
_ALONE = "give action and arguments alone"
_MOST_WRAPPERS = 8
_WRAPPER_FIELDS = frozenset(
    ("id", "object", "created", "model", "usage", "role", "finishreason", "systemfingerprint", "index", "type",
     "version", "domain", "problem", "logprobs", "stopreason", "refusal", "annotations", "revision", "schema",
     "schemaversion", "timestamp", "createdat")
)  # fmt: skip
_STEP_FIELDS = frozenset(("id", "callid", "toolcallid", "confidence", "uuid"))
_COUNT_FIELDS = frozenset(("totalsteps", "numsteps", "stepcount", "length", "count", "numberofsteps", "planlength"))
_PARTICIPANTS = keys.PLAN_KEYS | frozenset(("choices", "message", "content", "toolcalls", "candidates", "parts"))
_CONDITIONS = frozenset(("if", "condition", "conditions", "times", "while", "until", "else", "when", "unless"))
_SEPARATOR = re.compile(r"[ \t]*(?:[;|/\u2192]|[-=]>)[ \t]*|[ \t]+(?:-[ \t]+)?")
_LABELLED = re.compile(r"[:=(<]|\s-\s")
_NOTHING = frozenset(("", "-", "\u2013", "\u2014", "n/a"))
_TICKS = {"\u2705": "true", "\u2714": "true", "\u2713": "true", "x": "true", "[x]": "true", "[ ]": "false"}
_RESULT = re.compile(
    r"(?P<sign>[^\w\s(]{0,3})[ \t]*(?P<word>[a-z]+)(?P<rest>[ \t]*[:;,(\u2013\u2014-].*)?\Z", re.IGNORECASE | re.DOTALL
)
_GOOD, _BAD, _PASSED = "\u2705\u2714\u2713\ufe0f", "\u274c\u2717\u2718\ufe0f", "\u23ed\ufe0f"
_FLAGS = keys.TRUE_WORDS | keys.FALSE_WORDS | {"x", "-", "\u2713", "\u2714", "\u2705", "\u274c"}
_SUCCESS = re.compile(r"[ \t]*(?:ok(?:ay)?|success(?:ful(?:ly)?)?|done|true)[ \t.!]*\Z", re.IGNORECASE)
_NUMBER_OF_STEP = re.compile(
    r"\b(?:number|step|id|no|index|n|nr)[\"']?[ \t]*[=:][ \t]*[\"']?(\d{1,4})\b", re.IGNORECASE
)
_STRIDES = (1, 10, 100)
_STEPS_DIFFER = "say which steps are to be done"


class WrittenStep(NamedTuple):
    """A step as a document gives it.

    ``arguments`` is ``None`` where ``name`` is a whole step in one text. ``declared``: the document says that it is an
    action. ``refused`` says why its arguments cannot be placed. ``nested``: an argument is a list or a call.
    """

    name: str
    arguments: tuple[Argument, ...] | None
    start: int
    end: int
    mark: Mark = Mark.NONE
    agent: str = ""
    declared: bool = False
    refused: Refused | None = None
    nested: bool = False
    offset: int = -1
    """Where the name begins, if the text has it letter by letter."""
    number: int | None = None


class Problem(NamedTuple):
    """The reason why a document is not a plan, and its place."""

    refused: Refused
    start: int
    end: int


class Interpretation(NamedTuple):
    """The steps of a document that are to be done; its errors; and its other texts."""

    steps: tuple[WrittenStep, ...]
    problems: tuple[Problem, ...]
    asides: tuple[Span, ...]
    removed: tuple[Span, ...]
    unknown: tuple[tuple[str, Span], ...] = ()
    """Fields next to the steps whose meaning is not known, with their keys."""


class _Wrong(Exception):
    """Something in a document that is not understood."""

    def __init__(self, code: str, message: str, node: Node, help: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(Refused(code, message, help), node.start, max(node.end, node.start + 1))


def interpret(document: Document, lines: Lines, text: str) -> Interpretation:
    """Return the steps of a document, which is part of ``text``. Linear in its length."""
    return _Interpreter(document, lines, text).interpret()


class _Interpreter:
    """The state of one interpretation."""

    def __init__(self, document: Document, lines: Lines, text: str) -> None:
        self.document, self.lines, self.names, self.whole_text = document, lines, lines.names, text
        self.asides: list[Span] = list(document.comments)
        self.steps: list[WrittenStep] = []
        self.problems: list[Problem] = []
        self.drafts: list[Span] = []
        self.unknown: list[tuple[str, Span]] = []

    def interpret(self) -> Interpretation:
        """Return the steps in order, marks applied."""
        try:
            self._document()
        except _Wrong as wrong:
            self.problems.append(wrong.problem)
        steps = [] if self.problems else self._ended(self.steps)
        steps = [] if self.problems else self._marked(steps)
        left_out = (Mark.REMOVED, Mark.FAILED)
        removed = tuple([Span(step.start, step.end) for step in self.steps if step.mark in left_out])
        result_steps = tuple(steps) if not self.problems else tuple(self.steps)
        return Interpretation(
            result_steps, tuple(self.problems), tuple(self.asides), (*removed, *self.drafts), tuple(self.unknown)
        )

    # -- marks --------------------------------------------------------------------------------------------------------

    def _marked(self, steps: list[WrittenStep]) -> list[WrittenStep]:
        """The steps that are to be done."""
        remaining = [step for step in steps if step.mark is not Mark.REMOVED]
        for index, step in enumerate(remaining):
            if step.mark is not Mark.FAILED:
                continue
            if not self._is_retried(remaining, index):
                self._problem(SC.MORE_THAN_A_SEQUENCE, "a step is marked as failed", step, _STEPS_DIFFER)
                return []
            self.unknown.append(("", Span(step.start, step.end)))
        remaining = [step for step in remaining if step.mark is not Mark.FAILED]
        ticked = [step for step in remaining if step.mark is Mark.TICKED]
        if ticked and len(ticked) < len(remaining):
            message = "some steps are marked as done or chosen, and others are not"
            self._problem(SC.AMBIGUOUS_NAME, message, ticked[0], _STEPS_DIFFER)
            return []
        if steps and not remaining:
            self._problem(SC.NO_PLAN, "all steps are marked as removed", steps[0])
        return remaining

    def _is_retried(self, steps: list[WrittenStep], index: int) -> bool:
        """Whether the same step succeeds later, or did so directly before: then the one that failed was not done."""
        failed = _content(steps[index])
        before = [step for step in steps[:index] if step.mark is not Mark.FAILED][-1:]
        other_steps = [*before, *[step for step in steps[index + 1 :] if step.mark is not Mark.FAILED]]
        return any([_content(step) == failed for step in other_steps])

    def _ended(self, steps: list[WrittenStep]) -> list[WrittenStep]:
        """The steps before ``finish()`` or ``done()``, unless the task has such an action."""
        ends = [index for index, step in enumerate(steps) if self._is_end(step)]
        if not ends:
            return steps
        if ends[0] != len(steps) - 1:
            self._problem(SC.NOT_UNDERSTOOD, "a step follows the end of the plan", steps[ends[0] + 1])
            return []
        if len(steps) == 1:
            self._problem(SC.NO_PLAN, "the plan ends before its first step", steps[0])
        if steps[-1].arguments:
            self.asides.append(Span(steps[-1].start, steps[-1].end))
        return steps[:-1]

    def _is_end(self, step: WrittenStep) -> bool:
        name = re.sub(r"[\s().\[\]]", "", step.name).lower()
        return name in keys.END_WORDS and self.names.action(name) is None

    def _problem(self, code: str, message: str, step: WrittenStep, help: str | None = None) -> None:
        self.problems.append(Problem(Refused(code, message, help), step.start, max(step.end, step.start + 1)))

    # -- documents ----------------------------------------------------------------------------------------------------

    def _document(self) -> None:
        nodes = self.document.nodes
        if len(nodes) != 1:
            self._listed(nodes)
            return
        node = nodes[0]
        if node.kind is Kind.LIST and node.items and all([_role(item) for item in node.items]):
            self._messages(node)
            return
        for _ in range(_MOST_WRAPPERS):
            inner = self._inside(node)
            if inner is None:
                break
            node = inner
        if node.kind is Kind.LIST:
            if not node.items:
                message = "an empty list: a plan without steps is written as such in a plan file"
                raise _Wrong(SC.NO_PLAN, message, node)
            self._list(node)
        elif node.kind is Kind.TEXT and "\n" in node.text.strip():
            self._several_lines(node)
        else:
            self._step(node)

    def _inside(self, node: Node) -> Node | None:
        """The value of the one key that holds the plan; ``None`` if the value is the plan itself."""
        if node.kind is not Kind.MAP or not node.items or self._is_of_actions(node):
            return None
        if any([bare_key(k) in keys.ACTION_KEYS and not self._is_title(k, v, node) for k, v in node.pairs]):
            return None
        holding = [
            (k, v)
            for k, v in node.pairs
            if bare_key(k) in _PARTICIPANTS
            and (v.kind in (Kind.LIST, Kind.MAP) or (bare_key(k) in keys.PLAN_KEYS and "\n" in v.text.strip()))
        ]
        if not holding and (final := self._final(node)) is not None:
            return final
        if not holding or (len(holding) == 1 and self._is_labelled(node)):
            return None
        if len(holding) > 1:
            message = f"`{short(holding[0][0])}` and `{short(holding[1][0])}` may both be the plan"
            raise _Wrong(SC.PLANS_DIFFER, message, holding[1][1], "give one")
        for k, v in node.pairs:
            if v is not holding[0][1]:
                self._beside_plan(k, v, holding[0][1])
        if bare_key(holding[0][0]) in ("choices", "candidates") and len(holding[0][1].items) == 1:
            return holding[0][1].items[0]
        return holding[0][1]

    def _is_title(self, name: str, value: Node, node: Node) -> bool:
        """``{"name": "Make tea", "steps": [..]}``: a name that is not an action, next to a list of steps."""
        lists = [k for k, v in node.pairs if bare_key(k) in keys.STEP_LIST_KEYS and v.kind is Kind.LIST]
        is_name_field = bare_key(name) == "name" and value.kind in (Kind.TEXT, Kind.WORD)
        return bool(lists) and is_name_field and self.names.action(value.text) is None

    def _final(self, node: Node) -> Node | None:
        """The last of two versions: ``{"draft": {..}, "final": {..}}``."""
        versions = [(k, v) for k, v in node.pairs if v.kind in (Kind.LIST, Kind.MAP)]
        final = [v for k, v in versions if bare_key(k) in keys.FINAL_KEYS]
        drafts = [v for k, v in versions if bare_key(k) in keys.DRAFT_KEYS]
        if len(final) != 1 or len(final) + len(drafts) != len(versions):
            return None
        for k, v in node.pairs:
            if v not in (final[0], *drafts):
                if bare_key(k) not in keys.REMARK_KEYS | _WRAPPER_FIELDS:
                    return None
                self._beside_plan(k, v, final[0])
        self.drafts += [Span(draft.start, draft.end) for draft in drafts]
        return final[0]

    def _messages(self, node: Node) -> None:
        """A conversation with tool calls and their results."""
        calls: dict[str, int] = {}
        for message in node.items:
            fields = {bare_key(k): v for k, v in message.pairs}
            message_keys = {"role", "content", "toolcalls", "toolcallid", "name", "refusal", "id", "annotations"}
            role, content = _role(message), fields.get("content")
            if len(fields) < len(message.keys) or not set(fields) <= message_keys:
                raise _Wrong(SC.NOT_UNDERSTOOD, "this message is not understood", message)
            if role == "tool":
                number = calls.get(fields["toolcallid"].text) if "toolcallid" in fields else None
                if number is None or content is None or content.kind not in (Kind.TEXT, Kind.WORD):
                    raise _Wrong(SC.NOT_UNDERSTOOD, "this result belongs to no call", message)
                self._result(content, number)
                continue
            if role != "assistant" and self.steps:
                raise _Wrong(SC.PLANS_DIFFER, "a message to the model stands between its calls", message)
            if content is not None and role == "assistant":
                self.remark(content)
            tool_calls = fields.get("toolcalls")
            if tool_calls is None or _is_empty(tool_calls):
                continue
            if role != "assistant" or tool_calls.kind is not Kind.LIST:
                raise _Wrong(SC.NOT_UNDERSTOOD, "these calls are not understood", tool_calls)
            for call in tool_calls.items:
                count = len(self.steps)
                self._step(call)
                names = [v.text for k, v in call.pairs if bare_key(k) == "id"]
                if len(self.steps) == count or (names and names[0] in calls):
                    raise _Wrong(SC.NOT_UNDERSTOOD, "this call is not understood", call)
                if len(self.steps) == count + 1:  # a result of a call with several steps belongs to none of them
                    calls |= dict.fromkeys(names, count)
        if not self.steps:
            raise _Wrong(SC.NO_PLAN, "no message calls an action", node)

    def _result(self, content: Node, number: int) -> None:
        """What a call returned: a failure marks it, other words are a remark."""
        if begins_with_failure(content.text):
            self.steps[number] = self.steps[number]._replace(mark=Mark.FAILED)
        elif mentions_failure(content.text):
            raise _Wrong(SC.NOT_UNDERSTOOD, "whether this call failed is not understood", content, _STEPS_DIFFER)
        if not _SUCCESS.match(content.text):
            self.remark(content)

    def _is_labelled(self, node: Node) -> bool:
        return bool(node.keys) and all([_STEP_KEY.match(k) for k in node.keys])

    def _beside_plan(self, name: str, node: Node, plan: Node) -> None:
        """A field next to the plan: a remark, or the number of its steps."""
        bare = bare_key(name)
        texts = node.kind in (Kind.TEXT, Kind.WORD) or (node.kind is Kind.LIST and node.is_flat)
        marks = _field_marks(bare, _word(node)) if node.kind in (Kind.TEXT, Kind.WORD) else None
        if marks and marks & {Mark.REMOVED, Mark.FAILED}:
            raise _Wrong(SC.NO_PLAN, f"`{short(name)}` says that the plan is removed or failed", node)
        if bare in keys.REMARK_KEYS and texts:
            self.remark(node)
        elif bare in _COUNT_FIELDS and node.text == str(len(plan.items)):
            pass
        elif not _is_empty(node) and bare not in _WRAPPER_FIELDS and self._is_no_step(name, node):
            self.unknown.append((name, Span(node.start, max(node.end, node.start + 1))))
        elif bare not in _WRAPPER_FIELDS and not _is_empty(node):
            message = f"`{short(name)}` beside the plan is not understood"
            raise _Wrong(SC.NOT_UNDERSTOOD, message, node, "give the plan alone")

    def _is_no_step(self, name: str, node: Node) -> bool:
        """Whether a field next to the plan whose meaning is not known holds no step: then it is a remark."""
        scene = bare_key(name) in keys.SCENE_KEYS
        if node.kind in (Kind.TEXT, Kind.WORD):
            changes = bool(field_words(name) & keys.CHANGE_WORDS) and node.text.lower() not in keys.FALSE_WORDS
            return (
                bare_key(name) not in _CONDITIONS
                and not changes
                and (scene or self.lines.read(node.text).kind != "steps")
            )
        return scene and not any([bare_key(k) in keys.PLAN_KEYS for k in _all_keys(node)])

    def remark(self, node: Node) -> None:
        if not _is_empty(node):
            self.asides.append(Span(node.start, max(node.end, node.start + 1)))

    def _several_lines(self, node: Node) -> None:
        """A plan as one text, a step a line."""
        for line in node.text.splitlines():
            if line.strip():
                marker = _MARKER.match(line)
                bare = line[marker.end() :] if marker else line
                self.steps.append(WrittenStep(bare.strip(), None, node.start, node.end))

    def _list(self, node: Node) -> None:
        """A list of steps; a flat list of words may also be one step."""
        flat = node.is_flat and len(node.items) > 1 and self._is_sequence(node)
        if flat and not all([self._reads(item.text) for item in node.items]):
            self.steps.append(self.sequence(node))
            return
        self._listed(node.items)

    def _reads(self, text: str) -> bool:
        return self.lines.read(text).kind == "steps"

    def _is_sequence(self, node: Node) -> bool:
        """Whether a list may be the name of an action and its arguments."""
        if not node.items or node.items[0].kind not in (Kind.TEXT, Kind.WORD):
            return False
        action = self.names.action(node.items[0].text)
        return action is not None

    def _listed(self, nodes: tuple[Node, ...]) -> None:
        first = len(self.steps)
        for node in nodes:
            self._step(node)
        numbered = [step for step in self.steps[first:] if step.number is not None]
        wrong = _out_of_order(numbered)
        if wrong is not None and _out_of_order([step for step in numbered if step.mark is not Mark.REMOVED]) is None:
            return  # the steps that are left out do not count
        if wrong is not None and self._are_commented_out(numbered):
            return
        if wrong is not None:
            step, expected = wrong
            message = f"step {step.number} stands where step {expected} should"
            self._problem(SC.NUMBERS_OUT_OF_ORDER, message, step, "number the steps from 1")

    def _are_commented_out(self, steps: list[WrittenStep]) -> bool:
        """Whether comments have the numbers that are missing: each comment between two steps begins with its number."""
        expected, position = 1, self.document.start
        for step in steps:
            comments = [comment for comment in self.document.comments if position <= comment.start < step.start]
            matches = [_NUMBER_OF_STEP.search(self.whole_text, comment.start, comment.end) for comment in comments]
            missing = [int(match[1]) for match in matches if match is not None]
            if step.number is None or missing != list(range(expected, step.number)):
                return False
            expected, position = step.number + 1, step.start
        return True

    # -- steps --------------------------------------------------------------------------------------------------------

    def _step(self, node: Node) -> None:
        match node.kind:
            case Kind.MAP:
                self._map(node)
            case Kind.LIST:
                self.steps.append(self.sequence(node))
            case Kind.CALL:
                self.steps.append(self.call(node))
            case _:
                self.steps.append(self.text(node))

    def text(self, node: Node, mark: Mark = Mark.NONE) -> WrittenStep:
        marker = _MARKER.match(node.text)
        text = node.text[marker.end() :] if marker else node.text
        box = BOX.match(text)
        if box is not None and mark is node.mark is Mark.NONE:
            mark, text = box_mark(box[box.lastgroup or 0]), text[box.end() :].lstrip()
        elif is_struck(text) or text.lstrip().startswith(("# ", "//")):
            mark = Mark.REMOVED
        if not text.strip():
            raise _Wrong(SC.TEXT_CUT_OFF, "an item without text", node)
        number = None
        if marker and (digits := re.search(r"\d+", marker.group())):
            number = int(digits.group())
        return WrittenStep(text, None, node.start, node.end, node.mark if mark is Mark.NONE else mark, number=number)

    def call(self, node: Node) -> WrittenStep:
        receiver, _, name = node.text.rpartition(".")
        arguments, nested = [], False
        for label, item in zip(node.keys, node.items, strict=True):
            nested = nested or item.kind not in (Kind.TEXT, Kind.WORD)
            if item.kind is Kind.LIST and item.is_flat and len(node.items) == 1 and not label:
                arguments += [Argument(item_argument.text) for item_argument in item.items]
                nested = False
                continue
            arguments.append(Argument(item.text, label or None))
        return WrittenStep(
            name, tuple(arguments), node.start, node.end, node.mark, receiver.rpartition(".")[2], nested=nested
        )

    def sequence(self, node: Node) -> WrittenStep:
        """``["grab", "mug"]`` or ``["grab", ["mug"]]``."""
        items = node.items
        if len(items) == 2 and items[1].kind in (Kind.LIST, Kind.MAP):
            arguments, nested = self.arguments(items[1]), not items[1].is_flat
        else:
            arguments = tuple([Argument(item.text) for item in items[1:]])
            nested = any([item.kind not in (Kind.TEXT, Kind.WORD) for item in items])
        if not items or items[0].kind not in (Kind.TEXT, Kind.WORD) or nested:
            raise _Wrong(SC.NOT_UNDERSTOOD, "this list is not understood as a step", node)
        if len(items) == 1:
            return self.text(items[0])
        return WrittenStep(items[0].text, arguments, node.start, node.end, node.mark)

    def arguments(self, node: Node) -> tuple[Argument, ...]:
        if node.kind is Kind.TEXT and node.text.lstrip()[:1] in ("{", "["):  # JSON in a text, as in `tool_calls`
            body = node.text.strip()
            try:
                inner = read_json(body, 0, len(body))
            except (NotThisFormat, Unreadable):
                raise _Wrong(SC.NOT_UNDERSTOOD, "these arguments are not JSON", node) from None
            if inner.end != len(body) or not (inner.is_flat or self.lists_arguments(inner)):
                raise _Wrong(SC.NOT_UNDERSTOOD, "these arguments are not understood", node)
            return self.arguments(_moved(inner, node))
        if self.lists_arguments(node):
            return self.arguments(node.items[0])
        if node.kind is Kind.LIST and node.items and all([len(item.keys) == 1 and item.is_flat for item in node.items]):
            names, values = [item.keys[0] for item in node.items], [item.items[0] for item in node.items]
            return self.arguments(Node(Kind.MAP, "", node.start, node.end, tuple(values), tuple(names)))
        if node.kind is Kind.MAP:
            if len({key(k) for k in node.keys}) < len(node.keys):
                raise _Wrong(SC.NOT_UNDERSTOOD, "an argument is given twice", node)
            return tuple([Argument(v.text, k) for k, v in node.pairs if v.text != "null"])
        if node.kind is Kind.LIST:
            return tuple([Argument(item.text) for item in node.items])
        if node.text in ("null", "None") and node.kind is Kind.WORD:
            return ()
        text = node.text.strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        parts = [part.strip() for part in split_commas(text) if part.strip()]
        if len(parts) == 1 and not self.names.has_object(parts[0]):
            parts = self._separated(parts[0], node)
        return tuple([argument(part) for part in parts])

    def lists_arguments(self, node: Node) -> bool:
        """``{"args": ["milk"]}`` as the arguments of an action."""
        listed = len(node.keys) == 1 and bare_key(node.keys[0]) in keys.ARGUMENT_LIST_KEYS
        return listed and node.items[0].kind in (Kind.LIST, Kind.MAP) and node.items[0].is_flat

    def _separated(self, text: str, node: Node) -> list[str]:
        """Arguments between spaces, semicolons, bars, slashes, arrows or hyphens: all of them are objects, or none."""
        pieces = text.split("-") if "-" in text and " " not in text and ">" not in text else []
        joined = len(pieces) > 1 and all([columns.objects_in(self.names, piece) for piece in pieces])
        if joined or "<-" in text or "\u2190" in text:
            raise _Wrong(SC.NOT_UNDERSTOOD, "what separates these arguments is not understood", node, _ALONE)
        if not _SEPARATOR.search(text) or columns.objects_in(self.names, text):
            return [text]
        pieces = [piece for piece in _SEPARATOR.split(text) if piece]
        objects_of_pieces = [columns.objects_in(self.names, piece) for piece in pieces]
        if all(objects_of_pieces):
            return pieces
        if any(objects_of_pieces) and not _LABELLED.search(text):
            raise _Wrong(SC.NOT_UNDERSTOOD, "what separates these arguments is not understood", node, _ALONE)
        return [text]

    def _map(self, node: Node) -> None:
        """A map that names an action, or one of steps by their numbers or actions."""
        pairs = node.pairs
        if pairs and all([_STEP_KEY.match(k) for k in node.keys]):
            self._by_number(node)
            return
        if self._is_of_actions(node):
            self.steps += [self._entry(k, v, node) for k, v in pairs]
            return
        if pairs and not any([bare_key(k) in keys.ACTION_KEYS and not self._is_title(k, v, node) for k, v in pairs]):
            plans = [v for k, v in pairs if bare_key(k) in keys.PLAN_KEYS and v.kind is Kind.LIST]
            if len(plans) == 1:
                self._group(node, plans[0])
                return
        self._record(node)

    def _is_of_actions(self, node: Node) -> bool:
        """Whether all keys of a map are actions of the task, and none of them says that its value is one."""
        if not node.keys or not all([self.names.action(k) is not None for k in node.keys]):
            return False
        return not any([bare_key(k) in keys.ACTION_KEYS and _names_action(v) for k, v in node.pairs])

    def _group(self, node: Node, plan: Node) -> None:
        """``{"phase": 1, "enabled": false, "actions": [..]}``: its steps have the marks of the group."""
        marks: set[Mark] = set()
        for k, v in node.pairs:
            if v is plan or (bare_key(k) in keys.NUMBER_KEYS | {"phase", "stage"} and v.kind is not Kind.LIST):
                continue
            word = _word(v)
            field_marks = _field_marks(bare_key(k), word) if v.kind in (Kind.TEXT, Kind.WORD) else None
            decides = field_words(k) & (keys.PLAN_LIKE_WORDS - keys.GROUP_WORDS) and not _is_harmless(
                bare_key(k), word, v
            )
            if field_marks is not None:
                marks |= field_marks
            elif decides and bare_key(k) not in keys.REMARK_KEYS:
                raise _Wrong(SC.MORE_THAN_A_SEQUENCE, f"`{short(k)}` of a group of steps is not understood", v, _ALONE)
            else:
                self._beside_plan(k, v, plan)
        first = len(self.steps)
        self._list(plan)
        mark = _one_mark(marks, node)
        if mark is Mark.FAILED:
            raise _Wrong(SC.MORE_THAN_A_SEQUENCE, "a group of steps is marked as failed", node, _STEPS_DIFFER)
        for at, step in enumerate(self.steps[first:], first):
            if mark is Mark.REMOVED and step.mark in (Mark.TICKED, Mark.FAILED):
                raise _Wrong(SC.NOT_UNDERSTOOD, "a step of a removed group is marked as done", node, _STEPS_DIFFER)
            if mark is Mark.REMOVED or step.mark is Mark.NONE:
                self.steps[at] = step._replace(mark=mark)

    def _by_number(self, node: Node) -> None:
        """``{"1": "grab mug", "2": ..}``."""
        expected: int | None = None
        for k, v in node.pairs:
            match = _STEP_KEY.match(k)
            number = int(match[1]) if match else -1
            if expected is None:
                expected = 0 if number == 0 else 1
            if number != expected:
                message = f"`{short(k)}` stands where step {expected} should"
                raise _Wrong(SC.NUMBERS_OUT_OF_ORDER, message, v)
            self._step(v)
            expected += 1

    def _entry(self, name: str, node: Node, entry_node: Node) -> WrittenStep:
        """``"GRAB": ["mug", "12"]``: numbers belong to the names before them."""
        start = node.start
        if node.kind is Kind.MAP:
            nested = not node.is_flat and not self.lists_arguments(node)
            return WrittenStep(name, self.arguments(node), start, node.end, nested=nested)
        texts = [item.text for item in node.items] if node.kind is Kind.LIST else [node.text] * bool(node.text)
        if not node.is_flat:
            raise _Wrong(SC.NOT_UNDERSTOOD, "this list is not understood as arguments", node)
        arguments: list[Argument] = []
        for text in texts:
            numeric = _NUMERIC.match(text) and arguments and not arguments[-1].number
            if numeric and not self.names.has_object(text):
                arguments[-1] = arguments[-1]._replace(number=text)
            elif text not in ("null", "None"):
                arguments.append(Argument(text))
        return WrittenStep(name, tuple(arguments), start, node.end, entry_node.mark)

    def _record(self, node: Node) -> None:
        """``{"action": "grab", "args": ["mug"]}``."""
        fields = self._flattened(node)
        if self._sent(fields):
            return
        if {bare_key(k) for k, _ in fields} <= {"type", "text"} and self._is_part_of_text(fields):
            return
        action_fields = [k for k, v in fields if bare_key(k) in keys.ACTION_KEYS]
        record = _Record(self, node)
        for k, v in fields:
            titled = bare_key(k) == "name" and len(action_fields) > 1 and v.kind in (Kind.TEXT, Kind.WORD)
            if titled and self.names.action(v.text) is None:
                self.unknown.append((k, Span(v.start, max(v.end, v.start + 1))))
            elif bare_key(k) == "type" and not action_fields and self.names.action(v.text) is not None:
                record.take("action", v)
            else:
                record.take(k, v)
        self.steps.append(record.step())

    def _sent(self, fields: list[tuple[str, Node]]) -> bool:
        """``submit_plan`` or ``do_action`` with a plan or a step as its arguments: read the arguments."""
        names = [v for k, v in fields if bare_key(k) in keys.ACTION_KEYS]
        argument_values = [v for k, v in fields if bare_key(k) in keys.ARGUMENT_KEYS]
        if len(names) != 1 or len(argument_values) != 1 or self.names.action(names[0].text) is not None:
            return False
        if not field_words(names[0].text) or not field_words(names[0].text) <= keys.SENDING_WORDS:
            return False
        sent = argument_values[0]
        if sent.kind is Kind.TEXT and sent.text.lstrip().startswith("{"):
            try:
                sent = _moved(read_json(sent.text.strip(), 0, len(sent.text.strip())), sent)
            except (NotThisFormat, Unreadable):
                return False
        fields_sent = {bare_key(k) for k in sent.keys}
        if sent.kind is not Kind.MAP or not fields_sent & (keys.ACTION_KEYS | keys.STEP_LIST_KEYS):
            return False
        for k, v in fields:
            if v is not names[0] and v is not argument_values[0] and not _is_harmless(bare_key(k), _word(v), v):
                raise _Wrong(SC.NOT_UNDERSTOOD, f"`{short(k)}` next to these arguments is not understood", v, _ALONE)
        self._map(sent)
        return True

    def _is_part_of_text(self, fields: list[tuple[str, Node]]) -> bool:
        """``{"type": "text", "text": ".."}`` among calls: a remark, unless it holds a step."""
        texts = [v for k, v in fields if bare_key(k) == "text" and v.kind is Kind.TEXT]
        if len(texts) != 1 or [v.text for k, v in fields if bare_key(k) == "type"] != ["text"]:
            return False
        if self.lines.read(texts[0].text).kind == "steps":
            return False
        self.remark(texts[0])
        return True

    def _flattened(self, node: Node) -> list[tuple[str, Node]]:
        """The fields of a record; also the fields of ``{"function": {"name": .., "arguments": ..}}``."""
        pairs = []
        for k, v in node.pairs:
            if bare_key(k) in keys.ACTION_KEYS and v.kind is Kind.MAP:
                pairs += v.pairs
            else:
                pairs.append((k, v))
        bare_keys = [bare_key(k) for k, _ in pairs]
        for index, name in enumerate(bare_keys):
            if name in bare_keys[:index]:
                raise _Wrong(SC.NOT_UNDERSTOOD, f"`{short(pairs[index][0])}` stands twice in a step", pairs[index][1])
        return pairs


def _content(step: WrittenStep) -> tuple[str, ...]:
    """What a step does, for a comparison with others."""
    arguments = [f"{key(argument.label or '')}={key(argument.text)}" for argument in step.arguments or ()]
    return (" ".join(step.name.lower().split()), *arguments)


def _out_of_order(steps: list[WrittenStep]) -> tuple[WrittenStep, int] | None:
    """The first step whose number does not follow, and the number it should have. Numbers may go up in tens."""
    numbers = [step.number or 0 for step in steps]
    stride = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    stride = stride if stride in _STRIDES else 1
    expected = 0 if numbers[:1] == [0] else stride
    for step, number in zip(steps, numbers, strict=True):
        if number != expected:
            return step, expected
        expected += stride
    return None


def _role(node: Node) -> str:
    """The role of a message; empty if a value is none."""
    roles = [v.text for k, v in node.pairs if k == "role"] if node.kind is Kind.MAP else []
    return roles[0] if roles and roles[0] in ("system", "developer", "user", "assistant", "tool") else ""


def _moved(node: Node, place: Node) -> Node:
    """A value of JSON within a text, with the place of that text."""
    items = tuple([_moved(item, place) for item in node.items])
    return node._replace(start=place.start, end=place.end, items=items)


def _names_action(node: Node) -> bool:
    return node.kind is Kind.MAP and any([bare_key(k) in keys.ACTION_KEYS for k in node.keys])


def _all_keys(node: Node) -> list[str]:
    """The keys of a value and of all values in it."""
    return [*node.keys, *[name for item in node.items for name in _all_keys(item)]]


class _Record:
    """The fields of one step, taken one after the other."""

    def __init__(self, interpreter: _Interpreter, node: Node) -> None:
        self.interpreter, self.names, self.node = interpreter, interpreter.names, node
        self.name: Node | None = None
        self.arguments: tuple[Argument, ...] | None = None
        self.nested = False
        self.complete = False  # each parameter has a field
        self.agent = ""
        self.number: int | None = None
        self.marks: set[Mark] = {node.mark} - {Mark.NONE}
        self.rest: list[tuple[str, Node]] = []
        self.numbered: list[tuple[int, str, Node]] = []

    def take(self, field: str, node: Node) -> None:
        """Take a field."""
        bare = bare_key(field)
        flat = node.kind in (Kind.TEXT, Kind.WORD)
        if bare in keys.ACTION_KEYS and self.name is None and (flat or node.kind in (Kind.LIST, Kind.CALL)):
            if node.text not in ("null", "None") or node.kind is not Kind.WORD:
                self.name = node
        elif bare in keys.ARGUMENT_KEYS and self.arguments is None:
            self.arguments = self.interpreter.arguments(node)
            pairs = node.kind is Kind.LIST and all([len(item.keys) == 1 and item.is_flat for item in node.items])
            self.nested = not node.is_flat and not pairs and not self.interpreter.lists_arguments(node)
        elif match := keys.NUMBERED_ARGUMENT.match(bare):
            self.numbered.append((int(match[1]), field, node))
        else:
            self.rest.append((field, node))

    def step(self) -> WrittenStep:
        """Return the step. Raises :class:`_Wrong` for a field that is not understood."""
        name = self.name
        if name is None:
            return self._without_action()
        if name.kind is Kind.LIST and self.arguments is None:
            base = self.interpreter.sequence(name)
        elif name.kind is Kind.CALL and self.arguments is None:
            base = self.interpreter.call(name)
        else:
            base = WrittenStep(name.text, None, name.start, name.end)
        action = self.names.action(base.name)
        parameters = []
        if action is not None and not isinstance(action, Refused):
            parameters = [key(v.name[1:]) for v in action.parameters]
        labelled: list[Argument] = []
        unplaced: list[Argument] = []
        placed = self._by_columns(action, base, parameters)
        parameter_fields = [field for field, node in self.rest if key(field) in parameters and not _is_empty(node)]
        self.complete = placed is not None or len(parameter_fields) == len(parameters)
        if all([key(field) in parameters for _, field, _ in self.numbered]):
            self.rest += [(field, node) for _, field, node in self.numbered]
            self.numbered = []
        for field, node in self.rest:
            flat = node.kind in (Kind.TEXT, Kind.WORD)
            if placed is not None and self._is_argument(field, node, parameters):
                continue
            if flat and _is_empty(node) and key(field) in parameters:
                continue
            if flat and key(field) in parameters and self.arguments is None and base.arguments is None:
                labelled.append(Argument(node.text, field))
            elif flat and bare_key(field) in keys.ARGUMENT_KEYS:
                unplaced.append(Argument(node.text))
            else:
                self._beside(field, node)
        arguments = self._all_arguments(base, labelled)
        refused = None
        if placed is not None:
            arguments = placed
        if unplaced:
            message = "which argument is which cannot be told from these fields"
            refused = Refused(SC.UNPLACED_ARGUMENT, message, "give the arguments as one list")
            arguments = (*(arguments or ()), *unplaced)
        return base._replace(
            arguments=arguments,
            start=self.node.start,
            end=self.node.end,
            mark=_one_mark(self.marks, self.node),
            agent=self.agent or base.agent,
            declared=True,
            refused=refused,
            nested=self.nested or base.nested,
            number=self.number,
        )

    def _by_columns(
        self, action: Action | Refused | None, base: WrittenStep, parameters: list[str]
    ) -> tuple[Argument, ...] | None:
        """The arguments from fields that are not named after parameters; ``None`` without such fields."""
        if action is None or isinstance(action, Refused) or base.arguments is not None or self.arguments is not None:
            return None
        if self.numbered:
            return None
        fields = [(k, v) for k, v in self.rest if not _is_empty(v) and self._is_argument(k, v, parameters)]
        if all([key(k) in parameters for k, _ in fields]):
            return None
        written = [columns.Written(part, k) for k, v in fields for part in columns.objects_in(self.names, v.text)]
        placed = columns.place(self.names, action, written)
        if isinstance(placed, Refused):
            raise _Wrong(placed.code, placed.message, self.node, placed.help)
        return placed

    def _is_argument(self, field: str, node: Node, parameters: list[str]) -> bool:
        """Whether a field that is not known otherwise holds objects of the task."""
        bare = bare_key(field)
        known_keys = keys.REMARK_KEYS | keys.NUMBER_KEYS | keys.STATUS_KEYS | keys.AGENT_KEYS | keys.ARGUMENT_KEYS
        if node.kind not in (Kind.TEXT, Kind.WORD) or (bare in known_keys and key(field) not in parameters):
            return False
        return bool(columns.objects_in(self.names, node.text))

    def _all_arguments(self, base: WrittenStep, labelled: list[Argument]) -> tuple[Argument, ...] | None:
        arguments = base.arguments if self.arguments is None else self.arguments
        if labelled:
            return tuple(labelled)
        if not self.numbered:
            return arguments
        indices = [index for index, _, node in self.numbered if not _is_empty(node)]
        first = self.numbered[0][0]
        if arguments is not None or first > 1 or indices != list(range(first, first + len(indices))):
            message = "the numbers of these arguments are not understood"
            raise _Wrong(SC.NOT_UNDERSTOOD, message, self.numbered[0][2], _ALONE)
        return tuple([Argument(node.text) for _, _, node in self.numbered if not _is_empty(node)])

    def _without_action(self) -> WrittenStep:
        """``{"step": "grab the mug", "reason": ".."}``."""
        if self.arguments is not None and not self.rest and not self.numbered:
            message = "arguments without an action"
            refused = Refused(SC.NOT_UNDERSTOOD, message, 'write {"action": .., "args": [..]}')
            return WrittenStep("", self.arguments, self.node.start, self.node.end, refused=refused)
        steps = [
            (k, v)
            for k, v in self.rest
            if bare_key(k) in keys.NUMBER_KEYS and v.kind in (Kind.TEXT, Kind.CALL) and not v.text.isdecimal()
        ]
        if len(steps) != 1 or self.arguments is not None or self.numbered:
            message = "this object names no action"
            raise _Wrong(SC.NOT_UNDERSTOOD, message, self.node, 'write {"action": .., "args": [..]}')
        for field, node in self.rest:
            if node is not steps[0][1]:
                self._beside(field, node)
        node = steps[0][1]
        step = self.interpreter.call(node) if node.kind is Kind.CALL else self.interpreter.text(node)
        return step._replace(mark=_one_mark(self.marks, self.node), agent=self.agent, number=self.number)

    def _beside(self, field: str, node: Node) -> None:
        """A field next to action and arguments: a number, who acts, a mark, or a remark."""
        bare = bare_key(field)
        flat = node.kind in (Kind.TEXT, Kind.WORD)
        word = _word(node) if flat else ""
        marks = _field_marks(bare, word) if flat else None
        if flat and marks is None and bare in keys.STATUS_KEYS:
            marks = self._explained(bare, node)
        if marks is not None:
            self.marks |= marks
        elif bare == "error" and flat and not _is_empty(node):
            self.marks |= {Mark.FAILED}
            self.interpreter.remark(node)
        elif bare in keys.AGENT_KEYS and flat and not self.agent:
            self.agent = node.text
        elif bare in keys.NUMBER_KEYS and _digits(word):
            if self.number is None:
                self.number = int(_digits(word))
        elif bare in keys.REMARK_KEYS and flat and word.strip(".! ") in keys.REMOVED_WORDS:
            self.marks.add(Mark.REMOVED)
        elif flat and bare in keys.STATUS_KEYS and mentions_failure(node.text):
            raise _Wrong(SC.NOT_UNDERSTOOD, "whether this step failed is not understood", node, _STEPS_DIFFER)
        elif bare in keys.REMARK_KEYS | {"result", "outcome"} and (flat or (node.kind is Kind.LIST and node.is_flat)):
            self.interpreter.remark(node)
        elif bare not in _STEP_FIELDS and not _is_empty(node) and self._is_description(field, node, word):
            self.interpreter.unknown.append((field, Span(node.start, max(node.end, node.start + 1))))
        elif not _is_harmless(bare, word, node):
            more = bare in keys.HARMLESS_WHEN_FALSE or bare in _CONDITIONS
            code = SC.MORE_THAN_A_SEQUENCE if more else SC.NOT_UNDERSTOOD
            raise _Wrong(code, f"`{short(field)}` in a step is not understood", node, _ALONE)

    def _is_description(self, field: str, node: Node, word: str) -> bool:
        """Whether a field that is not known only describes a step whose arguments stand elsewhere: then it is a remark.

        A word that may decide whether a step is done, and a value that may be an argument or a step, are none.
        """
        flat = node.kind in (Kind.TEXT, Kind.WORD)
        words = field_words(field)
        if not flat or not words or words & keys.PLAN_LIKE_WORDS or word in _FLAGS or word.isdecimal():
            return False
        if bare_key(field) in keys.HARMLESS_WHEN_FALSE | _CONDITIONS:
            return False
        if self.interpreter.lines.read(node.text).kind == "steps":
            return False
        is_complete = (
            self.complete or self.arguments is not None or (self.name is not None and self._is_whole(self.name))
        )
        return is_complete and (len(words) > 1 or len(word.split()) > 1)

    def _is_whole(self, name: Node) -> bool:
        """Whether the text of an action has all of its arguments."""
        if name.kind in (Kind.LIST, Kind.CALL):
            return True
        return bool(re.search(r"[\s(]", name.text.strip())) and self.interpreter.lines.read(name.text).kind == "steps"

    def _explained(self, bare: str, node: Node) -> set[Mark] | None:
        """``❌ failed: already on``: a mark, and a remark on it."""
        match = _RESULT.match(node.text.strip())
        marks = _field_marks(bare, match["word"].lower()) if match else None
        if match is None or marks is None:
            return None
        word = match["word"].lower()
        removed, failed = Mark.REMOVED in marks, Mark.FAILED in marks
        allowed = _BAD if failed else _PASSED + _BAD if removed else _GOOD
        if (match["sign"] and not set(match["sign"]) <= set(allowed)) or word in keys.TRUE_WORDS | keys.FALSE_WORDS:
            return None
        if match["rest"]:
            self.interpreter.remark(node)
        return marks


def _field_marks(bare: str, word: str) -> set[Mark] | None:
    """The marks that a field gives to a step; ``None`` if the field is not a mark."""
    true, false = word in keys.TRUE_WORDS, word in keys.FALSE_WORDS or not word
    if bare in keys.REMOVED_KEYS and (true or false):
        return {Mark.REMOVED} if true else set()
    if bare in keys.KEPT_KEYS and (true or word in keys.FALSE_WORDS):
        return set() if true else {Mark.REMOVED}
    if bare in keys.DONE_KEYS and (true or false):
        return {Mark.TICKED if true else Mark.UNTICKED}
    if bare in keys.SUCCESS_KEYS and (true or word in keys.FALSE_WORDS):
        return set() if true else {Mark.FAILED}
    if bare not in keys.STATUS_KEYS:
        return None
    word = bare_key(word)
    if word in keys.CHOSEN_WORDS:
        return {Mark.TICKED}
    if word in keys.REMOVED_WORDS:
        return {Mark.REMOVED}
    if word in keys.FAILED_WORDS:
        return {Mark.FAILED}
    if word in keys.DONE_WORDS or word == "true":
        return {Mark.TICKED} if bare in ("status", "state") else set()
    return {Mark.UNTICKED} if word in keys.PENDING_WORDS else None


def _one_mark(marks: set[Mark], node: Node) -> Mark:
    """The deciding mark of several fields."""
    if Mark.REMOVED in marks and Mark.TICKED in marks:
        raise _Wrong(SC.NOT_UNDERSTOOD, "this is marked as removed and as done", node, _STEPS_DIFFER)
    return next((mark for mark in (Mark.FAILED, Mark.REMOVED, Mark.TICKED, Mark.UNTICKED) if mark in marks), Mark.NONE)


def _word(node: Node) -> str:
    """The value of a field as a mark: in lower case, without what separates its words."""
    word = node.text.strip().lower()
    return _TICKS.get(word, word)


def _digits(text: str) -> str:
    bare = text.strip("*`. #()").removeprefix("step").strip()
    return bare if bare.isdecimal() and len(bare) < 6 else ""


def _is_harmless(bare: str, word: str, node: Node) -> bool:
    """Whether a field is irrelevant to the steps."""
    if _is_empty(node):
        return True
    if node.kind not in (Kind.TEXT, Kind.WORD):
        return False
    if bare == "role":
        return word == "assistant"
    if bare == "type":
        return bare_key(node.text) in keys.CALL_KINDS
    if bare in keys.HARMLESS_WHEN_FALSE and word in ("false", "0", "no"):
        return True
    return bare in _STEP_FIELDS or (bare in ("repeat", "times") and word == "1")


def _is_empty(node: Node) -> bool:
    """Whether a value says nothing."""
    if node.kind is Kind.WORD:
        return node.text in ("null", "None", "~", "")
    return node.kind is not Kind.CALL and not node.items and node.text.strip() in _NOTHING
