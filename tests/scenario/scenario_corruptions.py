"""Right tasks made wrong, in the ways in which language models (and people) get PDDL wrong: one kind, one function."""

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
    """A text with places."""

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

    def put(self, node: list[Node], child: int | None, text: str) -> str:
        start, end = self.span(node, child)
        return self.text[:start] + text + self.text[end:]

    def atoms(self, node: Node) -> list[list[Node]]:
        """The atoms below a node: lists of words that begin with no operator."""
        out: list[list[Node]] = []
        stack = [node]
        while stack:
            part = stack.pop()
            if isinstance(part, list) and part:
                words = all([isinstance(word, str) for word in part])
                if words and part[0] not in ("and", "or", "=") and not str(part[0]).startswith(("?", ":")):
                    out.append(part)
                elif part[0] in ("forall", "exists"):
                    stack.extend(part[2:])
                else:
                    stack.extend(part)
        return out


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


def _pick(rng: Random, found: list[list[Node]]) -> list[Node] | None:
    return rng.choice(found) if found else None


def _slip(rng: Random, name: str) -> str:
    """A name with one slip of the pen among its letters."""
    letters = [i for i, c in enumerate(name) if c.isalpha() and i > 0]
    if len(name) < 5 or len(letters) < 3:
        return name
    at = rng.choice(letters[:-1])
    how = rng.randrange(4)
    if how == 0:
        return name[:at] + name[at + 1 :]
    if how == 1:
        return name[:at] + name[at] + name[at:]
    if how == 2:
        return name[:at] + rng.choice("aeiortn") + name[at + 1 :]
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def _used(rng: Random, texts: Texts) -> tuple[str, Tree, list[Node]] | None:
    """A random atom of the problem or the domain, with the name of its text."""
    field = rng.choice(("problem", "problem", "domain"))
    tree = Tree(getattr(texts, field))
    atom = _pick(rng, _conditions(tree) if field == "domain" else _facts(tree) + _goals(tree))
    return None if atom is None else (field, tree, atom)


# -- parentheses and what stands around them --------------------------------------------------------------------------


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
    found = _used(rng, texts)
    if found is None:
        return None
    field, tree, atom = found
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
    return texts._replace(problem=tree.put(atom, child, f'"{tree.slice(atom, child)}"'))


@kind
def commas(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if len(f) > 2])
    return None if atom is None else texts._replace(problem=tree.put(atom, 1, tree.slice(atom, 1) + ","))


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
    at = rng.choice(places)
    return texts._replace(domain=texts.domain[:at] + new + texts.domain[at + len(old) :])


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
    return texts._replace(domain=tree.put(atom, child, tree.slice(atom, child)[1:]))


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
    found = _used(rng, texts)
    if found is None:
        return None
    field, tree, atom = found
    new = _slip(rng, str(atom[0]))
    return None if new == atom[0] else texts._replace(**{field: tree.put(atom, 0, new)})


@kind
def predicate_inflected(rng: Random, texts: Texts) -> Texts | None:
    found = _used(rng, texts)
    if found is None:
        return None
    field, tree, atom = found
    name = str(atom[0])
    new = rng.choice((f"is_{name}", f"is-{name}", name + "ed", name.replace("_", "-")))
    return None if new == name else texts._replace(**{field: tree.put(atom, 0, new)})


