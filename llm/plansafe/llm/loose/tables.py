"""Markdown tables as plans: one column of steps, or one of actions and others of arguments."""

from __future__ import annotations

import re

from plansafe.grammar.codes import SC
from plansafe.llm.loose.elements import Table
from plansafe.llm.loose.groups import split_commas, unquoted
from plansafe.llm.loose.lines import Found, Lines
from plansafe.llm.loose.names import Refused, key, short
from plansafe.llm.loose.prose import Prose
from plansafe.llm.loose.values import Placed

_STEPS = frozenset(
    ("action", "actions", "command", "pddlaction", "operator", "step", "planstep", "pddl", "pddlstep", "actionstep")
)
_ARGUMENTS = frozenset(("args", "arguments", "parameters", "params", "objects", "object", "target"))
_NUMBERS = frozenset(("#", "no", "no.", "step", "number", "stepnumber", "step#", "index", "", "nr", "id", "order"))
_SAID_WORDS = (
    "reason description explanation purpose notes note effect effects precondition preconditions why comment comments "
    "rationale details result outcome meaning justification"
)
_SAID = frozenset(_SAID_WORDS.split())


def read_table(table: Table, lines: Lines, prose: Prose) -> list[Placed]:
    """The steps of a table, or a refusal; a table without a column of steps is refused."""
    head = [re.sub(r"[-_ *`]", "", cell.lower()) for cell, _ in table.rows[0]]
    rows = table.rows[1:]
    if not rows or any([len(row) != len(head) for row in rows]):
        return [
            Placed(Refused(SC.NOT_UNDERSTOOD, "the rows of this table do not match its head"), table.start, table.end)
        ]
    numbers = [c for c, name in enumerate(head) if name in _NUMBERS and all([_digits(row[c][0]) for row in rows])]
    steps = [c for c, name in enumerate(head) if name in _STEPS and c not in numbers]
    arguments = [c for c, name in enumerate(head) if name in _ARGUMENTS]
    others = [c for c in range(len(head)) if c not in (*numbers, *steps, *arguments)]
    unknown = [c for c in others if head[c] not in _SAID]
    if len(steps) != 1 or len(arguments) > 1 or len(numbers) > 1 or unknown:
        what = f"the column `{short(table.rows[0][unknown[0]][0])}`" if unknown else "this table"
        return [
            Placed(
                Refused(SC.NOT_UNDERSTOOD, f"{what} is not understood", "give the plan as lines"),
                table.start,
                table.end,
            )
        ]
    placed: list[Placed] = []
    for index, row in enumerate(rows):
        text, start = row[steps[0]]
        end = start + max(1, len(text))
        if numbers and int(_digits(row[numbers[0]][0])) != int(_digits(rows[0][numbers[0]][0])) + index:
            placed.append(
                Placed(Refused(SC.NUMBERS_OUT_OF_ORDER, "the rows are not numbered one after the other"), start, end)
            )
            continue
        for column in others:
            refused = prose.objection(row[column][0])
            placed += [Placed(refused, row[column][1], row[column][1] + 1)] if refused else []
        placed += _row(lines, text, row[arguments[0]][0] if arguments else None, start, end)
    if numbers and int(_digits(rows[0][numbers[0]][0])) > 1:
        placed.append(
            Placed(Refused(SC.NUMBERS_OUT_OF_ORDER, "the rows are not numbered from 1"), table.start, table.end)
        )
    return placed


def _row(lines: Lines, text: str, arguments: str | None, start: int, end: int) -> list[Placed]:
    if arguments is not None:
        name = unquoted(text)
        action = lines.names.action(name)
        if action is None or isinstance(action, Refused):
            return [Placed(action or lines.names.unknown_action(name), start, end)]
        parts = split_commas(unquoted(arguments.strip("()")))
        outcome = lines.steps.parts(action, name, parts) if any(parts) else lines.steps.arguments(action, name, [])
        return [Placed(outcome if isinstance(outcome, Refused) else Found(outcome, start, end), start, end)]
    reading = lines.read(text)
    if reading.kind != "steps":
        refused = reading.refused or Refused(SC.NOT_UNDERSTOOD, f"`{short(text)}` is not understood as a step")
        return [Placed(refused, start, end)]
    return [Placed(found, start + found.start, start + found.end) for found in reading.found]


def _digits(text: str) -> str:
    bare = key(text.strip("*`. #").lower().removeprefix("step").strip())
    return bare if bare.isdecimal() and len(bare) < 6 else ""
