"""XML as values, by expat: without document types, so that no entity is ever expanded."""

from __future__ import annotations

import re
from xml.parsers import expat

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused
from plansafe.llm.structured.keys import ACTION_KEYS, bare_key
from plansafe.llm.structured.tree import (
    DEPTH,
    MOST_NODES,
    BytePlaces,
    Document,
    Format,
    Kind,
    Node,
    NotThisFormat,
    Unreadable,
    breaks_off,
    not_understood,
    too_deep,
)

_PLANS = frozenset(("plan", "steps", "actions", "sequence", "actionsequence", "answer", "output", "response", "root"))
_GROUPS_OF_STEPS = frozenset(("phase", "group", "stage", "section", "subplan"))
_STEPS = frozenset(("step", "action", "item", "task", "move", "command", "invoke", "call", "toolcall", "functioncall"))
_ARGUMENTS = frozenset(("arg", "argument", "param", "parameter", "object"))
_GROUPS = frozenset(("args", "arguments", "params", "parameters", "objects"))
OPENING = re.compile(r"<(?:\?xml\b|!--|([A-Za-z][\w.-]{0,60})(?=[\s/>]))")


def xml_end(text: str, start: int, end: int) -> int:
    """Return where the element that begins at ``start`` ends, and comments and a declaration before it.

    Raises :class:`NotThisFormat` if it is not well-formed XML.
    """
    reader = _Reader(text, start, end)
    return reader.read()[1]


def read_xml(text: str, start: int, end: int) -> Document:
    """Return the element that begins at ``start`` as values.

    Raises :class:`NotThisFormat` if it is not XML, or holds no steps; :class:`Unreadable` if it declares a document
    type, or nests too deeply.
    """
    root, stop, comments = _Reader(text, start, end).read()
    return Document(Format.XML, (_value(root, True),), start, stop, tuple(comments))


class _Element:
    """An element that is being read, or was."""

    def __init__(self, tag: str, attributes: dict[str, str], start: int, whole: str) -> None:
        self.tag, self.attributes, self.start, self.whole = tag, attributes, start, whole
        self.end = start
        self.children: list[_Element] = []
        self.texts: list[str] = []

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


class _Stop(Exception):
    """The outermost element has ended."""