@kind
def predicate_undeclared(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    used = {a[0] for a in _conditions(tree)} | {f[0] for f in _facts(Tree(texts.problem)) + _goals(Tree(texts.problem))}
    declared = [n for n in tree.sections(":predicates")[0][1:] if isinstance(n, list) and n[0] in used]
    return texts._replace(domain=tree.put(rng.choice(declared), None, ""))


@kind
def type_undeclared(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    section = tree.sections(":types")[0]
    words = {*re.findall(r"[^\s()]+", texts.problem.lower())} - {"-"}
    others = [*section[2:], "-"]
    used = [c for c in range(1, len(section)) if section[c] in words and "-" not in (section[c - 1], others[c - 1])]
    return texts._replace(domain=tree.put(section, rng.choice(used), "")) if used else None


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
    found = [c for c in range(1, len(section)) if section[c] in used and section[c - 1] != "-"]
    if not found:
        return None
    child = rng.choice(found)
    lonely = section[child + 1 : child + 2] == ["-"] and (child == 1 or section[child - 2] == "-")
    start = tree.span(section, child)[0]
    end = tree.span(section, child + 2 if lonely else child)[1]
    return texts._replace(problem=tree.text[:start] + tree.text[end:])


@kind
def object_slip(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if len(f) > 1])
    if atom is None:
        return None
    child = rng.randrange(1, len(atom))
    new = _slip(rng, str(atom[child]))
    return None if new == atom[child] else texts._replace(problem=tree.put(atom, child, new))


@kind
def type_slip(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    child = rng.choice([c for c in range(2, len(section)) if section[c - 1] == "-"])
    new = _slip(rng, str(section[child]))
    return None if new == section[child] else texts._replace(problem=tree.put(section, child, new))


@kind
def variable_slip(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    atom = _pick(rng, [a for a in _conditions(tree) if any(len(str(w)) > 5 and str(w)[0] == "?" for w in a[1:])])
    if atom is None:
        return None
    child = rng.choice([c for c in range(1, len(atom)) if len(str(atom[c])) > 5 and str(atom[c])[0] == "?"])
    new = "?" + _slip(rng, str(atom[child])[1:])
    return None if new == atom[child] else texts._replace(domain=tree.put(atom, child, new))


@kind
def split_object(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    atom = _pick(rng, [f for f in _facts(tree) + _goals(tree) if any("_" in str(w) or "-" in str(w) for w in f[1:])])
    if atom is None:
        return None
    child = rng.choice([c for c in range(1, len(atom)) if "_" in str(atom[c]) or "-" in str(atom[c])])
    name = str(atom[child])
    at = rng.choice([i for i, c in enumerate(name) if c in "_-"])
    return texts._replace(problem=tree.put(atom, child, f"{name[:at]} {name[at + 1 :]}"))


@kind
def agent_parameter_missing(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    found = []
    for action in tree.sections(":action"):
        value = tree.field(action, ":parameters")
        if isinstance(value, list):
            words = {
                word
                for key in (":precondition", ":effect")
                for a in tree.atoms(tree.field(action, key) or [])
                for word in a
            }
            ends = (0, len(value) - 3)
            agents = [
                c for c in ends if value[c + 1] == "-" and value[c + 2] in ("agent", "robot") and value[c] in words
            ]
            found += [(value, c) for c in agents]
    if not found:
        return None
    value, child = rng.choice(found)
    start, end = tree.span(value, child)[0], tree.span(value, child + 2)[1]
    return texts._replace(domain=tree.text[:start] + tree.text[end:])


@kind
def wrong_domain_name(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    return texts._replace(problem=tree.put(tree.sections(":domain")[0], 1, "my-domain"))


@kind
def no_domain_name(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    return texts._replace(problem=tree.put(tree.sections(":domain")[0], None, ""))


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
    return texts._replace(problem=tree.put(atom, 0, f"{atom[0]} {agents[0]}"))


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
    found = _used(rng, texts)
    if found is None or len(found[2]) < 2:
        return None
    field, tree, atom = found
    child = rng.randrange(1, len(atom))
    word = tree.slice(atom, child)
    return texts._replace(**{field: tree.put(atom, child, f"{word} {word}")})


@kind
def argument_missing(rng: Random, texts: Texts) -> Texts | None:
    found = _used(rng, texts)
    if found is None or len(found[2]) < 2:
        return None
    field, tree, atom = found
    return texts._replace(**{field: tree.put(atom, rng.randrange(1, len(atom)), "")})


@kind
def wrong_type(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":objects")[0]
    places = [c for c in range(2, len(section)) if section[c - 1] == "-"]
    kinds = sorted({str(section[c]) for c in places})
    child = rng.choice(places)
    others = [k for k in kinds if k != section[child]]
    return texts._replace(problem=tree.put(section, child, rng.choice(others))) if others else None


# -- shape ------------------------------------------------------------------------------------------------------------


@kind
def and_missing_in_action(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    found = []
    for action in tree.sections(":action"):
        for key in (":precondition", ":effect"):
            value = tree.field(action, key)
            if isinstance(value, list) and value[:1] == ["and"] and len(value) > 2:
                found.append(value)
    value = rng.choice(found)
    if rng.random() < 0.5:
        return texts._replace(domain=tree.put(value, 0, ""))
    start, end = tree.span(value)
    inner = tree.text[tree.span(value, 0)[1] : end - 1]
    return texts._replace(domain=tree.text[:start] + inner + tree.text[end:])


@kind
def and_missing_in_goal(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    value = tree.sections(":goal")[0][1]
    if not isinstance(value, list) or value[:1] != ["and"] or len(value) < 3:
        return None
    if rng.random() < 0.5:
        return texts._replace(problem=tree.put(value, 0, ""))
    start, end = tree.span(value)
    return texts._replace(problem=tree.text[:start] + tree.text[tree.span(value, 0)[1] : end - 1] + tree.text[end:])


@kind
def and_in_init(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.problem)
    section = tree.sections(":init")[0]
    start, end = tree.span(section, 0)[1], tree.span(section)[1] - 1
    return texts._replace(problem=f"{tree.text[:start]} (and {tree.text[start:end]}){tree.text[end:]}")


@kind
def requirements_missing(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    found = tree.sections(":requirements")
    if not found:
        return None
    if rng.random() < 0.5:
        return texts._replace(domain=tree.put(found[0], None, ""))
    return texts._replace(domain=tree.put(found[0], None, "(:requirements :strips)"))


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
    at = [m.start() for m in re.finditer(old + r"\b", texts.domain)]
    if not at:
        return None
    start = rng.choice(at)
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
    found = [a for a in tree.sections(":action") if tree.field(a, ":precondition") in ([], ["and"])]
    action = _pick(rng, found)
    if action is None:
        return None
    at = action.index(":precondition")
    if rng.random() < 0.5:
        return texts._replace(domain=tree.put(action, at + 1, rng.choice(("", "nil"))))
    start, end = tree.span(action, at)[0], tree.span(action, at + 1)[1]
    return texts._replace(domain=tree.text[:start] + tree.text[end:])


@kind
def declared_twice(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    if rng.random() < 0.3:
        own = Tree(texts.problem)
        section = own.sections(":objects")[0]
        child = next(c for c in range(2, len(section)) if section[c - 1] == "-")
        text = f" {own.slice(section, child - 2)} - {own.slice(section, child)}"
        end = own.span(section)[1] - 1
        return texts._replace(problem=own.text[:end] + text + own.text[end:])
    node = rng.choice(
        [n for n in tree.sections(":predicates")[0][1:] if isinstance(n, list)] + tree.sections(":action")
    )
    end = tree.span(node)[1]
    return texts._replace(domain=f"{tree.text[:end]}\n    {tree.slice(node)}{tree.text[end:]}")


@kind
def contradictory_effect(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    found = []
    for action in tree.sections(":action"):
        value = tree.field(action, ":effect")
        if isinstance(value, list) and value[:1] == ["and"]:
            found += [(value, a) for a in value[1:] if isinstance(a, list) and a and a in tree.atoms(a)]
    if not found:
        return None
    value, atom = rng.choice(found)
    end = tree.span(value)[1] - 1
    return texts._replace(domain=f"{tree.text[:end]} (not {tree.slice(atom)}){tree.text[end:]}")


@kind
def section_twice(rng: Random, texts: Texts) -> Texts | None:
    tree = Tree(texts.domain)
    section = tree.sections(":predicates")[0]
    if len(section) < 4:
        return None
    half = len(section) // 2
    at = tree.span(section, half)[0]
    return texts._replace(domain=f"{tree.text[:at]})\n  (:predicates\n    {tree.text[at:]}")


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
    found = re.findall(r"\(= \((\S+ [^()]*)\) (\d+)\)", texts.problem)
    if not found:
        return None
    fluent, value = rng.choice(found)
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
    found = list(re.finditer(r"\((forall|exists)\s+\(([^()]*)\)", texts.domain))
    if not found:
        return None
    match = rng.choice(found)
    return texts._replace(domain=f"{texts.domain[: match.start()]}({match[1]} {match[2]}{texts.domain[match.end() :]}")


@kind
def not_without_parentheses(rng: Random, texts: Texts) -> Texts | None:
    found = list(re.finditer(r"\(not \(([^()]*)\)\)", texts.domain))
    match = rng.choice(found)
    return texts._replace(domain=f"{texts.domain[: match.start()]}(not {match[1]}){texts.domain[match.end() :]}")
