"""The graph of a plan: networkx, and DOT text whose quotes no name can end."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from causal_cases import kitchen
from hypothesis import given
from hypothesis import strategies as st

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.causal_links import Link, OpenPrecondition, Threat
from plansafe.verifier.diagnose.causal_structure import CausalStructure, find_causal_structure
from plansafe.verifier.diagnose.graph import MissingExtraError, make_dot_text, make_networkx_graph, make_plan_graph
from plansafe.verifier.diagnose.model import Diagnosis
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairResult, RepairStatus

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|->|[\w]+|[\[\]{}=,;]|(\s+)', re.DOTALL)


def tokens(text: str) -> list[str]:
    """Return the tokens of a DOT text; a string keeps its opening quote, which distinguishes it from a word."""
    words, at = [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None, f"not DOT: {text[at : at + 40]!r}"
        if token[2] is None:
            words.append('"' + token[1] if token[1] is not None else token[0])
        at = token.end()
    return words


def labels(words: list[str]) -> Iterator[str]:
    """The labels that Graphviz shows: strings after ``label =``, unescaped."""
    for attribute, sign, value in zip(words, words[1:], words[2:], strict=False):
        if (attribute, sign) == ("label", "="):
            assert value[0] == '"'
            yield re.sub(r"\\(.)", r"\1", value[1:]).replace("&amp;", "&")


def structure(checker: Checker, text: str) -> CausalStructure:
    return find_causal_structure(checker, checker.read(Source("p", text)).steps)


def repair_of(checker: Checker, steps: list[str], origin: list[int], *edits: Edit) -> Repair:
    report = checker.check(Source("q", "\n".join(steps)))
    return Repair(tuple(steps), tuple(origin), edits, len(edits), report)


def edit(kind: EditKind, step: int, position: int, before: str, after: str) -> Edit:
    return Edit(kind, step, position, before, after)


@given(st.lists(st.text(max_size=8), min_size=3, max_size=6))
def test_no_name_gets_out_of_its_quotes(names: list[str]) -> None:
    steps = tuple([f"(go {name})" for name in names])
    causal_structure = CausalStructure(
        steps,
        (Link(0, names[0], 1, "step"), Link(1, names[1], 2, "rule", True, names[2])),
        (OpenPrecondition(2, names[1], True),),
        (Threat(1, names[2], 2),),
        (),
    )
    words = tokens(make_dot_text(causal_structure))
    printable = [c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in f"undoes {names[2]}"]
    assert "".join(printable) in list(labels(words))
    assert words.count("->") == 4
    assert words.count(";") == 1 + len(make_plan_graph(causal_structure).nodes) + 4
    assert [words[0], words[-1]] == ["digraph", "}"]


@pytest.mark.parametrize(
    "name", ['a"];evil[label="b', "a\\", "\\N", "a\\\\", "&lt;b&gt;", "x\ny", "]", "/*", "//", "<b>"]
)
def test_hostile_names_are_shown_as_they_are(name: str) -> None:
    causal_structure = CausalStructure((name,), (), (), (), ())
    words = tokens(make_dot_text(causal_structure))
    assert list(labels(words)) == ["initial state", f"1 {name}".replace("\n", "\N{REPLACEMENT CHARACTER}"), "goal"]


def test_nodes_and_edges_of_a_broken_plan() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    checker = kitchen()
    causal_structure = structure(checker, "(switch-on hob kitchen) (go kitchen hall) (switch-off hob kitchen)")
    digraph = make_networkx_graph(causal_structure)
    assert isinstance(digraph, networkx.MultiDiGraph)
    kinds = {(a, b, data["kind"], data["label"]) for a, b, data in digraph.edges(data=True)}
    assert ("step 1", "step 3", "link", "(on hob)") in kinds
    assert ("missing", "step 3", "open", "(robot-in kitchen)") in kinds
    assert ("step 2", "step 3", "threat", "undoes (robot-in kitchen)") in kinds
    assert ("step 2", "goal", "link", "(robot-in hall)") in kinds
    rule = "rule off-before-leaving for kitchen, hall, hob at 2"
    assert ("step 1", rule, "rule", "(on hob)") in kinds
    assert networkx.is_directed_acyclic_graph(digraph)
    assert "start" not in {a for a, _ in make_networkx_graph(causal_structure, initial=False).edges()}


def test_without_networkx_the_text_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"-m pip install 'networkx"):
        make_networkx_graph(CausalStructure((), (), (), (), ()))


def test_the_best_repair_is_marked() -> None:
    checker = kitchen()
    on, go, off = "(switch-on hob kitchen)", "(go kitchen hall)", "(switch-off hob kitchen)"
    causal_structure = structure(checker, f"{on} {go}")
    inserted = edit(EditKind.INSERT, 0, 2, "", off)._replace(reason="keeps rule `off-before-leaving`")
    repair = repair_of(checker, [on, off, go], [1, 0, 2], inserted)
    result = RepairResult(RepairStatus.FOUND, (repair,), 1, True)
    diagnosis = Diagnosis("p", repair.report, (), result)
    graph = make_plan_graph(causal_structure, diagnosis)
    assert [(node.kind, node.label) for node in graph.nodes if node.edit] == [("inserted", off)]
    assert [(edge.source, edge.target, edge.label) for edge in graph.edges if edge.kind == "before"] == [
        ("inserted 1", "step 2", "keeps rule `off-before-leaving`"),
    ]
    assert "style=dotted, color=darkgreen" in make_dot_text(causal_structure, diagnosis)
    changed = repair_of(
        checker,
        [go, on],
        [2, 1],
        edit(EditKind.MOVE, 2, 1, go, go),
        edit(EditKind.SUBSTITUTE, 1, 2, on, "(light hall)"),
    )
    diagnosis = diagnosis._replace(repair=result._replace(repairs=(changed,)))
    assert {
        (node.name, node.edit, node.label) for node in make_plan_graph(causal_structure, diagnosis).nodes if node.edit
    } == {
        ("step 2", "move", f"2 {go} -> place 1"),
        ("step 1", "substitute", f"1 {on} -> (light hall)"),
    }
