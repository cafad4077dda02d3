"""The requests for one sentence: several draws of the same question, each another request.

The grammar of answers: one rule (or formula) over the words of a domain, or CANNOT with a reason.

It holds predicates and actions to their numbers of arguments; types, variables that nothing binds, and where an
operator may stand are left to the reader of rules, which judges every answer in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from plansafe.llm.models.request import Grammar, Message, Request, Role, Situation
from plansafe.llm.prompts.formalising import (
    MOST_THINGS,
    Language,
    formalising_prompt,
    named_things,
    one_line,
    stated_predicates,
)
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Task

_MAX_EXCERPT = 2_000
"""The maximum number of characters of an answer in the next request."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is tried to tell rules apart, and to find plans; seconds of wall-clock time.

    ``walks`` random executions of ``steps`` steps; ``planner_s`` for one question to the planners.
    """

    walks: int = 200
    steps: int = 12
    planner_s: float = 3.0
    lint_s: float = 5.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FormaliseOptions:
    """How to ask. ``rounds``: how often an answer without a rule is requested again, with its error.

    ``grammar``: hold the answer to the grammar of rules where the provider can. ``check``: refuse sentences that the
    domain has no words for without asking (:mod:`plansafe.llm.formalise.expressible`).
    """

    language: Language = Language.RULES
    samples: int = 5
    temperature: float = 0.5
    max_tokens: int = 400
    seed: int = 0
    rounds: int = 1
    grammar: bool = True
    check: bool = True
    limits: Limits = field(default_factory=Limits)


def question(sentence: str, compiled: CompiledTask, wishes: FormaliseOptions, sample: int) -> Request:
    """One draw. Samples differ in their seeds; a mock or a record knows the sentence as the task's name."""
    return Request(
        formalising_prompt(sentence, compiled, wishes.language).messages,
        wishes.max_tokens,
        wishes.temperature,
        seed=wishes.seed + sample,
        constraint=answer_grammar(compiled, wishes.language, sentence) if wishes.grammar else None,
        situation=Situation(one_line(sentence)),
        sample=sample,
    )


def once_more(request: Request, answer: str, wrong: str) -> Request:
    """The same question with an answer and its error; a task of its own for mocks and records."""
    feedback = (
        Message(Role.ASSISTANT, answer[:_MAX_EXCERPT]),
        Message(Role.USER, f"This cannot be used: {wrong}\nWrite it once more."),
    )
    task = request.situation.task if request.situation is not None else ""
    return replace(request, messages=(*request.messages, *feedback), situation=Situation(f"{task}, once more"))


_REASON = 'root ::= "CANNOT: " [a-zA-Z0-9 ,.\'-]{1,120}'
_RULES = r"""
name ::= [a-z] [a-z0-9-]{0,40}
process ::= "(:process " name params? (" :on " step)? (" :when " s)? " :" ("forbid" | "require") "-after"? " " s ")"
trajectory ::= "(:trajectory " name params? " :formula " t ")"
termination ::= "(:termination " name params? (" :when " s)? " :" ("forbid" | "require") " " s ")"
obligation ::= "(:obligation " name params? " :when " s " :then " s ")"
params ::= " :parameters (" decl (" " decl){0,5} ")"
decl ::= var " - " type
var ::= "?" [a-z] [a-z0-9]{0,8}
many ::= "(" ("exists" | "forall") " (" decl (" " decl){0,3} ") "
s ::= basic | "(not " s ")" | "(" ("and" | "or") (" " s){2,5} ")" | "(imply " s " " s ")" | many s ")" | past
past ::= "(" ("once" | "historically" | "yesterday") " " s ")" | "(since " s " " s ")"
t ::= basic | "(not " t ")" | "(" ("and" | "or") (" " t){2,5} ")" | "(imply " t " " t ")" | many t ")" | past | future
future ::= "(" ("always" | "sometime" | "next") " " t ")" | "(" ("until" | "sometime-after") " " t " " t ")" | whole
whole ::= "(at-most-once " s ")" | "(sometime-before " s " " s ")"
basic ::= atom | "(= " term " " term ")"
"""
_LTL = r"""
f ::= u (op u){0,4}
u ::= "!" u | ("G" | "F" | "X") "(" f ")" | "(" f ")" | atom
op ::= " & " | " | " | " -> " | " U " | " W "
"""


def answer_grammar(compiled: CompiledTask, language: Language, sentence: str) -> Grammar:
    """The allowed answers, as GBNF. Linear in the domain; objects are those that the prompt names."""
    task = compiled.task
    names = list(task.objects) if len(task.objects) <= MOST_THINGS else named_things(sentence, task)
    lines = _rules(compiled, names) if language is Language.RULES else _ltl(task, names)
    return Grammar("\n".join(lines) + "\n")


def _rules(compiled: CompiledTask, names: list[str]) -> Iterator[str]:
    task = compiled.task
    yield f"{_REASON} | process | trajectory | termination | obligation"
    yield _RULES.strip()
    yield f"type ::= {_either(compiled.symbols.types.names)}"
    yield f"term ::= var{' | object' if names else ''}"
    if names:
        yield f"object ::= {_either(names)}"
    atoms = [(task.predicates[i].name, len(task.predicates[i].domains)) for i in stated_predicates(task)]
    yield f"atom ::= {' | '.join([_called(name, count, 'term') for name, count in atoms])}"
    yield 'any ::= var | "_"'
    steps = [(action.name, len(action.parameters)) for action in task.actions.values()]
    yield f"step ::= {' | '.join([_called(name, count, 'any') for name, count in steps])}"


def _called(name: str, count: int, argument: str) -> str:
    return " ".join([json.dumps(f"({name}"), *[f'" " {argument}'] * count, '")"'])


def _ltl(task: Task, names: list[str]) -> Iterator[str]:
    yield f"{_REASON} | f"
    yield _LTL.strip()
    atoms = []
    for index in stated_predicates(task):
        predicate = task.predicates[index]
        inner = ' "," " "? '.join(["object"] * len(predicate.domains))
        atoms.append(f'{json.dumps(predicate.name)} "(" {inner} ")"' if inner else json.dumps(predicate.name))
    yield f"atom ::= {' | '.join(atoms)}"
    yield f"object ::= {_either(names)}" if names else "object ::= [a-z] [a-z0-9-]{0,30}"


def _either(texts: list[str]) -> str:
    return " | ".join([json.dumps(text) for text in texts])
