"""What workers have in common, loaded once before they are forked: the engine, and what most requests need."""

from __future__ import annotations

import gc

import plansafe.app.interfaces.agents.worker
import plansafe.app.render.repair_json
import plansafe.domains.virtualhome
import plansafe.llm.loose.reader
import plansafe.verifier.api
import plansafe.verifier.planning.recoverable
import plansafe.verifier.repair.api  # noqa: F401 - all of them for the processes that are forked
from plansafe.grammar.expected import KINDS, refusal

for kind in KINDS:
    refusal(kind, "(")  # what a syntax error asks takes most of a second to be made
gc.collect()
gc.freeze()  # pages that no collection touches stay shared
