"""Fuzzing the reader of loose text: mutated answers, structured ones too, bounded in time and memory.

``make fuzz`` runs 10,000.

    answers.py [--count 10000] [--seed 1] [--only NUMBER]

Answer NUMBER of a seed is always the same. Exits with 1 if one raises, takes too long or too much, or breaks a law: a
refusal has a reason, places lie within the text, and a plan with an ill-formed step is never accepted.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "loose"))

from answers_read import answers, checker
from loose_cases import cases

from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.reporting.report import Headline

MEMORY = 2 << 30
SECONDS, SECONDS_A_CHARACTER = 1.0, 1e-4
LONGEST = 60_000
PIECES = (
    "(", ")", "((", "[", "]", "{", "}", '{"action": ', '"args": [', '"', "'", "`", "```\n", "~~~", "<think>",
    "</think>", "<answer>", "\n", "\n\n", "1. ", "- ", "**", "Final plan:\n", "Task: ", "Goal:", "# ", ";", "//", "...",
    ",", ":", "(define (plan ", "(and ", "(not ", "robot", "../../etc/passwd", "$(reboot)", "__import__('os')", "\x00",
    "\x1b[2J", "\u202e", "\u200b", "\U0001f600", "\ud800", "%s%n", "{0}", "a" * 500, "(" * 80, "[" * 80, "{" * 80,
    "9" * 40, "\\", "\r", "<plan><step>", "</step>", "<ol><li>", "</li></ol>", "<!--", "-->", "&b;", "\n- ", "\n+ ",
    "<!DOCTYPE a [<!ENTITY b", "```yaml\n", "- &a ", "*a", "```python\n", "def plan():\n", "    ", "\nif x:\n", "~~",
    "```csv\n", "action,object\n", "| ", "|---|\n", "\\begin{enumerate}", "\\item ", "\\end{enumerate}", "Action: ",
    "Observation: ", "Robot: 1. ", "<tool_call>", "</tool_call>", '"skip": true', '"status": "removed"', "- [x] ",
    "```diff\n", "@@ -1 +1 @@\n", "<s>", "</s>",
)  # fmt: skip

FORMATS = [case.text for case in cases() if ", " in case.name]
"""The texts of ``tests/loose/formats``, of which the mutations of the formats begin."""


def mutated(seed: int, number: int) -> tuple[str, int]:
    """Answer ``number`` of a seed, and the index of the answer whose scenario it is for."""
    chance = Random(f"{seed}:{number}")
    index = chance.randrange(len(answers()))
    text = answers()[index].text if chance.random() < 0.6 else chance.choice(FORMATS)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        match chance.randrange(7):
            case 0:
                text = text[:at] + chance.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[to:]
            case 2:
                text = text[:to]
            case 3:
                text = text[:at] + text[at:to] * chance.randint(2, 30) + text[to:]
            case 4:
                text = text[:at] + chance.choice(answers()).text + text[at:]
            case 5:
                text = text[:at] + chance.choice(PIECES) * chance.randint(1, 200) + text[at:]
            case _:
                text = text[:at] + "".join(chance.sample(text[at:to], min(to - at, 200))) + text[to:]
    return text[:LONGEST], index


def problems(text: str, index: int) -> list[str]:
    """What is wrong with how a text is read."""
    answer = answers()[index]
    task = checker(answer.family, answer.number)
    began = time.process_time()
    found = read_loose(Source("answer.txt", text), task)
    took = time.process_time() - began
    wrong = []
    if took > SECONDS + SECONDS_A_CHARACTER * len(text):
        wrong.append(f"{took:.2f} s for {len(text)} characters")
    if (found.plan is None) is not bool(found.diagnostics) or (found.plan is None) is bool(found.steps):
        wrong.append("neither a plan nor a reason why not")
    spans = [label.span for each in (*found.notes, *found.diagnostics) for label in each.labels]
    spans += [step.span for step in found.steps]
    if not all([0 <= span.start <= span.end <= max(len(text), 1) for span in spans]):
        wrong.append("a place outside the text")
    if found.plan is not None:
        report = task.check(found.plan)
        if report.steps != len(found.steps):
            wrong.append(f"{len(found.steps)} steps were read, and {report.steps} judged")
        if any([step.ill_formed for step in found.steps]) and report.headline is not Headline.INVALID:
            wrong.append(f"a plan with an ill-formed step is {report.headline}")
    return wrong


def main() -> int:
    """Read mutated answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    numbers = range(options.count) if options.only is None else [options.only]
    bad = read = 0
    slowest = 0.0
    for number in numbers:
        text, index = mutated(options.seed, number)
        began = time.process_time()
        try:
            wrong = problems(text, index)
        except Exception as error:  # whatever it is, it is a problem of this answer
            wrong = [f"{type(error).__name__}: {error}"]
        slowest = max(slowest, time.process_time() - began)
        bad += bool(wrong)
        read += 1
        for each in wrong:
            print(f"answer {number} of seed {options.seed}: {each}", flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{read} answers, {bad} with a problem; the slowest took {slowest:.2f} s, most memory {most} MiB")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
