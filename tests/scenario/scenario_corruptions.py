"""Corruptions of correct tasks: the mistakes that language models and people make in PDDL, one function per kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source


class Texts(NamedTuple):
    """A domain and a problem."""

    domain: str
    problem: str


class Tree:
    """A PDDL file: its text, its tree and the place of each node."""

    def __init__(self, text: str) -> None:
        self.text = text
        source = Source("x", text)
        top = parse_nodes(source)
        assert top is not None
        assert isinstance(top[0], list)
        self.form: list[Node] = top[0]
        self.places = Places(source, top)

    def sections(self, *heads: str) -> list[list[Node]]:
        return [n for n in self.form[1:] if isinstance(n, list) and n and n[0] in heads]

    def field(self, action: list[Node], key: str) -> Node | None:
        return action[action.index(key) + 1] if key in action else None

    def span(self, node: list[Node], child: int | None = None) -> tuple[int, int]:
        place = self.places.span(node, child)
        return place.start, place.end

    def slice(self, node: list[Node], child: int | None = None) -> str:
        start, end = self.span(node, child)
        return self.text[start:end]

    def replace_node(self, node: list[Node], child: int | None, text: str) -> str:
        start, end = self.span(node, child)
        return self.text[:start] + text + self.text[end:]

    def atoms(self, node: Node) -> list[list[Node]]:
        """Return the atoms below a node: lists of words without an operator at the start."""
        atoms_below: list[list[Node]] = []
        stack = [node]
        while stack:
            part = stack.pop()
            if isinstance(part, list) and part:
                words = all([isinstance(word, str) for word in part])
                if words and part[0] not in ("and", "or", "=") and not str(part[0]).startswith(("?", ":")):
                    atoms_below.append(part)
                elif part[0] in ("forall", "exists"):
                    stack.extend(part[2:])
                else:
                    stack.extend(part)
        return atoms_below


Kind = Callable[[Random, Texts], Texts | None]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    KINDS[function.__name__.replace("_", "-")] = function
    return function


def _either(rng: Random, texts: Texts, change: Callable[[str], str | None]) -> Texts | None:
    """Change one of the two texts."""
    field = rng.choice(("domain", "problem"))
    new = change(getattr(texts, field))
    return None if new is None else texts._replace(**{field: new})


def _facts(tree: Tree) -> list[list[Node]]:
    return [f for s in tree.sections(":init") for f in s[1:] if isinstance(f, list) and f[0] not in ("not", "=", "at")]


def _goals(tree: Tree) -> list[list[Node]]:
    return [a for s in tree.sections(":goal") for a in tree.atoms(s[1])]


def _conditions(tree: Tree) -> list[list[Node]]:
    out = []
    for action in tree.sections(":action"):
        for key in (":precondition", ":effect"):
            value = tree.field(action, key)
            if value is not None:
                out += tree.atoms(value)
    return out


def _pick(rng: Random, candidates: list[list[Node]]) -> list[Node] | None:
    return rng.choice(candidates) if candidates else None


def _slip(rng: Random, name: str) -> str:
    """Return the name with one typing error in its letters."""
    letters = [i for i, c in enumerate(name) if c.isalpha() and i > 0]
    if len(name) < 5 or len(letters) < 3:
        return name
    index = rng.choice(letters[:-1])
    error = rng.randrange(4)
    if error == 0:
        return name[:index] + name[index + 1 :]
    if error == 1:
        return name[:index] + name[index] + name[index:]
    if error == 2:
        return name[:index] + rng.choice("aeiortn") + name[index + 1 :]
    return name[:index] + name[index + 1] + name[index] + name[index + 2 :]


def _pick_atom(rng: Random, texts: Texts) -> tuple[str, Tree, list[Node]] | None:
    """Pick a random atom of the problem or the domain; return it after its field of ``Texts`` and the tree."""
    field = rng.choice(("problem", "problem", "domain"))
    tree = Tree(getattr(texts, field))
    atom = _pick(rng, _conditions(tree) if field == "domain" else _facts(tree) + _goals(tree))
    return None if atom is None else (field, tree, atom)


# -- parentheses, and text around the PDDL ----------------------------------------------------------------------------


@kind
def last_parenthesis(rng: Random, texts: Texts) -> Texts | None:
    return _either(rng, texts, lambda text: text.rstrip()[:-1] + "\n")


@kind
def section_parenthesis(rng: Random, texts: Texts) -> Texts | None:
    def change(text: str) -> str:
        tree = Tree(text)
        sections = [n for n in tree.form[2:] if isinstance(n, list)]
        end = tree.span(rng.choice(sections))[1]
        return text[: end - 1] + text[end:]

    return _either(rng, texts, change)


@kind
def atom_parenthesis(rng: Random, texts: Texts) -> Texts | None:
    place = _pick_atom(rng, texts)
    if place is None:
        return None
    field, tree, atom = place
    end = tree.span(atom)[1]
    return texts._replace(**{field: tree.text[: end - 1] + tree.text[end:]})


@kind
def field_parenthesis(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    action = rng.choice(tree.sections(":action"))
    key = rng.choice((":parameters", ":precondition", ":effect"))
    value = tree.field(action, key)
    if not isinstance(value, list) or not value:
        return None
    end = tree.span(value)[1]
    return texts._replace(domain=tree.text[: end - 1] + tree.text[end:])


@kind
def parenthesis_too_many_at_the_end(rng: Random, texts: Texts) -> Texts | None:
    return _either(rng, texts, lambda text: text.rstrip() + ")" * rng.randint(1, 2) + "\n")


@kind
def parenthesis_too_many(rng: Random, texts: Texts) -> Texts | None:
    def change(text: str) -> str:
        tree = Tree(text)
        nodes = [n for n in tree.form[2:] if isinstance(n, list)] + _facts(tree)
        end = tree.span(rng.choice(nodes))[1]
        return text[:end] + ")" + text[end:]

    return _either(rng, texts, change)


@kind
def opening_parenthesis(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, _facts(tree))
    if atom is None:
        return None
    start = tree.span(atom)[0]
    return texts._replace(problem=tree.text[:start] + tree.text[start + 1 :])


@kind
def markdown_fence(rng: Random, texts: Texts) -> Texts | None:
    word = rng.choice(("pddl", "lisp", ""))
    return _either(rng, texts, lambda text: f"```{word}\n{text.rstrip()}\n```\n")


@kind
def prose_around(rng: Random, texts: Texts) -> Texts | None:
    before = rng.choice(("Here is the file you asked for:\n\n", "Sure! Below is the PDDL.\n"))
    after = rng.choice(("", "\nThis makes sure that the robot stays safe.\n", "\nLet me know if you need changes!\n"))
    return _either(rng, texts, lambda text: before + text + after)


@kind
def fence_and_prose(rng: Random, texts: Texts) -> Texts | None:
    return _either(
        rng, texts, lambda text: f"Here is the file:\n\n```pddl\n{text.rstrip()}\n```\n\nIt has been checked.\n"
    )


@kind
def foreign_comment(rng: Random, texts: Texts) -> Texts | None:
    def change(text: str) -> str:
        tree = Tree(text)
        nodes = [n for n in tree.form[2:] if isinstance(n, list)]
        end = tree.span(rng.choice(nodes))[1]
        return f"{text[:end]} // what comes next (see above)\n{text[end:]}"

    return _either(rng, texts, change)


# -- words ------------------------------------------------------------------------------------------------------------


@kind
def quoted_object(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if len(f) > 1])
    if atom is None:
        return None
    child = rng.randrange(1, len(atom))
    return texts._replace(problem=tree.replace_node(atom, child, f'"{tree.slice(atom, child)}"'))


@kind
def commas(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if len(f) > 2])
    return None if atom is None else texts._replace(problem=tree.replace_node(atom, 1, tree.slice(atom, 1) + ","))


@kind
def long_dash(rng: Random, texts: Texts) -> Texts | None:
    return texts._replace(problem=texts.problem.replace(" - ", " \u2013 ", 1)) if " - " in texts.problem else None


@kind
def double_equals(rng: Random, texts: Texts) -> Texts | None:
    return texts._replace(domain=texts.domain.replace("(= ", "(== ")) if "(= ?" in texts.domain else None


@kind
def foreign_operator(rng: Random, texts: Texts) -> Texts | None:
    old, new = rng.choice((("(not ", "(! "), ("(and ", "(&& "), ("(or ", "(|| "), ("(exists ", "(\u2203 ")))
    places = [m.start() for m in re.finditer(re.escape(old), texts.domain)]
    if not places:
        return None
    start = rng.choice(places)
    return texts._replace(domain=texts.domain[:start] + new + texts.domain[start + len(old) :])


@kind
def truth_value(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    fact = _pick(rng, _facts(tree))
    if fact is None:
        return None
    end = tree.span(fact)[1]
    return texts._replace(problem=tree.text[: end - 1] + " true)" + tree.text[end:])


@kind
def no_question_mark(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    atom = _pick(rng, [a for a in _conditions(tree) if any(str(w).startswith("?") for w in a[1:])])
    if atom is None:
        return None
    child = rng.choice([c for c in range(1, len(atom)) if str(atom[c]).startswith("?")])
    return texts._replace(domain=tree.replace_node(atom, child, tree.slice(atom, child)[1:]))


@kind
def no_dash(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    dashes = [c for c in range(1, len(section)) if section[c] == "-"]
    if not dashes:
        return None
    child = rng.choice(dashes)
    start, end = tree.span(section, child)
    return texts._replace(problem=tree.text[:start].rstrip() + tree.text[end:])


# -- names ------------------------------------------------------------------------------------------------------------


@kind
def predicate_slip(rng: Random, texts: Texts) -> Texts | None:
    place = _pick_atom(rng, texts)
    if place is None:
        return None
    field, tree, atom = place
    new = _slip(rng, str(atom[0]))
    return None if new == atom[0] else texts._replace(**{field: tree.replace_node(atom, 0, new)})


@kind
def predicate_inflected(rng: Random, texts: Texts) -> Texts | None:
    place = _pick_atom(rng, texts)
    if place is None:
        return None
    field, tree, atom = place
    name = str(atom[0])
    new = rng.choice((f"is_{name}", f"is-{name}", name + "ed", name.replace("_", "-")))
    return None if new == name else texts._replace(**{field: tree.replace_node(atom, 0, new)})


@kind
def predicate_undeclared(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    used = {a[0] for a in _conditions(tree)} | {f[0] for f in _facts(Tree(texts.problem)) + _goals(Tree(texts.problem))}
    declared = [n for n in tree.sections(":predicates")[0][1:] if isinstance(n, list) and n[0] in used]
    return texts._replace(domain=tree.replace_node(rng.choice(declared), None, ""))


@kind
def type_undeclared(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    section = tree.sections(":types")[0]
    words = {*re.findall(r"[^\s()]+", texts.problem.lower())} - {"-"}
    following = [*section[2:], "-"]
    used = [c for c in range(1, len(section)) if section[c] in words and "-" not in (section[c - 1], following[c - 1])]
    return texts._replace(domain=tree.replace_node(section, rng.choice(used), "")) if used else None


@kind
def no_dash_in_types(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    section = tree.sections(":types")[0]
    dashes = [c for c in range(1, len(section)) if section[c] == "-"]
    if not dashes:
        return None
    start, end = tree.span(section, rng.choice(dashes))
    return texts._replace(domain=tree.text[:start].rstrip() + tree.text[end:])


@kind
def object_undeclared(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    used = {word for a in _facts(tree) + _goals(tree) for word in a[1:]}
    declared = [c for c in range(1, len(section)) if section[c] in used and section[c - 1] != "-"]
    if not declared:
        return None
    child = rng.choice(declared)
    only_object_of_type = section[child + 1 : child + 2] == ["-"] and (child == 1 or section[child - 2] == "-")
    start = tree.span(section, child)[0]
    end = tree.span(section, child + 2 if only_object_of_type else child)[1]
    return texts._replace(problem=tree.text[:start] + tree.text[end:])


@kind
def object_slip(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if len(f) > 1])
    if atom is None:
        return None
    child = rng.randrange(1, len(atom))
    new = _slip(rng, str(atom[child]))
    return None if new == atom[child] else texts._replace(problem=tree.replace_node(atom, child, new))


@kind
def type_slip(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    child = rng.choice([c for c in range(2, len(section)) if section[c - 1] == "-"])
    new = _slip(rng, str(section[child]))
    return None if new == section[child] else texts._replace(problem=tree.replace_node(section, child, new))


@kind
def variable_slip(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    atom = _pick(rng, [a for a in _conditions(tree) if any(len(str(w)) > 5 and str(w)[0] == "?" for w in a[1:])])
    if atom is None:
        return None
    child = rng.choice([c for c in range(1, len(atom)) if len(str(atom[c])) > 5 and str(atom[c])[0] == "?"])
    new = "?" + _slip(rng, str(atom[child])[1:])
    return None if new == atom[child] else texts._replace(domain=tree.replace_node(atom, child, new))


@kind
def split_object(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if any("_" in str(w) or "-" in str(w) for w in f[1:])])
    if atom is None:
        return None
    child = rng.choice([c for c in range(1, len(atom)) if "_" in str(atom[c]) or "-" in str(atom[c])])
    name = str(atom[child])
    separator = rng.choice([i for i, c in enumerate(name) if c in "_-"])
    return texts._replace(problem=tree.replace_node(atom, child, f"{name[:separator]} {name[separator + 1 :]}"))


@kind
def agent_parameter_missing(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    agent_parameters = []
    for action in tree.sections(":action"):
        value = tree.field(action, ":parameters")
        if isinstance(value, list):
            words = {
                word
                for key in (":precondition", ":effect")
                for a in tree.atoms(tree.field(action, key) or [])
                for word in a
            }
            positions = (0, len(value) - 3)
            agents = [
                c for c in positions if value[c + 1] == "-" and value[c + 2] in ("agent", "robot") and value[c] in words
            ]
            agent_parameters += [(value, c) for c in agents]
    if not agent_parameters:
        return None
    value, child = rng.choice(agent_parameters)
    start, end = tree.span(value, child)[0], tree.span(value, child + 2)[1]
    return texts._replace(domain=tree.text[:start] + tree.text[end:])


@kind
def wrong_domain_name(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    return texts._replace(problem=tree.replace_node(tree.sections(":domain")[0], 1, "my-domain"))


@kind
def no_domain_name(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    return texts._replace(problem=tree.replace_node(tree.sections(":domain")[0], None, ""))


# -- arguments and types ----------------------------------------------------------------------------------------------


@kind
def agent_too_many(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    agents = [
        str(section[c])
        for c in range(1, len(section) - 2)
        if section[c + 1] == "-" and section[c + 2] in ("agent", "robot")
    ]
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if agents and agents[0] not in f])
    if atom is None:
        return None
    return texts._replace(problem=tree.replace_node(atom, 0, f"{atom[0]} {agents[0]}"))


@kind
def number_too_many(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    fact = _pick(rng, _facts(tree))
    if fact is None:
        return None
    end = tree.span(fact)[1]
    return texts._replace(problem=tree.text[: end - 1] + f" {rng.randint(1, 100)})" + tree.text[end:])


@kind
def argument_repeated(rng: Random, texts: Texts) -> Texts | None:
    place = _pick_atom(rng, texts)
    if place is None or len(place[2]) < 2:
        return None
    field, tree, atom = place
    child = rng.randrange(1, len(atom))
    word = tree.slice(atom, child)
    return texts._replace(**{field: tree.replace_node(atom, child, f"{word} {word}")})


@kind
def argument_missing(rng: Random, texts: Texts) -> Texts | None:
    place = _pick_atom(rng, texts)
    if place is None or len(place[2]) < 2:
        return None
    field, tree, atom = place
    return texts._replace(**{field: tree.replace_node(atom, rng.randrange(1, len(atom)), "")})


@kind
def wrong_type(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    type_positions = [c for c in range(2, len(section)) if section[c - 1] == "-"]
    types = sorted({str(section[c]) for c in type_positions})
    child = rng.choice(type_positions)
    other_types = [k for k in types if k != section[child]]
    return texts._replace(problem=tree.replace_node(section, child, rng.choice(other_types))) if other_types else None


# -- shape ------------------------------------------------------------------------------------------------------------


@kind
def and_missing_in_action(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    conjunctions = []
    for action in tree.sections(":action"):
        for key in (":precondition", ":effect"):
            conjunction = tree.field(action, key)
            if isinstance(conjunction, list) and conjunction[:1] == ["and"] and len(conjunction) > 2:
                conjunctions.append(conjunction)
    conjunction = rng.choice(conjunctions)
    if rng.random() < 0.5:
        return texts._replace(domain=tree.replace_node(conjunction, 0, ""))
    start, end = tree.span(conjunction)
    inner = tree.text[tree.span(conjunction, 0)[1] : end - 1]
    return texts._replace(domain=tree.text[:start] + inner + tree.text[end:])


@kind
def and_missing_in_goal(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    conjunction = tree.sections(":goal")[0][1]
    if not isinstance(conjunction, list) or conjunction[:1] != ["and"] or len(conjunction) < 3:
        return None
    if rng.random() < 0.5:
        return texts._replace(problem=tree.replace_node(conjunction, 0, ""))
    start, end = tree.span(conjunction)
    return texts._replace(
        problem=tree.text[:start] + tree.text[tree.span(conjunction, 0)[1] : end - 1] + tree.text[end:]
    )


@kind
def and_in_init(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":init")[0]
    start, end = tree.span(section, 0)[1], tree.span(section)[1] - 1
    return texts._replace(problem=f"{tree.text[:start]} (and {tree.text[start:end]}){tree.text[end:]}")


@kind
def requirements_missing(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    requirements = tree.sections(":requirements")
    if not requirements:
        return None
    if rng.random() < 0.5:
        return texts._replace(domain=tree.replace_node(requirements[0], None, ""))
    return texts._replace(domain=tree.replace_node(requirements[0], None, "(:requirements :strips)"))


@kind
def negated_fact(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":init")[0]
    goals = [a for a in _goals(tree) if a not in section and not any(str(w).startswith("?") for w in a)]
    atom = _pick(rng, goals)
    if atom is None:
        return None
    end = tree.span(section)[1] - 1
    return texts._replace(problem=f"{tree.text[:end]} (not {tree.slice(atom)}){tree.text[end:]}")


@kind
def keyword_misspelt(rng: Random, texts: Texts) -> Texts | None:
    old, new = rng.choice(
        (
            (":precondition", ":preconditions"), (":precondition", ":precond"), (":effect", ":effects"),
            (":parameters", ":parameter"), (":parameters", ":params"), (":predicates", ":predicate"),
            (":types", ":type"), (":effect", ":postcondition"),
        )
    )  # fmt: skip
    starts = [m.start() for m in re.finditer(old + r"\b", texts.domain)]
    if not starts:
        return None
    start = rng.choice(starts)
    return texts._replace(domain=texts.domain[:start] + new + texts.domain[start + len(old) :])


@kind
def section_misspelt(rng: Random, texts: Texts) -> Texts | None:
    old, new = rng.choice(
        (
            (":objects", ":object"),
            (":init", ":initial"),
            (":goal", ":goals"),
            (":init", "init"),
            (":objects", ":objets"),
        )
    )
    return texts._replace(problem=texts.problem.replace(f"({old}", f"({new}", 1))


@kind
def value_missing(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    actions = [a for a in tree.sections(":action") if tree.field(a, ":precondition") in ([], ["and"])]
    action = _pick(rng, actions)
    if action is None:
        return None
    keyword = action.index(":precondition")
    if rng.random() < 0.5:
        return texts._replace(domain=tree.replace_node(action, keyword + 1, rng.choice(("", "nil"))))
    start, end = tree.span(action, keyword)[0], tree.span(action, keyword + 1)[1]
    return texts._replace(domain=tree.text[:start] + tree.text[end:])


@kind
def declared_twice(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    if rng.random() < 0.3:
        problem = Tree(texts.problem)
        section = problem.sections(":objects")[0]
        child = next(c for c in range(2, len(section)) if section[c - 1] == "-")
        declaration = f" {problem.slice(section, child - 2)} - {problem.slice(section, child)}"
        end = problem.span(section)[1] - 1
        return texts._replace(problem=problem.text[:end] + declaration + problem.text[end:])
    node = rng.choice(
        [n for n in tree.sections(":predicates")[0][1:] if isinstance(n, list)] + tree.sections(":action")
    )
    end = tree.span(node)[1]
    return texts._replace(domain=f"{tree.text[:end]}\n    {tree.slice(node)}{tree.text[end:]}")


@kind
def contradictory_effect(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    effects = []
    for action in tree.sections(":action"):
        effect = tree.field(action, ":effect")
        if isinstance(effect, list) and effect[:1] == ["and"]:
            effects += [(effect, a) for a in effect[1:] if isinstance(a, list) and a and a in tree.atoms(a)]
    if not effects:
        return None
    effect, atom = rng.choice(effects)
    end = tree.span(effect)[1] - 1
    return texts._replace(domain=f"{tree.text[:end]} (not {tree.slice(atom)}){tree.text[end:]}")


@kind
def section_twice(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    section = tree.sections(":predicates")[0]
    if len(section) < 4:
        return None
    half = len(section) // 2
    position = tree.span(section, half)[0]
    return texts._replace(domain=f"{tree.text[:position]})\n  (:predicates\n    {tree.text[position:]}")


@kind
def name_with_foreign_characters(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    names = [str(n) for n in section[1:] if isinstance(n, str) and "_" in n and n not in texts.domain]
    if not names:
        return None
    old = rng.choice(names)
    new = old.replace("_", rng.choice((".", "'", "#", "/")))
    return texts._replace(problem=re.sub(rf"(?<![^\s()]){re.escape(old)}(?![^\s()])", lambda _: new, texts.problem))


@kind
def value_as_fact(rng: Random, texts: Texts) -> Texts | None:
    fluent_values = re.findall(r"\(= \((\S+ [^()]*)\) (\d+)\)", texts.problem)
    if not fluent_values:
        return None
    fluent, value = rng.choice(fluent_values)
    return texts._replace(problem=texts.problem.replace(f"(= ({fluent}) {value})", f"({fluent} {value})"))


@kind
def declared_with_another_arity(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    used = [a[0] for a in _conditions(tree)]
    nodes = [n for n in tree.sections(":predicates")[0][1:] if isinstance(n, list) and used.count(n[0]) > 2]
    node = rng.choice(nodes)
    end = tree.span(node)[1] - 1
    return texts._replace(domain=f"{tree.text[:end]} ?extra - object{tree.text[end:]}")


@kind
def quantifier_without_parentheses(rng: Random, texts: Texts) -> Texts | None:
    quantifiers = list(re.finditer(r"\((forall|exists)\s+\(([^()]*)\)", texts.domain))
    if not quantifiers:
        return None
    match = rng.choice(quantifiers)
    return texts._replace(domain=f"{texts.domain[: match.start()]}({match[1]} {match[2]}{texts.domain[match.end() :]}")


@kind
def not_without_parentheses(rng: Random, texts: Texts) -> Texts | None:
    negations = list(re.finditer(r"\(not \(([^()]*)\)\)", texts.domain))
    match = rng.choice(negations)
    return texts._replace(domain=f"{texts.domain[: match.start()]}(not {match[1]}){texts.domain[match.end() :]}")
