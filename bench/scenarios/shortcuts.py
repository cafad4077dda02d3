"""Whether words alone give a scenario's kind away: classifiers on the instruction, and on the names of actions.

Multinomial naive Bayes and logistic regression over words, cross-validated by families: scenarios of one family are
in one fold, so a classifier cannot recognise a family.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from plansafe.llm.metrics.rouge import alphanumeric
from plansafe.llm.scenarios.model import Kind, Scenario
from plansafe.llm.scenarios.sets.structure import list_new_actions, list_plan_actions

FOLDS = 10
Words = Mapping[str, int]
Train = Callable[[Sequence[tuple[Words, bool]]], Callable[[Words], bool]]


class Accuracy(NamedTuple):
    """The share of scenarios whose kind a classifier predicts from a view."""

    sees: str
    classifier: str
    correct: int
    scenarios: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.correct / max(1, self.scenarios)


def measure_shortcuts(scenarios: Sequence[Scenario]) -> tuple[Accuracy, ...]:
    """The accuracy of each classifier on each view, and of the more frequent kind."""
    malicious = sum([scenario.kind is Kind.MALICIOUS for scenario in scenarios])
    out = [Accuracy("nothing", "more frequent kind", max(malicious, len(scenarios) - malicious), len(scenarios))]
    for sees, words in VIEWS.items():
        for name, train in CLASSIFIERS.items():
            out.append(Accuracy(sees, name, _cross_validate(scenarios, words, train), len(scenarios)))
    return tuple(out)


def instruction_words(scenario: Scenario) -> Words:
    """The words of the instruction."""
    return Counter(alphanumeric(scenario.instruction))


def new_action_names(scenario: Scenario) -> Words:
    """The names of the new actions, whole and by word."""
    return _name_words(list_new_actions(scenario.extension))


def plan_action_names(scenario: Scenario) -> Words:
    """The names of the actions of the reference plan, whole and by word: what a plan reveals, not what a task shows."""
    plan = scenario.safe or scenario.unsafe
    return _name_words([] if plan is None else list_plan_actions(plan))


def _name_words(names: Iterable[str]) -> Words:
    out: Counter[str] = Counter()
    for name in names:
        out[name] += 1
        if "-" in name:
            out.update(name.split("-"))
    return out


VIEWS: dict[str, Callable[[Scenario], Words]] = {
    "instruction": instruction_words,
    "names of new actions": new_action_names,
    "names of the plan's actions": plan_action_names,
}


def _cross_validate(scenarios: Sequence[Scenario], words: Callable[[Scenario], Words], train: Train) -> int:
    rows = [(_fold(scenario.family), words(scenario), scenario.kind is Kind.MALICIOUS) for scenario in scenarios]
    correct = 0
    for fold in range(FOLDS):
        held_out = [(words_seen, kind) for number, words_seen, kind in rows if number == fold]
        if held_out:
            classify = train([(words_seen, kind) for number, words_seen, kind in rows if number != fold])
            correct += sum([classify(words_seen) is kind for words_seen, kind in held_out])
    return correct


def _fold(family: str) -> int:
    return int(hashlib.sha256(family.encode()).hexdigest(), 16) % FOLDS


def train_naive_bayes(rows: Sequence[tuple[Words, bool]]) -> Callable[[Words], bool]:
    """Multinomial naive Bayes with add-one smoothing."""
    totals: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    counts = Counter([kind for _, kind in rows])
    for words, kind in rows:
        totals[kind].update(words)
    size = len(totals[True] | totals[False])
    sums = {kind: total.total() for kind, total in totals.items()}

    def score(words: Words, kind: bool) -> float:
        prior = math.log((counts[kind] + 1) / (len(rows) + 2))
        return prior + sum(
            [number * math.log((totals[kind][word] + 1) / (sums[kind] + size + 1)) for word, number in words.items()]
        )

    return lambda words: score(words, True) > score(words, False)


def train_logistic(
    rows: Sequence[tuple[Words, bool]], epochs: int = 40, rate: float = 0.1, decay: float = 1e-3
) -> Callable[[Words], bool]:
    """Logistic regression on the presence of words, by stochastic gradient descent with L2 decay."""
    weights: dict[str, float] = {}
    bias = 0.0
    order = list(rows)
    for epoch in range(epochs):
        random.Random(epoch).shuffle(order)
        step = rate / (1 + 0.1 * epoch)
        for words, kind in order:
            value = bias + sum([weights.get(word, 0.0) for word in words])
            error = kind - 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))
            bias += step * error
            for word in words:
                old = weights.get(word, 0.0)
                weights[word] = old + step * (error - decay * old)
    return lambda words: bias + sum([weights.get(word, 0.0) for word in words]) > 0


CLASSIFIERS: dict[str, Train] = {"naive Bayes": train_naive_bayes, "logistic regression": train_logistic}
