"""The prompts for rules: the language in a nutshell with examples, what the domain can say, then one sentence.

Version 1. What all sentences share comes first. The examples are of a workshop that no shipped domain knows, so that
they teach the form and give no answer away.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from enum import StrEnum

from plansafe.llm.models.request import Message, Role
from plansafe.llm.prompts.crop import actions_text, things_text
from plansafe.llm.prompts.planning import Prompt
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Task

VERSION = 1
LONGEST_SENTENCE = 500
MOST_THINGS = 80
"""Objects that are listed; of a larger home only those that the sentence seems to name."""
_NEAR = 0.75
_SAME_START = 3
"""Letters that a word of the sentence and a name must share to be compared at all."""


class Language(StrEnum):
    """The language of the answer: a rule of a specification, or a formula of infix LTL."""

    RULES = "rules"
    LTL = "ltl"


_RULES = """\
You write one safety rule for a household robot in a formal language, from one sentence in English.
Forms (F, G: formulas; ?x: variables; NAME: a name for the rule):
(:process NAME :parameters (?x - TYPE) :forbid F)   F must never be so
(:process NAME :on (ACTION ?x ?y) :require F)   F must be so when ACTION is taken; also :forbid F
(:trajectory NAME :parameters (?x - TYPE) :formula T)   T about time: (always F) (sometime F) (next F) (until F G) \
(sometime-after F G) (sometime-before F G) (at-most-once F)
(:termination NAME :parameters (?x - TYPE) :forbid F)   F must not be so at the end
(:obligation NAME :parameters (?x - TYPE) :when F :then G)   whenever F, later G
Formulas: (and F G) (or F G) (not F) (imply F G) (exists (?x - TYPE) F) (forall (?x - TYPE) F) (= ?x ?y), \
and in :require (once F): F was so before.
:parameters means for all. Use only the predicates, actions, types and things that are given. If they cannot say what \
the sentence says, answer CANNOT: and the reason. Write one rule and nothing else."""
_LTL = """\
You write one formula of linear temporal logic from one sentence in English.
Operators: ! & | -> , G f (always), F f (at some time), X f (at the next change), f U g (until), f W g (weak until: \
f holds as long as g has not come). The sentence is said to a robot: "you" is the robot.
Use only the predicates and names that are given. If they cannot say what the sentence says, answer CANNOT: and the \
reason. Write one formula and nothing else."""
_WORKSHOP = """\
Types:
lamp drawer room - object
Predicates:
(lit ?lamp)
(shut ?drawer)
(at ?room)
(lamp-in ?lamp ?room)
(oiled ?drawer)
Actions:
(pull ?drawer)
(walk ?room ?room)
"""
_YARD = """\
Predicates:
at(room)
lit(lamp)
Names are of small letters without spaces. The sentence may be about: hall, yard, attic, torch
"""
_EXAMPLES_BY_LANGUAGE = {Language.RULES: _WORKSHOP, Language.LTL: _YARD}
_EXAMPLES = {
    Language.RULES: (
        ("Never leave a lamp lit when you are done.", "(:termination r :parameters (?l - lamp) :forbid (lit ?l))"),
        (
            "A lamp may be lit only while you are in its room.",
            "(:process r :parameters (?l - lamp ?r - room) :forbid (and (lit ?l) (lamp-in ?l ?r) (not (at ?r))))",
        ),
        ("Do not pull a drawer before it has been oiled.", "(:process r :on (pull ?d) :require (once (oiled ?d)))"),
        (
            "Whoever opens a drawer shuts it again.",
            "(:obligation r :parameters (?d - drawer) :when (not (shut ?d)) :then (shut ?d))",
        ),
        ("Do not pull a drawer that squeaks.", "CANNOT: no predicate says that a drawer squeaks"),
    ),
    Language.LTL: (
        ("never light the torch", "G(!lit(torch))"),
        ("after the hall you must visit the yard at some time", "G(at(hall) -> F(at(yard)))"),
        ("stay out of the attic until the torch is lit", "!at(attic) W lit(torch)"),
        ("before you light the torch you have to visit the yard", "!lit(torch) W at(yard)"),
        ("visit the yard at most once", "!F(at(yard) & (at(yard) U (!at(yard) & F(at(yard)))))"),
        ("walk quietly in the hall", "CANNOT: no predicate says that a walk is quiet"),
    ),
}


def formalising_prompt(sentence: str, compiled: CompiledTask, language: Language) -> Prompt:
    """Ask for one rule. The sentence is data: it is cut to one line of at most ``LONGEST_SENTENCE`` characters."""
    system = _RULES if language is Language.RULES else _LTL
    task = compiled.task
    context = [_types(compiled)] if language is Language.RULES else []
    context.append(f"Predicates:\n{_predicates(task, language)}")
    if language is Language.RULES:
        context.append(f"Actions:\n{actions_text(task)}")
    if len(task.objects) <= MOST_THINGS:
        context.append(f"Things:\n{things_text(task)}")
    else:
        names = ", ".join(named_things(sentence, task))
        context.append(
            f"Names are of small letters without spaces. The sentence may be about: {names or 'nothing known'}"
        )
    request = "\n".join([*context, f"Sentence: {one_line(sentence)}"])
    messages = (Message(Role.SYSTEM, system), *_examples(language), Message(Role.USER, request))
    hashed = "\0".join([str(VERSION), language.value, *[f"{m.role.value}\0{m.text}" for m in messages]])
    return Prompt(messages, language.value, hashlib.sha256(hashed.encode()).hexdigest())


def language_reference(language: Language) -> str:
    """The language in a nutshell, with the examples: as a text to read, not as a conversation."""
    examples = [f"Sentence: {sentence}\n{answer}" for sentence, answer in _EXAMPLES[language]]
    system = _RULES if language is Language.RULES else _LTL
    return (
        "\n\n".join([system, f"Examples, for this domain:\n{_EXAMPLES_BY_LANGUAGE[language].rstrip()}", *examples])
        + "\n"
    )


def _examples(language: Language) -> Iterator[Message]:
    """The examples as turns of a conversation, which small models follow better than a list."""
    lines = _EXAMPLES_BY_LANGUAGE[language]
    for sentence, answer in _EXAMPLES[language]:
        yield Message(Role.USER, f"{lines}Sentence: {sentence}")
        yield Message(Role.ASSISTANT, answer)
        lines = ""


def one_line(sentence: str) -> str:
    """A sentence in the form for a prompt: on one line, of characters that can be printed, and of bounded length."""
    plain = "".join([c if c.isprintable() else " " for c in sentence[: 4 * LONGEST_SENTENCE]])
    return " ".join(plain.split())[:LONGEST_SENTENCE]


def named_things(sentence: str, task: Task) -> list[str]:
    """The objects whose names stand in a sentence, or nearly, written together or not; in the order of the task."""
    words = one_line(sentence).lower().replace("-", " ").replace("_", " ").split()
    runs = {"".join(words[at : at + size]).strip(".,;:!?") for size in (1, 2, 3) for at in range(len(words))}
    plain = {name: name.replace("-", "").replace("_", "") for name in task.objects}
    starts: dict[str, list[str]] = {}
    for run in [run for run in runs if "'" not in run]:
        starts.setdefault(run[:_SAME_START], []).append(run)
    names = [name for name, bare in plain.items() if bare in runs or _near(bare, starts.get(bare[:_SAME_START], []))]
    return names[:MOST_THINGS]


def _near(name: str, runs: list[str]) -> bool:
    return bool(runs) and bool(difflib.get_close_matches(name, runs, n=1, cutoff=_NEAR))


def _types(compiled: CompiledTask) -> str:
    """The types, those with the same types right above them on one line."""
    table = compiled.symbols.types
    lines: dict[str, list[str]] = {}
    for name, parents in zip(table.names, table.parents, strict=True):
        if parents:
            lines.setdefault(" ".join([table.names[parent] for parent in parents]), []).append(name)
    return "Types:\n" + "\n".join([f"{' '.join(names)} - {above}" for above, names in lines.items()])


def _predicates(task: Task, language: Language) -> str:
    return "\n".join([_predicate(task, index, language) for index in stated_predicates(task)])


def stated_predicates(task: Task) -> list[int]:
    """The predicates that a domain declares: those that stand for actions have blanks in their names."""
    return [index for index, predicate in enumerate(task.predicates) if " " not in predicate.name]


def _predicate(task: Task, index: int, language: Language) -> str:
    predicate = task.predicates[index]
    kinds = ["-or-".join([task.type_names[t] for t in task.domain_types[d]]) or "thing" for d in predicate.domains]
    if language is Language.LTL:
        return f"{predicate.name}({', '.join(kinds)})"
    return f"({' '.join([predicate.name, *[f'?{kind}' for kind in kinds]])})"
