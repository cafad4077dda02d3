"""Acceptance of whole part files, with a log of every verdict: the source of the rejection table, and a cache."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.scenarios.risks.acceptance import accept_risk
from plansafe.llm.scenarios.risks.part_files import SUFFIX as RISKS
from plansafe.llm.scenarios.risks.part_files import RiskEntry
from plansafe.llm.scenarios.sets.acceptance import Acceptance, ComparedScenario, Fault, accept, set_faults
from plansafe.llm.scenarios.sets.part_files import NO_RISK, Block, Entry, Mistake, read_part
from plansafe.llm.scenarios.sets.reading import part_paths, read_entry, read_part_file
from plansafe.llm.scenarios.sets.risk_literals import derive_risk
from plansafe.llm.scenarios.validation.model import Limits

_DERIVED = ("natural", "risk", "rule")


class PartVerdict(NamedTuple):
    """The verdicts on the scenarios of one part file, and errors outside of scenarios."""

    path: str
    source: Source
    verdicts: tuple[Acceptance, ...]
    mistakes: tuple[Mistake, ...]


class AcceptanceLog:
    """Verdicts by the hash of a scenario's text. ``path``: a file of JSON lines that grows; without it, memory."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        self._accepted: dict[str, dict[str, Any]] = {}
        self._logged: set[tuple[str, str]] = set()
        if path is not None and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    self._remember(json.loads(line))

    def _remember(self, record: dict[str, Any]) -> None:
        for sha256 in {record["sha256"], record.get("sha256_written", record["sha256"])}:
            self._logged.add((sha256, " ".join(record["codes"])))
            if record["accepted"]:
                self._accepted[sha256] = record

    def verdict(self, entry: Entry) -> Acceptance | None:
        """The verdict on an accepted scenario that has not changed since."""
        record = self._accepted.get(entry_sha256(entry))
        if record is None or entry.mistakes:
            return None
        return Acceptance(entry, (), tuple(record["natural"]), record["structure"], record["figures"])

    def add(self, verdict: Acceptance) -> None:
        """Add a verdict that the log does not have yet."""
        codes = sorted({fault.code for fault in verdict.faults})
        sha256 = entry_sha256(verdict.entry)
        if (sha256, " ".join(codes)) in self._logged:
            return
        record = {
            "name": verdict.entry.name,
            "part": os.path.basename(verdict.entry.part),
            "kind": "risk" if isinstance(verdict.entry, RiskEntry) else verdict.entry.block.text("kind"),
            "hazard": verdict.entry.block.text("hazard"),
            "sha256": sha256,
            "sha256_written": entry_sha256(verdict.entry, {"goal": _goal_text(verdict)}),
            "accepted": verdict.accepted,
            "codes": codes,
            "messages": [fault.message for fault in verdict.faults],
            "natural": list(verdict.natural),
            "structure": verdict.structure,
            "figures": dict(verdict.figures),
        }
        self._remember(record)
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def entry_sha256(entry: Entry, written: Mapping[str, str] = MappingProxyType({})) -> str:
    """The hash of what a scenario and its family say, without what the acceptance command writes.

    ``written``: values that the command adds to the scenario's block where they are missing; empty ones are ignored.
    """

    def values(block: Block) -> dict[str, str]:
        return {key: block.text(key) for key in sorted(block.values) if key not in _DERIVED}

    own = values(entry.block)
    own |= {key: value for key, value in written.items() if value and key not in own}
    text = json.dumps([entry.name, dict(sorted(own.items())), values(entry.family)])
    return hashlib.sha256(text.encode()).hexdigest()


def accept_part(
    path: str,
    log: AcceptanceLog,
    limits: Limits | None = None,
    only: Sequence[str] = (),
    compared: Iterable[ComparedScenario] = (),
    progress: Callable[[Acceptance], None] | None = None,
) -> PartVerdict:
    """Judge the scenarios of a part file, alone and against ``compared`` and each other. Raises ``OSError``.

    ``only``: names of the scenarios to judge; the others of the file are only compared with.
    """
    source = Source.from_path(path)
    part = read_part_file(source)
    alone: list[Acceptance] = []
    for entry in part.entries:
        if only and entry.name not in only:
            alone.append(log.verdict(entry) or Acceptance(entry, ()))
            continue
        verdict = log.verdict(entry) or accept_entry(entry, limits)
        log.add(verdict)
        alone.append(verdict)
        if progress is not None:
            progress(verdict)
    in_set = set_faults(alone, tuple(compared))
    verdicts = []
    for verdict in alone:
        faults = in_set.get(verdict.entry.name, [])
        combined = replace(verdict, faults=(*verdict.faults, *faults))
        if faults and (not only or verdict.entry.name in only):
            log.add(combined)
        if not only or verdict.entry.name in only:
            verdicts.append(combined)
    return PartVerdict(path, source, tuple(verdicts), part.mistakes)


