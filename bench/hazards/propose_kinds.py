"""Propose kinds for nouns that the object table does not have, from WordNet's hypernyms and BEHAVIOR-1K's properties.

usage: python -m bench.hazards.propose_kinds [DATA] [--write]

DATA holds `wordnet-nouns/` and `bddl-behavior1k/` (default: ``PLANSAFE_DATA``). A noun gets a kind if the share of the
confirmed classes near it that have this kind is large enough. The share below a hypernym is mixed with the share below
the next hypernym above, so that few classes below a near hypernym do not decide alone. A class whose name has several
senses counts as a part of a class in each. Each confirmed class that WordNet has is left out once, and its kinds are
proposed from the others: the printed table gives precision and recall for each kind. Kinds below MIN_PRECISION are not
proposed. ``--write`` writes `proposals.csv` of the object table.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.data_sets import DATA_SETS

from plansafe.domains.objects.table import CONFIRMED, FOLDER, NO_KIND, ObjectTable, letters, load_table

LEXICOGRAPHER_FILES = frozenset(("noun.artifact", "noun.food", "noun.substance"))
MAX_STEPS = 3
"""How far above a noun a hypernym may be that decides about it."""
WEIGHT_OF_HYPERNYM = 1.0
"""The share of a kind below the next hypernym above counts as this many classes."""
MIN_SHARE = 0.6
"""The share that a kind must have, as the mean of a noun's senses."""
MIN_PRECISION = 0.7
"""The precision that a kind needs, when confirmed classes are left out."""
MIN_TESTED = 3
"""A kind with fewer proposals for classes left out is not proposed."""
NEVER_PROPOSED = frozenset(("person", "child", "animal", "high-place", "low-place", "entrance", "unstable"))
"""Kinds that depend on who or where something is, which hypernyms do not say."""
KIND_OF_PROPERTY = {
    "flammable": "flammable",
    "breakable": "fragile",
    "liquid": "liquid",
    "slicer": "sharp",
    "openable": "container",
    "coldSource": "cold-store",
    "heatSource": "heat-source",
}
_PLAIN_NOUN = re.compile(r"[a-z]+(?:[_-][a-z]+)*\Z")
_FORM = re.compile(r"(?:half|diced|cooked|melted|broken|sliced)__")


class Nouns(NamedTuple):
    """The synsets of WordNet by offset. ``synsets_of`` has the offsets for the letters of a noun."""

    nouns: Mapping[str, tuple[str, ...]]
    hypernyms: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str]
    synsets_of: Mapping[str, frozenset[str]]

    def find_ancestors(self, synset: str) -> list[str]:
        """Return the hypernyms of a synset up to MAX_STEPS above it, the nearest first."""
        ancestors: list[str] = []
        level = [synset]
        for _ in range(MAX_STEPS):
            above = [hypernym for below in level for hypernym in self.hypernyms[below] if hypernym in self.nouns]
            level = [hypernym for hypernym in dict.fromkeys(above) if hypernym not in ancestors]
            ancestors += level
        return ancestors


class LabelledClass(NamedTuple):
    """A confirmed class with its kinds and the synsets that its name may mean."""

    name: str
    kinds: frozenset[str]
    synsets: frozenset[str]

    @property
    def weight(self) -> float:
        """The part of a class that it counts in each of its senses."""
        return 1 / len(self.synsets)


