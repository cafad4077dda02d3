"""The part of XML Schema that ``junit-10.xsd`` uses: elements by reference, sequences, choices, attributes, patterns.

A content model is a regular expression over names of elements, by definition (XML Schema 1.0, part 1, section 3.8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_XS = "{http://www.w3.org/2001/XMLSchema}"
_SUPPORTED = frozenset(("annotation", "attribute", "choice", "complexType", "element", "sequence"))


class Schema:
    """A schema without a namespace. Raises ``ValueError`` for an unsupported part of XML Schema."""

    def __init__(self, path: Path) -> None:
        root = ElementTree.parse(path).getroot()
        self._elements = {node.attrib["name"]: node for node in root.findall(f"{_XS}element")}
        self._types = {node.attrib["name"]: node for node in root.findall(f"{_XS}complexType")}
        patterns = {n.attrib["name"]: n.find(f".//{_XS}pattern") for n in root.findall(f"{_XS}simpleType")}
        self._patterns = {name: node.attrib["value"] for name, node in patterns.items() if node is not None}

    def problems(self, text: str) -> Iterator[str]:
        """Yield the errors of a document."""
        root = ElementTree.fromstring(text)
        if root.tag not in self._elements:
            yield f"no element {root.tag}"
            return
        pending = [root]
        while pending:
            node = pending.pop()
            yield from self._node(node, self._elements[node.tag])
            pending += [child for child in node if child.tag in self._elements]

    def _node(self, node: Element, declaration: Element) -> Iterator[str]:
        kind = declaration.find(f"{_XS}complexType")
        if kind is None:
            name = declaration.attrib["type"]
            kind = self._types.get(name)
            if kind is None:
                if name != "xs:string":
                    raise ValueError(name)
                if len(node) or node.attrib:
                    yield f"{node.tag} may hold only text"
                return
        unsupported = {child.tag.removeprefix(_XS) for child in kind.iter()} - _SUPPORTED
        if unsupported:
            raise ValueError(f"unsupported: {unsupported}")
        content = "".join([self._model(part) for part in kind if part.tag in (f"{_XS}choice", f"{_XS}sequence")])
        names = "".join([f"{child.tag};" for child in node])
        if re.fullmatch(content, names) is None:
            yield f"{node.tag} holds {names or 'nothing'}"
        if kind.get("mixed") != "true" and any(
            [text and text.strip() for text in (node.text, *[c.tail for c in node])]
        ):
            yield f"{node.tag} holds text"
        yield from self._attributes(node, kind)

    def _attributes(self, node: Element, kind: Element) -> Iterator[str]:
        declarations = {declaration.attrib["name"]: declaration for declaration in kind.findall(f"{_XS}attribute")}
        yield from [f"{node.tag} has {name}" for name in node.attrib if name not in declarations]
        for name, declaration in declarations.items():
            if name not in node.attrib and declaration.get("use") == "required":
                yield f"{node.tag} lacks {name}"
            pattern = self._patterns.get(declaration.attrib["type"])
            if pattern is not None and name in node.attrib and re.fullmatch(pattern, node.attrib[name]) is None:
                yield f"{node.tag} has {name}={node.attrib[name]}"

    def _model(self, part: Element) -> str:
        if part.tag == f"{_XS}element":
            inner = f"{re.escape(part.get('ref') or part.attrib['name'])};"
        else:
            inner = ("|" if part.tag == f"{_XS}choice" else "").join([self._model(child) for child in part])
        most = part.get("maxOccurs", "1")
        return f"(?:{inner}){{{part.get('minOccurs', '1')},{'' if most == 'unbounded' else most}}}"
