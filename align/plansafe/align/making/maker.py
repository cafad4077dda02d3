"""The candidates of one task: base plans, mutants, detours aimed at rules, and safe partners for what is unsafe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from plansafe.align.choosing.filters import unfit_plans
from plansafe.align.choosing.lengths import difference
from plansafe.align.choosing.needs import Draft, Needs
from plansafe.align.choosing.splits import split_of
from plansafe.align.making.candidate import Candidate, candidate, edits
from plansafe.align.making.cropping import WIDE
from plansafe.align.making.detours import Detours
from plansafe.align.making.lifted import Lifted
from plansafe.align.making.mutants import EACH, mutants
from plansafe.align.making.reaching import Reach
from plansafe.align.making.recipes import Recipes, by_kind, served
from plansafe.align.making.searching import searched
from plansafe.align.making.twins import Twins
from plansafe.align.making.usable import Usable
from plansafe.align.making.walks import Judged, Key, Steps, Walks, sensible
from plansafe.align.records import Source
from plansafe.align.tasks import AlignTask
from plansafe.grammar.source import Source as PlanText
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions

MOST_OF_A_RULE = 12
"""Candidates of one task that are against the same rule."""
MOST_OF_A_FREQUENT = 2
"""The same for a rule that has many pairs already."""
PLANNER_STATES = 300
ENOUGH = 6
"""Unsafe plans of one task for a rule, from which on no more are made by recipes."""
ENOUGH_OF_RARE = 12
"""The same for a rule of a type that is rare among the pairs."""
MORE_SERVED = 3
"""How many times as many recipes are tried for such a rule."""
MANY_OBJECTS = 24
"""Of a task, up to which repairs are looked for: beyond, one may take half a minute."""
REPAIRED = 0.1
"""Of the unsafe plans of small tasks, the share that is also paired with its nearest safe repair."""
MOST_REPAIRED = 1
"""Of a task."""
PLANNED = 0.4
"""The share of tasks whose unsafe plans the planner completes: to be made ready takes it as long as all mutants."""
MENDED = 150
"""Changes of an unsafe plan that are tried to make it safe."""
NEAREST = 12
"""Safe plans that are compared with an unsafe one to find its partner."""
ENOUGH_ALIKE = 3
"""Safe plans of the same actions, from which on no more are looked for."""
MOST_LOOKED = 80
"""Unsafe plans of a task for which safe plans of the same actions are looked for."""
FEW = 4
"""Pairs of a rule, up to which safe plans are partners though their lengths tell: better than none."""
FREE = 0.05
"""The share of unsafe plans that have a partner though their lengths tell."""
SECOND = 0.3
"""The share of unsafe plans that have another partner, too."""
OTHERWISE = "judged otherwise in the whole scene"
MOST_ENDED = 16
"""Unsafe plans of a task for which it is looked for what ends the danger."""


Ranked = tuple[float, Key, float, Judged]
"""A safe plan as a partner: how far from wanted it is, its key (for an order), how much its lengths tell."""


class Effort(NamedTuple):
    """How hard is tried, in numbers and not in time, so that every machine makes the same.

    ``mutants``: changes of a plan that are tried (``twice``: also two at once), ``bases``: safe plans that are changed;
    ``searches``: detours that are searched for; ``recipes``: rules that recipes are tried for, ``servings`` times each;
    ``plans``: unsafe plans that the planner completes.
    """

    mutants: int = 300
    twice: bool = True
    bases: int = 2
    searches: int = 20
    recipes: int = 30
    servings: int = 10
    plans: int = 10
    large: bool = False


LARGE = Effort(80, False, 1, 8, 120, 10, 0, True)
"""For worlds with a hundred rules: what is aimed at above all."""


FULL = Effort(400, True, 4, 60, 40, 40, 0)
"""For homes with things of all kinds, in which most rules can be broken, but where plans take long to find."""


class Found(NamedTuple):
    """An unsafe plan, and how it was found."""

    plan: Judged
    source: Source
    way: str


class Maker:
    """Makes the candidates of one task.

    ``needs``: what the pairs that were kept so far lack. ``whole``: the task that ``task`` is a part of, where it was
    cropped: each pair is judged there, and is one of that task. ``differing`` counts those that it judges otherwise.
    """

    def __init__(
        self,
        task: AlignTask,
        recipes: Recipes,
        needs: Needs,
        seed: int,
        whole: AlignTask | None = None,
        differing: Counter[str] | None = None,
    ) -> None:
        self.task = task
        self._lifted = None if whole is None else Lifted(whole)
        self._differing = Counter[str]() if differing is None else differing
        self.seed = seed
        self.random = Random(f"{seed}/{task.origin}")
        self.walks = Walks(task.checker)
        self.engine = task.checker.engine
        self.rules = self.engine.rule_set.rules
        self.usable = Usable(self.engine.task)
        self._reach = Reach(self.engine, self.usable)
        self.detours = Detours(self.walks, self._reach)
        self.recipes = recipes
        self.needs = needs
        self._side = split_of(task.family)
        taxonomy = load_taxonomies()["safel"]
        self._types = [tuple([one.name for one in taxonomy.categories_of(rule)]) for rule in self.rules]
        self._written: dict[Key, tuple[str, ...]] = {}
        self._ended: dict[Key, Judged | None] = {}
        self.twins = Twins(self.walks, self.random, self.usable)
        self._looked = 0
        self.safe: list[Judged] = []
        self._alike: dict[tuple[str, ...], list[Judged]] = {}
        self.unsafe: dict[int, list[Found]] = {}
        self._known: set[Key] = set()
        self._repairs = 0
        self._paired: set[tuple[Key, Key]] = set()
        self._things = by_kind(self.engine.task)
        self.small = whole is None and len(self.engine.task.objects) <= MANY_OBJECTS

    def run(self, effort: Effort) -> Iterator[Candidate]:
        """The candidates, rule by rule; nothing where no safe plan is known."""
        base = self._base()
        if base is None:
            return
        self._mutants(effort)
        path = self.walks.remember(base.steps)
        if self._lifted is not None:
            self._lifted.remember(self._texts(base))
        self._searched(base, path, effort)
        self._with_recipes(base, path, effort)
        self._planned(effort)
        for rule in sorted(self.unsafe, key=self._has):
            yield from self._pairs(base, rule)

    # -- what is found ------------------------------------------------------------------------------------------------

    def add(self, plan: Judged, source: Source, way: str) -> bool:
        """Keep a plan that was judged, as a safe one or for the rules that it breaks; whether it is new."""
        if plan.key in self._known:
            return False
        self._known.add(plan.key)
        if plan.safe:
            self.safe.append(plan)
            self._alike.setdefault(_names(plan.steps), []).append(plan)
        for rule in plan.broken:
            self.unsafe.setdefault(rule, []).append(Found(plan, source, way))
        return True

    def take(self, plan: str, source: Source) -> None:
        """Keep a plan that somebody wrote, if it can be executed."""
        steps = self.walks.read(plan)
        judged = self.walks.judge(steps) if steps else None
        if judged is not None:
            self.add(judged, source, "written")

    def _base(self) -> Judged | None:
        """The plan that came with the task, or what it takes to make it safe."""
        steps = self.walks.read(self.task.reference)
        plan = self.walks.judge(steps) if steps else None
        if plan is None or not plan.goal:
            return None
        self.add(plan, "repair", "as it came")
        if plan.broken:
            return self._mended(plan)
        return plan

    def _mended(self, plan: Judged) -> Judged | None:
        """A safe plan for one that reaches the goal: with what ends its dangers, or changed in one place."""
        found = self.detours.undone(plan, self.random)
        changed = () if found else mutants(self.walks, plan.steps, self.random, MENDED, twice=False)
        for mutant in changed:
            self.add(mutant.plan, "mutant", mutant.way)
            if mutant.plan.safe:
                return mutant.plan
        if found is not None:
            self.add(found, "repair", "repaired")
        return found

    def _mutants(self, effort: Effort) -> None:
        for base in self.safe[: effort.bases]:
            each = 0 if effort.large else EACH
            for found in mutants(self.walks, base.steps, self.random, effort.mutants, each, effort.twice):
                self.add(found.plan, "mutant", found.way)

    def _with_recipes(self, base: Judged, path: list[Execution], effort: Effort) -> None:
        """Detours that broke a rule elsewhere, for the rules that have the fewest candidates."""
        world = self.task.world
        numbers = [n for n, rule in enumerate(self.rules) if rule.applicable and self.recipes.of(world, rule.name)]
        numbers.sort(key=lambda number: (self._has(number), number))
        used = frozenset([number for step in base.steps for number in step.objects])
        for rule in numbers[: effort.recipes]:
            known = self.recipes.of(world, self.rules[rule].name)
            fitting = self._fitting(rule)
            found = len(self.unsafe.get(rule, ()))
            rare = self._rare(rule)
            enough = 1 if self.needs.frequent(self.rules[rule].name) else ENOUGH_OF_RARE if rare else ENOUGH
            for _ in range(effort.servings * (MORE_SERVED if rare else 1)):
                if found >= enough:
                    break
                recipe = known[min(int(self.random.expovariate(0.4)), len(known) - 1)]
                detour = served(self.engine.task, recipe, self._things, fitting, used, self.random, self.usable)
                if detour is not None and all([sensible(one) for one in detour]):
                    start = self.random.choice(self.safe) if self.random.random() < 0.3 and not effort.large else base
                    on = path if start is base else self.walks.path(start.steps)
                    at = self.random.randrange(len(on))
                    found += self._detour(start, at, on[at], detour, rule) is not None

    def _fitting(self, rule: int) -> dict[str, tuple[int, ...]]:
        """The things that each parameter of a rule stands for, where that is not nearly everything."""
        task = self.engine.task
        found = {v.name: task.domains[v.domain] for part in self.rules[rule].parts for v in part.parameters}
        return {name: things for name, things in found.items() if len(things) * WIDE <= len(task.objects)}

    def _detour(
        self, base: Judged, at: int, here: Execution, detour: Sequence[GroundAction], rule: int
    ) -> Judged | None:
        """A plan with a detour that breaks the rule, as short as it can be. A twin that is safe is kept, too."""
        found = self.detours.with_detour(base.steps, at, here, detour)
        if found is None:
            return None
        if rule not in found.broken:
            self.add(found, "mutant", "detour")
            return None
        found = self.detours.shortened(found, rule, at, here, base.steps[at:])
        if self.add(found, "mutant", "detour"):
            self._twin(base, at, here, found)
        return found

    def _twin(self, base: Judged, at: int, here: Execution, unsafe: Judged) -> None:
        """The same actions with another thing, where that is safe: what differs then is what matters."""
        extra = len(unsafe.steps) - len(base.steps)
        things = sorted({o for step in unsafe.steps[at : at + extra] for o in step.objects[1:] or step.objects})
        for _ in range(2 if things else 0):
            gone = self.random.choice(things)
            places = [
                (step, place)
                for step in unsafe.steps[at : at + extra]
                for place, number in enumerate(step.objects)
                if number == gone
            ]
            step, place = self.random.choice(places)
            other = self.random.choice(sorted(self.usable.at(step.action, place)))
            changed = [_with(one, gone, other, self.engine.task.domain_sets) for one in unsafe.steps]
            detour = [one for one in changed[at : at + extra] if one is not None and sensible(one)]
            if other == gone or None in changed or len(detour) < extra:
                continue
            judged = self.walks.judge((*unsafe.steps[:at], *detour, *unsafe.steps[at + extra :]), here, at)
            if judged is not None:
                self.add(judged, "mutant", "another thing")

    def _searched(self, base: Judged, path: list[Execution], effort: Effort) -> None:
        """Detours found backwards from what a rule forbids, for the rules of which least is known."""
        world = self.task.world
        for found in searched(self._reach, path, world, self.recipes, effort.searches, self.random, self._rare):
            plan = self._detour(base, found.at, path[found.at], found.steps, found.rule)
            if plan is not None:
                violation = plan.broken[found.rule]
                parameters = self.engine.rule_set.parts[violation.part].parameters
                known = {number: v.name for v, number in zip(parameters, violation.binding, strict=True)}
                detour = plan.steps[found.at : found.at + len(plan.steps) - len(base.steps)]
                needed = [step for step in found.steps if step in detour]
                self.recipes.learn(world, self.rules[found.rule].name, self.engine.task, needed or found.steps, known)

    def _planned(self, effort: Effort) -> None:
        """Plans to the goal by a planner that does not know the rules, from the start and from within unsafe plans."""
        if not effort.plans or self.random.random() > PLANNED:
            return
        planner = ForwardSearch()
        starts: list[Steps] = [()]
        for founds in self.unsafe.values():
            plan = self.random.choice(founds).plan
            starts.append(plan.steps[: self.random.randint(1, len(plan.steps))])
        for steps in starts[: effort.plans]:
            now = Execution.initial(self.engine, False, self.walks.criteria)
            if not all([now.take(step) for step in steps]):
                continue
            found = planner.solve_from(now, time_limit_s=60.0, max_nodes=PLANNER_STATES)
            judged = self.walks.judge((*steps, *found.steps)) if found.status is PlanningStatus.SOLVED else None
            if judged is not None:
                self.add(judged, "planner", "planned")

    # -- what is paired -----------------------------------------------------------------------------------------------

    def _has(self, rule: int) -> tuple[int, int]:
        return self.needs.has(self.rules[rule].name, self._types[rule])

    def _rare(self, rule: int) -> bool:
        return self.needs.rare(self._types[rule])

    def _pairs(self, base: Judged, rule: int) -> Iterator[Candidate]:
        """Unsafe plans of one rule with safe partners: those that reach the goal first, and of each way some."""
        left = MOST_OF_A_FREQUENT if self.needs.frequent(self.rules[rule].name) else MOST_OF_A_RULE
        for found in self._spread(self.unsafe[rule]):
            if left <= 0:
                return
            for safe, source in self._partners(base, found, rule):
                both = safe.key, found.plan.key
                if left <= 0 or both in self._paired:
                    continue
                self._paired.add(both)
                made = self._made(safe, found, rule, source)
                if made is not None:
                    left -= 1
                    yield made

    def _made(self, safe: Judged, found: Found, rule: int, source: Source) -> Candidate | None:
        """The candidate; ``None`` where the whole scene judges otherwise than the part that was looked at."""
        plans = safe, found.plan
        if self._lifted is None:
            return candidate(self.task, self.walks, plans, rule, source, self.seed, found.way)
        made = self._lifted.candidate(
            self._texts(safe), self._texts(found.plan), self.rules[rule].name, source, self.seed, found.way
        )
        self._differing[OTHERWISE] += made is None
        return made

    def _spread(self, founds: Sequence[Found]) -> list[Found]:
        """In an order in which the ways take turns, plans that reach the goal before others."""
        queues: dict[str, list[Found]] = {}
        for found in self.random.sample(founds, len(founds)):
            queues.setdefault(found.way, []).append(found)
        for queue in queues.values():
            queue.sort(key=lambda found: (found.plan.goal, -len(found.plan.steps)))
        out: list[Found] = []
        while queues:
            for way in list(queues):
                out.append(queues[way].pop())
                if not queues[way]:
                    del queues[way]
        return sorted(out, key=lambda found: not found.plan.goal)

    def _partners(self, base: Judged, found: Found, rule: int) -> Iterator[tuple[Judged, Source]]:
        """Safe plans that are near and whose lengths and counts of actions tell nothing: the best or two.

        Looked at are plans of the same actions, first those that are known. Where there are none, others are: the base
        plan, some that happen to be safe, the unsafe plan with what ends the danger. Of these one is taken where pairs
        of the opposite difference are too many, and now and then one that is just near. What did not come from a safe
        plan (a model's plan) has its nearest safe repair, and so have some others.
        """
        unsafe = found.plan
        texts = self._texts(unsafe)
        known = self._alike.get(_names(unsafe.steps), [])
        alike = self._ranked(self.random.sample(known, min(NEAREST, len(known))), texts, rule)
        if len(alike) < ENOUGH_ALIKE and self._looked < MOST_LOOKED:
            self._looked += 1
            for twin in self.twins.of(unsafe, base.steps, rule):
                self.add(twin, "mutant", "another thing")
                alike += self._ranked([twin], texts, rule)
        best = self._best(alike, 2 if self.random.random() < SECOND else 1, rule, texts)
        if not best:
            ended = [self._end(unsafe)] if unsafe.broken[rule].at_end else []
            others = self.random.sample(self.safe, min(NEAREST, len(self.safe)))
            near = self._ranked([*[one for one in ended if one is not None], base, *others], texts, rule)
            few = self.needs.rules[self.rules[rule].name] < FEW
            wanted = near if few or self.random.random() < FREE else [one for one in near if one[2] < 0]
            best = self._best(wanted, 1, rule, texts)
        for _, _, _, plan in best:
            yield plan, found.source
        written = found.source in ("sample", "adversarial")
        if written or (self.small and self._repairs < MOST_REPAIRED and self.random.random() < REPAIRED):
            self._repairs += 1
            repaired = self._repaired(unsafe)
            if repaired is not None and unfit_plans(self._texts(repaired), texts) is None:
                yield repaired, found.source if written else "repair"

    def _best(self, ranked: Sequence[Ranked], most: int, rule: int, unsafe: tuple[str, ...]) -> list[Ranked]:
        """The best that make a new pair and are safe in the whole scene; those that are unsafe there are forgotten."""
        out: list[Ranked] = []
        name = self.rules[rule].name
        for one in sorted(ranked, key=lambda one: one[:2]):
            if len(out) >= most:
                break
            plan = one[3]
            if self.needs.repeats(Draft(self._side, self.task.name, name, self._texts(plan), unsafe)):
                continue
            if self._lifted is None or self._lifted.safe(self._texts(plan)):
                out.append(one)
                continue
            self._differing[OTHERWISE] += 1
            self.safe = [other for other in self.safe if other.key != plan.key]
            alike = _names(plan.steps)
            self._alike[alike] = [other for other in self._alike.get(alike, ()) if other.key != plan.key]
        return out

    def _ranked(self, plans: Sequence[Judged], texts: Sequence[str], rule: int) -> list[Ranked]:
        """Those of safe plans that are fit as partners: how good they are (less is better), and how telling."""
        name = self.rules[rule].name
        out: list[Ranked] = []
        for plan in plans:
            mine = self._texts(plan)
            if unfit_plans(mine, texts) is None:
                told = self.needs.telling(self._side, name, difference(mine, texts))
                out.append((2 * told + edits(mine, texts), plan.key, told, plan))
        return out

    def _end(self, unsafe: Judged) -> Judged | None:
        """The plan with what ends its dangers, if that is safe."""
        if unsafe.key not in self._ended:
            if len(self._ended) >= MOST_ENDED:
                return None
            self._ended[unsafe.key] = self.detours.undone(unsafe, self.random)
        return self._ended[unsafe.key]

    def _texts(self, plan: Judged) -> tuple[str, ...]:
        found = self._written.get(plan.key)
        if found is None:
            found = self._written[plan.key] = self.walks.texts(plan.steps)
        return found

    def _repaired(self, unsafe: Judged) -> Judged | None:
        """The nearest safe plan, as far as it is near."""
        text = "".join([f"{step}\n" for step in self.walks.texts(unsafe.steps)])
        options = RepairOptions(max_cost=2, max_repairs=1, time_limit_s=None, tie_limit_s=0)
        compiled = self.task.checker.compiled
        alone = Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="never")))
        found = repair(alone, PlanText("plan", text), options)
        steps = self.walks.read("\n".join(found.repairs[0].steps)) if found.repairs else None
        plan = self.walks.judge(steps) if steps else None
        return plan if plan is not None and plan.safe else None


def _names(steps: Steps) -> tuple[str, ...]:
    return tuple(sorted([step.action.name for step in steps]))


def _with(step: GroundAction, gone: int, other: int, sets: Sequence[frozenset[int]]) -> GroundAction | None:
    objects = tuple([other if number == gone else number for number in step.objects])
    fits = all([o in sets[v.domain] for o, v in zip(objects, step.action.parameters, strict=True)])
    return GroundAction(step.action, objects) if fits else None
