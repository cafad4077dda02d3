"""Fuzz the reader of loose text with mutated answers, free and structured, under a time and a memory limit.

``make fuzz`` runs 10,000.

    answers.py [--count 10000] [--seed 1] [--only NUMBER]

Answer NUMBER of a seed is always the same. Exits with 1 if an answer raises an exception, exceeds a limit, or breaks a
law: a refusal has a reason, places are within the text, and a plan with an ill-formed step is never accepted.
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
SECONDS, SECONDS_PER_CHARACTER = 1.0, 1e-4
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
"""The texts of ``tests/loose/formats``, from which the mutations of structured answers start."""


def mutate_answer(seed: int, number: int) -> tuple[str, int]:
    """Return answer ``number`` of a seed, and the index of the answer whose scenario it is for."""
    random = Random(f"{seed}:{number}")
    index = random.randrange(len(answers()))
    text = answers()[index].text if random.random() < 0.6 else random.choice(FORMATS)
    for _ in range(random.randint(1, 6)):
        at, to = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        match random.randrange(7):
            case 0:
                text = text[:at] + random.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[to:]
            case 2:
                text = text[:to]
            case 3:
                text = text[:at] + text[at:to] * random.randint(2, 30) + text[to:]
            case 4:
                text = text[:at] + random.choice(answers()).text + text[at:]
            case 5:
                text = text[:at] + random.choice(PIECES) * random.randint(1, 200) + text[at:]
            case _:
                text = text[:at] + "".join(random.sample(text[at:to], min(to - at, 200))) + text[to:]
    return text[:LONGEST], index


def find_problems(text: str, index: int) -> list[str]:
    """Read a text and return the laws that the result breaks."""
    answer = answers()[index]
    task = checker(answer.family, answer.number)
    started = time.process_time()
    reading = read_loose(Source("answer.txt", text), task)
    seconds = time.process_time() - started
    problems = []
    if seconds > SECONDS + SECONDS_PER_CHARACTER * len(text):
        problems.append(f"{seconds:.2f} s for {len(text)} characters")
    if (reading.plan is None) is not bool(reading.diagnostics) or (reading.plan is None) is bool(reading.steps):
        problems.append("neither a plan nor the reason of a refusal")
    spans = [label.span for diagnostic in (*reading.notes, *reading.diagnostics) for label in diagnostic.labels]
    spans += [step.span for step in reading.steps]
    if not all([0 <= span.start <= span.end <= max(len(text), 1) for span in spans]):
        problems.append("a place outside the text")
    if reading.plan is not None:
        report = task.check(reading.plan)
        if report.steps != len(reading.steps):
            problems.append(f"{len(reading.steps)} steps were read, and {report.steps} checked")
        if any([step.ill_formed for step in reading.steps]) and report.headline is not Headline.INVALID:
            problems.append(f"a plan with an ill-formed step is {report.headline}")
    return problems


def main() -> int:
    """Read mutated answers and print their problems; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    numbers = range(options.count) if options.only is None else [options.only]
    with_problem = 0
    slowest = 0.0
    for number in numbers:
        text, index = mutate_answer(options.seed, number)
        started = time.process_time()
        try:
            problems = find_problems(text, index)
        except Exception as error:  # any exception is a problem of this answer
            problems = [f"{type(error).__name__}: {error}"]
        slowest = max(slowest, time.process_time() - started)
        with_problem += bool(problems)
        for problem in problems:
            print(f"answer {number} of seed {options.seed}: {problem}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{len(numbers)} answers, {with_problem} with a problem; slowest {slowest:.2f} s, peak memory {peak} MiB")
    return 1 if with_problem else 0


if __name__ == "__main__":
    raise SystemExit(main())