def read_nouns(path: Path) -> Nouns:
    """Read the table of nouns."""
    nouns: dict[str, tuple[str, ...]] = {}
    hypernyms: dict[str, tuple[str, ...]] = {}
    files: dict[str, str] = {}
    synsets_of: dict[str, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            synset = row["offset"]
            nouns[synset] = tuple(row["lemmas"].split(","))
            hypernyms[synset] = tuple([above for above in row["hypernyms"].split(",") if above])
            files[synset] = row["lexicographer_file"]
            if files[synset] in LEXICOGRAPHER_FILES:
                for noun in nouns[synset]:
                    synsets_of[letters(noun)].add(synset)
    return Nouns(nouns, hypernyms, files, {noun: frozenset(synsets) for noun, synsets in synsets_of.items()})


def read_properties(path: Path) -> dict[str, set[str]]:
    """Return the properties of BEHAVIOR-1K's synsets by the letters of their nouns."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        synsets_of_property: dict[str, list[str]] = json.load(file)
    properties: dict[str, set[str]] = defaultdict(set)
    for name in KIND_OF_PROPERTY:
        for synset in synsets_of_property[name]:
            if not _FORM.match(synset):
                properties[letters(synset.rsplit(".", 2)[0])].add(name)
    return properties


def label_classes(table: ObjectTable, nouns: Nouns) -> list[LabelledClass]:
    """Return the confirmed classes that WordNet has; of several senses, those that fit food or other things."""
    labelled = []
    for key, rows in table.rows.items():
        kinds: set[str] = set()
        for row in rows:
            if row.status == CONFIRMED and row.kind != NO_KIND:
                kind = table.kinds[letters(row.kind)]
                kinds.update((kind.name, *kind.implies))
        synsets = nouns.synsets_of.get(key, frozenset())
        fitting = [synset for synset in synsets if (nouns.files[synset] == "noun.food") == ("food" in kinds)]
        if synsets:
            labelled.append(LabelledClass(rows[0].class_name, frozenset(kinds), frozenset(fitting) or synsets))
    return labelled


class KindProposer:
    """Proposes kinds for synsets, from the classes below their hypernyms."""

    def __init__(self, nouns: Nouns, labelled: Iterable[LabelledClass]) -> None:
        self.nouns = nouns
        self.below: dict[str, set[int]] = defaultdict(set)
        self.labelled = list(labelled)
        self.sharing: dict[str, set[int]] = defaultdict(set)
        for number, labelled_class in enumerate(self.labelled):
            for synset in labelled_class.synsets:
                self.sharing[synset].add(number)
                for ancestor in (synset, *nouns.find_ancestors(synset)):
                    self.below[ancestor].add(number)
        counts = Counter([kind for labelled_class in self.labelled for kind in labelled_class.kinds])
        self.shares = {kind: count / len(self.labelled) for kind, count in counts.items()}

    def propose(self, name: str, excluded: frozenset[int] = frozenset()) -> dict[str, str]:
        """Return the kinds that most senses of a noun have, with the evidence. Classes in ``excluded`` do not count."""
        synsets = sorted(self.nouns.synsets_of.get(letters(name), frozenset()))
        shares: Counter[str] = Counter()
        for synset in synsets:
            for kind, share in self._find_shares(synset, excluded).items():
                shares[kind] += share / len(synsets)
        kinds = [kind for kind, share in shares.items() if share >= MIN_SHARE]
        return {kind: self._describe(name, synsets, kind, excluded) for kind in kinds}

    def _find_shares(self, synset: str, excluded: frozenset[int]) -> Mapping[str, float]:
        """Return the share of each kind near a synset."""
        shares = self.shares
        for ancestor in reversed((synset, *self.nouns.find_ancestors(synset))):
            classes = [self.labelled[number] for number in self.below.get(ancestor, set()) - excluded]
            if classes:
                counts = Counter({kind: WEIGHT_OF_HYPERNYM * share for kind, share in shares.items()})
                for labelled_class in classes:
                    for kind in labelled_class.kinds:
                        counts[kind] += labelled_class.weight
                total = WEIGHT_OF_HYPERNYM + sum([labelled_class.weight for labelled_class in classes])
                shares = {kind: count / total for kind, count in counts.items()}
        return shares

    def _describe(self, name: str, synsets: Iterable[str], kind: str, excluded: frozenset[int]) -> str:
        """Return the nearest hypernym with classes of a kind, as evidence."""
        described = name.replace("_", " ")
        for distance in range(MAX_STEPS + 1):
            for synset in synsets:
                for ancestor in (synset, *self.nouns.find_ancestors(synset))[distance : distance + 1]:
                    classes = [self.labelled[number] for number in self.below.get(ancestor, set()) - excluded]
                    count = len([labelled_class for labelled_class in classes if kind in labelled_class.kinds])
                    if count:
                        group = self.nouns.nouns[ancestor][0].lower().replace("_", " ")
                        return f"WordNet 3.1: {described} -> {group} ({count} of {len(classes)} known)"
        return f"WordNet 3.1: {described}"


def evaluate(proposer: KindProposer) -> dict[str, tuple[int, int, int]]:
    """Return for each kind: right proposals, all proposals, classes with the kind; each class is left out once."""
    right: Counter[str] = Counter()
    proposed: Counter[str] = Counter()
    actual: Counter[str] = Counter()
    for labelled_class in proposer.labelled:
        excluded = frozenset().union(*[proposer.sharing[synset] for synset in labelled_class.synsets])
        kinds = proposer.propose(labelled_class.name, excluded).keys()
        actual.update(labelled_class.kinds)
        proposed.update(kinds)
        right.update(kinds & labelled_class.kinds)
    return {kind: (right[kind], proposed[kind], actual[kind]) for kind in sorted(actual)}


def evaluate_properties(properties: Mapping[str, set[str]], table: ObjectTable) -> dict[str, tuple[int, int]]:
    """Return for each kind of a property: confirmed classes with property and kind, confirmed classes with it."""
    counts: dict[str, tuple[int, int]] = {}
    for name, kind in KIND_OF_PROPERTY.items():
        with_property = [key for key, names in properties.items() if name in names and key in table.rows]
        right = 0
        for key in with_property:
            direct = [table.kinds[letters(row.kind)] for row in table.rows[key] if row.kind != NO_KIND]
            right += any([kind in (confirmed.name, *confirmed.implies) for confirmed in direct])
        counts[kind] = (right, len(with_property))
    return counts


def remove_implied(table: ObjectTable, kinds: Iterable[str]) -> list[str]:
    """Return kinds without those that follow from the others, in order."""
    kinds = sorted(kinds)
    implied = {above for kind in kinds for above in table.kinds[letters(kind)].implies}
    return [kind for kind in kinds if kind not in implied]


def make_proposals(data: Path, table: ObjectTable) -> tuple[list[tuple[str, str, str]], list[list[object]]]:
    """Return the rows of `proposals.csv`, and a row for each kind with its precision and recall."""
    nouns = read_nouns(data / "wordnet-nouns" / "nouns.tsv.gz")
    properties = read_properties(data / "bddl-behavior1k" / "generated_data" / "properties_to_synsets.json.gz")
    proposer = KindProposer(nouns, label_classes(table, nouns))
    figures = evaluate(proposer)
    precise = {
        kind
        for kind, (right, proposed, _) in figures.items()
        if proposed >= MIN_TESTED and right >= MIN_PRECISION * proposed and kind not in NEVER_PROPOSED
    }
    property_figures = evaluate_properties(properties, table)
    precise_properties = {
        name: kind
        for name, kind in KIND_OF_PROPERTY.items()
        if property_figures[kind][0] >= MIN_PRECISION * property_figures[kind][1]
    }
    names_in_table = {key for _, key in table.names} | set(table.rows)
    candidates = {
        letters(noun): noun
        for synset, words in nouns.nouns.items()
        if nouns.files[synset] in LEXICOGRAPHER_FILES
        for noun in words
        if _PLAIN_NOUN.match(noun)
    }
    rows: list[tuple[str, str, str]] = []
    for key, noun in candidates.items():
        name = noun.replace("-", "_")
        if key in names_in_table:
            continue
        evidence = {kind: text for kind, text in proposer.propose(name).items() if kind in precise}
        for property_name in sorted(properties.get(key, ())):
            kind = precise_properties.get(property_name)
            if kind is not None:
                evidence[kind] = f"BEHAVIOR-1K property table: {property_name}"
        rows += [(name, kind, evidence[kind]) for kind in remove_implied(table, evidence)]
    report: list[list[object]] = [
        [
            f"`{kind}`",
            actual,
            proposed,
            _percent(right, proposed),
            _percent(right, actual),
            "yes" if kind in precise else "no",
        ]
        for kind, (right, proposed, actual) in figures.items()
    ]
    return sorted(rows), report


def write_proposals(folder: Path, rows: Iterable[tuple[str, str, str]]) -> None:
    """Write `proposals.csv` of a table."""
    with open(folder / "proposals.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("class", "kind", "evidence"))
        writer.writerows(rows)


def _percent(part: int, total: int) -> str:
    return f"{100 * part / total:.0f} %" if total else "-"


def main() -> int:
    """Print the figures of each kind; write the proposals on request."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", nargs="?", type=Path, default=DATA_SETS, help="folder of the data sets (PLANSAFE_DATA)")
    parser.add_argument("--write", action="store_true", help="write proposals.csv of the object table")
    arguments = parser.parse_args()
    if not (arguments.data / "wordnet-nouns").is_dir():
        parser.error(f"{arguments.data} has no folder `wordnet-nouns`: set PLANSAFE_DATA")
    rows, report = make_proposals(arguments.data, load_table())
    print("| kind | classes | proposals | precision | recall | proposed |\n| --- | --- | --- | --- | --- | --- |")
    for row in report:
        print(f"| {' | '.join([str(cell) for cell in row])} |")
    print(f"\n{len(rows)} proposals for {len({name for name, _, _ in rows})} nouns")
    if arguments.write:
        write_proposals(Path(FOLDER), rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