class _Reader:
    """One element, read by expat."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.body = text[start:end]
        self.stack: list[_Element] = []
        self.root: _Element | None = None
        self.comments: list[Span] = []
        self.count = 0
        self.places = BytePlaces(self.body)
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close
        self.parser.CharacterDataHandler = self._data
        self.parser.CommentHandler = self._comment
        self.parser.ProcessingInstructionHandler = self._instruction
        self.parser.StartDoctypeDeclHandler = self._document_type

    def read(self) -> tuple[_Element, int, list[Span]]:
        """Return the element, where it ends, and the places of comments."""
        try:
            self.parser.Parse(self.body.encode("utf-8", "surrogatepass"), True)
        except _Stop:
            pass
        except expat.ExpatError:
            if self.stack and self.parser.CurrentByteIndex >= len(self.body.encode("utf-8", "surrogatepass")):
                raise breaks_off("an element that is not closed", self.start) from None
            raise NotThisFormat from None
        if self.root is None:
            raise NotThisFormat
        return self.root, self.root.end, self.comments

    def _place(self) -> int:
        return self.start + self.places.offset(self.parser.CurrentByteIndex)

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.stack) == DEPTH:
            raise too_deep(self._place())
        if self.count > MOST_NODES:
            refused = Refused(SC.TEXT_TOO_LARGE, f"more than {MOST_NODES:,} elements")
            raise Unreadable(refused, self.start, self.start + 1)
        element = _Element(tag, attributes, self._place(), self.text)
        if self.stack:
            self.stack[-1].children.append(element)
        self.stack.append(element)

    def _close(self, _tag: str) -> None:
        element = self.stack.pop()
        closing = self.text.find(">", self._place(), self.end)
        element.end = (self.end if closing < 0 else closing) + 1
        if not self.stack:
            self.root = element
            raise _Stop

    def _data(self, data: str) -> None:
        if self.stack:
            self.stack[-1].texts.append(data)

    def _comment(self, _data: str) -> None:
        begin = self._place()
        stop = self.text.find("-->", begin, self.end)
        self.comments.append(Span(begin + 4, max(stop, begin + 5)))

    def _instruction(self, *_: object) -> None:
        begin = self._place()
        raise not_understood("processing instructions of XML are not read", begin, begin + 2)

    def _document_type(self, *_: object) -> None:
        raise not_understood("document types and entities of XML are not read", self.start, self.start + 1)


def _node(text: str, element: _Element) -> Node:
    """A text of an element, in its place if the source has it letter by letter."""
    at = element.whole.find(text, element.start, element.end) if text else -1
    if at < 0:
        return Node(Kind.TEXT, text, element.start, element.end)
    return Node(Kind.TEXT, text, at, at + len(text))


def _value(element: _Element, outermost: bool = False) -> Node:
    """An element as a value: a list of steps, a step, or a text."""
    tag = bare_key(element.tag)
    children = element.children
    tags = {bare_key(child.tag) for child in children}
    if not children and not element.attributes and not outermost:
        return _node(element.text, element) if tag in _STEPS else _step(element)
    grouped = not outermost and tag in _GROUPS_OF_STEPS and tags <= _STEPS
    listed = bool(children) and (
        tag in _PLANS or grouped or (len(children) > 1 and len(tags) == 1 and tag not in _STEPS)
    )
    if children and outermost and tag not in _STEPS:
        listed = listed or not tags <= (ACTION_KEYS | _ARGUMENTS | _GROUPS)
    if not listed:
        return _step(element)
    if element.text:
        raise not_understood("text between the elements of a plan is not understood", element.start, element.end)
    inner = [child for child in children if bare_key(child.tag) in _PLANS]
    items = tuple([_value(child) for child in children])
    if inner or element.attributes:  # the plan is one of its fields
        keys = [*element.attributes, *[child.tag for child in children if child in inner]]
        values = [*[_node(value, element) for value in element.attributes.values()]]
        if not inner:
            keys, values = [*keys, "plan"], [*values, Node(Kind.LIST, "", element.start, element.end, items)]
        else:
            values += [item for child, item in zip(children, items, strict=True) if child in inner]
            other_children = [child for child in children if child not in inner]
            keys += [child.tag for child in other_children]
            values += [_node(child.text, child) if not child.children else _step(child) for child in other_children]
        return Node(Kind.MAP, "", element.start, element.end, tuple(values), tuple(keys))
    return Node(Kind.LIST, "", element.start, element.end, items)


def _step(element: _Element) -> Node:
    """An element as the fields of a step: attributes, children, and its text or its tag as the action."""
    keys: list[str] = []
    values: list[Node] = []
    arguments: list[Node] = []
    labels: list[str] = []
    for name, value in element.attributes.items():
        keys.append(name)
        values.append(_node(value, element))
    for child in element.children:
        tag = bare_key(child.tag)
        if tag in _GROUPS and child.children:
            if child.attributes or child.text:
                raise not_understood("these arguments are not understood", child.start, child.end)
            for argument in child.children:
                _argument(argument, arguments, labels)
        elif tag in _ARGUMENTS:
            _argument(child, arguments, labels)
        elif child.children or child.attributes:
            raise not_understood(f"the element `{child.tag}` in a step is not understood", child.start, child.end)
        else:
            keys.append(child.tag)
            values.append(_node(child.text, child))
    if arguments:
        labelled = all(labels)
        if any(labels) and not labelled:
            raise not_understood("some arguments have names and some have none", element.start, element.end)
        keys.append("args")
        kind = Kind.MAP if labelled else Kind.LIST
        names = tuple(labels) if labelled else ()
        values.append(Node(kind, "", element.start, element.end, tuple(arguments), names))
    has_name = any([bare_key(key) in ACTION_KEYS for key in keys])
    if element.text:
        if has_name:
            keys.append("note")
        else:
            keys.append("action")
            has_name = True
        values.append(_node(element.text, element))
    if not has_name:
        if bare_key(element.tag) in _STEPS | _PLANS:
            raise not_understood("this element names no action", element.start, element.end)
        keys.append("action")
        values.append(_node(element.tag, element))
    return Node(Kind.MAP, "", element.start, element.end, tuple(values), tuple(keys))


def _argument(element: _Element, arguments: list[Node], labels: list[str]) -> None:
    """``<arg>milk</arg>``, ``<parameter name="obj">milk</parameter>`` or ``<obj>milk</obj>`` within arguments."""
    fields = {bare_key(name): value for name, value in element.attributes.items()}
    label = fields.pop("name", "")
    value = element.text or fields.pop("value", "")
    if fields or element.children or not value:
        raise not_understood("this argument is not understood", element.start, element.end)
    generic = bare_key(element.tag) in _ARGUMENTS | {"value", "item"}
    arguments.append(_node(value, element))
    labels.append(label or ("" if generic else element.tag))
