"""Measure the time of regrets by grade, and how often the cheaper grades differ from proved regrets.

usage: python -m bench.align.regrets [--numbers 2] [--faults 3]

Plans are the references of drawn household tasks, and the same plans with a step deleted, repeated or moved, by a seed.
The time is measured for all plans of a task in this process, without compiling and grounding. Steps are compared where
the best grade is a proof.
"""

from __future__ import annotations

import argparse
from collections import Counter
from random import Random
from time import process_time

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.verifier.diagnose.regrets import Grade, PlanRegrets, RegretCalculator

GRADES = (Grade.ESTIMATE, Grade.FOUND, Grade.PROVED)


def plans(reference: str, faults: int, random: Random) -> list[Source]:
    """The reference, and ``faults`` plans with one fault each."""
    steps = reference.splitlines()
    all_plans = [steps]
    for _ in range(faults):
        faulty, place = list(steps), random.randrange(len(steps))
        match random.choice(("delete", "repeat", "move")):
            case "delete":
                del faulty[place]
            case "repeat":
                faulty.insert(place, random.choice(steps))
            case _:
                step = faulty.pop(place)
                faulty.insert(random.randrange(len(steps)), step)
        all_plans.append(faulty)
    return [Source("plan", "".join([f"{step}\n" for step in plan])) for plan in all_plans]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--families", type=int, default=len(FAMILIES), help="Use this many families.")
    parser.add_argument("--numbers", type=int, default=2, help="Use this many tasks of each family.")
    parser.add_argument("--faults", type=int, default=3, help="Add this many faulty plans to each task.")
    parser.add_argument("--seconds", type=float, default=5.0, help="Limit the proofs of a plan to this time.")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    times: dict[Grade, float] = dict.fromkeys(GRADES, 0.0)
    slowest: dict[Grade, float] = dict.fromkeys(GRADES, 0.0)
    grade_counts: dict[Grade, Counter[Grade]] = {grade: Counter() for grade in GRADES}
    differences: dict[Grade, Counter[int]] = {grade: Counter() for grade in GRADES}
    count = 0
    for family in [*FAMILIES][: options.families]:
        for number in range(options.numbers):
            task = draw(family, number, options.seed)
            checker = task.checker()
            task_plans = plans(task.reference, options.faults, Random(f"{options.seed}/{family}/{number}"))
            regrets: dict[Grade, list[PlanRegrets]] = {}
            for grade in GRADES:
                calculator = RegretCalculator(checker)
                calculator.compute([Source("plan", "")], Grade.ESTIMATE)  # grounds the task
                started = process_time()
                regrets[grade] = calculator.compute(task_plans, grade, options.seconds)
                seconds = process_time() - started
                times[grade] += seconds
                slowest[grade] = max(slowest[grade], seconds / len(task_plans))
                grade_counts[grade].update([step_grade for plan in regrets[grade] for step_grade in plan.grade])
            count += len(task_plans)
            for grade in GRADES:
                for plan, best in zip(regrets[grade], regrets[Grade.PROVED], strict=True):
                    for regret, exact, step_grade in zip(plan.regret, best.regret, best.grade, strict=True):
                        if step_grade is Grade.PROVED and regret is not None and exact is not None:
                            differences[grade][regret - exact] += 1
    print(f"{count} plans of {options.families * options.numbers} tasks")
    print("grade      ms a plan  slowest task  steps proved/found/estimate/unknown   difference from the proof (steps)")
    for grade in GRADES:
        steps = "/".join([str(grade_counts[grade][step_grade]) for step_grade in Grade])
        difference_counts = ", ".join(
            [f"{by:+}: {number_of_steps}" for by, number_of_steps in sorted(differences[grade].items())]
        )
        mean, most = 1000 * times[grade] / count, 1000 * slowest[grade]
        print(f"{grade.value:9}  {mean:9.1f}  {most:9.1f} ms  {steps:36}  {difference_counts}")


if __name__ == "__main__":
    main()