def known_scenarios(paths: Iterable[str], log: AcceptanceLog) -> tuple[ComparedScenario, ...]:
    """The scenarios of part files, to compare others with. A structure is known for those that the log accepted."""
    out = []
    for path in paths:
        for entry in read_part_file(Source.from_path(path)).entries:
            verdict = log.verdict(entry)
            structure = "" if verdict is None else verdict.structure
            rule = "" if verdict is None else str(verdict.figures.get("rule") or "")
            out.append(ComparedScenario(os.path.basename(path), entry.name, entry.instruction, structure, rule))
    return tuple(out)


def accept_entry(entry: Entry, limits: Limits | None = None) -> Acceptance:
    """Judge one scenario or risk by itself."""
    return accept_risk(entry) if isinstance(entry, RiskEntry) else accept(entry, limits)


def neighbours(paths: Sequence[str]) -> tuple[str, ...]:
    """The other part files in the folders of part files."""
    excluded = {os.path.abspath(path) for path in paths}
    folders = sorted({os.path.dirname(path) for path in excluded})
    return tuple([path for folder in folders for path in part_paths(folder) if path not in excluded])


def with_derived(source: Source, verdicts: Iterable[Acceptance]) -> str:
    """The text of a part file in which accepted scenarios have their natural plan and their risk literals.

    They are written after the plan, where they are missing. A scenario without a single decisive literal has ``none``.
    """
    good = [verdict for verdict in verdicts if verdict.accepted]
    if source.name.endswith(RISKS):
        return _with_lines(source.text, {verdict.entry.block.line: _derived_of_risk(verdict) for verdict in good})
    natural = {
        verdict.entry.block.lines("plan")[-1].number: [
            "natural:",
            *[f"  {step.strip('()')}" for step in verdict.natural],
        ]
        for verdict in good
        if verdict.natural and not verdict.entry.block.lines("natural")
    }
    text = _with_lines(source.text, natural)
    names = {verdict.entry.name for verdict in good}
    changed = Source(source.name, text)
    risk: dict[int, list[str]] = {}
    for entry in read_part(changed).entries:
        if entry.name in names and not entry.block.lines("risk"):
            scenario = read_entry(changed, entry, {})
            risk_found = None if isinstance(scenario, tuple) else derive_risk(scenario)
            last = (entry.block.lines("natural") or entry.block.lines("plan"))[-1].number
            risk[last] = [f"risk: {NO_RISK if risk_found is None else ' '.join(risk_found)}"]
    return _with_lines(text, risk)


def _derived_of_risk(verdict: Acceptance) -> list[str]:
    """The goal, if none is written, and the broken rule."""
    block, figures = verdict.entry.block, verdict.figures
    lines = [] if block.lines("rule") else [f"rule: {figures['rule']}"]
    goal = "" if block.lines("goal") else _goal_text(verdict)
    return [*lines, f"goal: {goal}"] if goal else lines


def _goal_text(verdict: Acceptance) -> str:
    """The derived goal of a risk; empty if there is none."""
    goal = verdict.figures.get("goal")
    return "; ".join(map(str, goal)) if isinstance(goal, list) else ""


def _with_lines(text: str, inserted: Mapping[int, Sequence[str]]) -> str:
    """The text with lines inserted after the lines of these numbers."""
    lines = text.splitlines()
    for number in sorted(inserted, reverse=True):
        lines[number:number] = inserted[number]
    return "\n".join(lines) + "\n"


def fault_text(path: str, fault: Fault) -> str:
    """A fault as one line."""
    place = f"{path}:{fault.line}: " if fault.line else ""
    return f"{place}[{fault.code}] {fault.message}" + (f"\n      help: {fault.help}" if fault.help else "")
