"""What the regrets of plans cost by each grade, and how often the cheaper grades say what is proved.

    python -m bench.align.regrets --numbers 2 --faults 3

Plans are the references of drawn household tasks, and the same with a step left out, repeated or moved, by a seed. Time
is of this process, for a task's plans together, what is compiled and ground before aside. Steps are compared where the
best grade is a proof.
"""

from __future__ import annotations

import argparse
from collections import Counter
from random import Random
from time import process_time

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.verifier.diagnose.regrets import Grade, PlanRegrets, RegretCalculator

GRADES = (Grade.ESTIMATE, Grade.FOUND, Grade.PROVED)


def plans(made: Instance, faults: int, random: Random) -> list[Source]:
    """The reference, and so many plans with a fault."""
    steps = made.reference.splitlines()
    out = [steps]
    for _ in range(faults):
        faulty, place = list(steps), random.randrange(len(steps))
        match random.choice(("leave out", "repeat", "move")):
            case "leave out":
                del faulty[place]
            case "repeat":
                faulty.insert(place, random.choice(steps))
            case _:
                step = faulty.pop(place)
                faulty.insert(random.randrange(len(steps)), step)
        out.append(faulty)
    return [Source("plan", "".join([f"{step}\n" for step in one])) for one in out]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", type=int, default=len(FAMILIES), help="how many families")
    parser.add_argument("--numbers", type=int, default=2, help="how many tasks of each")
    parser.add_argument("--faults", type=int, default=3, help="how many faulty plans of each task")
    parser.add_argument("--seconds", type=float, default=5.0, help="for the proofs of a plan")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    times: dict[Grade, float] = dict.fromkeys(GRADES, 0.0)
    slowest: dict[Grade, float] = dict.fromkeys(GRADES, 0.0)
    told: dict[Grade, Counter[Grade]] = {grade: Counter() for grade in GRADES}
    off: dict[Grade, Counter[int]] = {grade: Counter() for grade in GRADES}
    count = 0
    for family in [*FAMILIES][: given.families]:
        for number in range(given.numbers):
            made = draw(family, number, given.seed)
            checker = made.checker()
            asked = plans(made, given.faults, Random(f"{given.seed}/{family}/{number}"))
            found: dict[Grade, list[PlanRegrets]] = {}
            for grade in GRADES:
                batch = RegretCalculator(checker)
                batch.compute([Source("plan", "")], Grade.ESTIMATE)  # grounds the task
                started = process_time()
                found[grade] = batch.compute(asked, grade, given.seconds)
                took = process_time() - started
                times[grade] += took
                slowest[grade] = max(slowest[grade], took / len(asked))
                told[grade].update([how for one in found[grade] for how in one.grade])
            count += len(asked)
            for grade in GRADES:
                for one, best in zip(found[grade], found[Grade.PROVED], strict=True):
                    for regret, exact, how in zip(one.regret, best.regret, best.grade, strict=True):
                        if how is Grade.PROVED and regret is not None and exact is not None:
                            off[grade][regret - exact] += 1
    print(f"{count} plans of {given.families * given.numbers} tasks")
    print("grade      ms a plan  slowest task  steps proved/found/estimate/unknown   off by (steps)")
    for grade in GRADES:
        steps = "/".join([str(told[grade][how]) for how in Grade])
        wrong = ", ".join([f"{by:+}: {times_}" for by, times_ in sorted(off[grade].items())])
        print(
            f"{grade.value:9}  {1000 * times[grade] / count:9.1f}  {1000 * slowest[grade]:9.1f} ms  {steps:36}  {wrong}"
        )


if __name__ == "__main__":
    main()
