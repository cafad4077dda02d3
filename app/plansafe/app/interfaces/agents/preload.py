"""Load the modules that all workers need, once before they are forked."""

from __future__ import annotations

import gc

import plansafe.app.interfaces.agents.worker
import plansafe.app.render.repair_json
import plansafe.domains.virtualhome
import plansafe.llm.loose.reader
import plansafe.verifier.api
import plansafe.verifier.planning.guide
import plansafe.verifier.repair.api  # noqa: F401 - used by the forked processes
from plansafe.grammar.expected_syntax import GRAMMAR_FILES, find_rejection

for kind in GRAMMAR_FILES:
    find_rejection(kind, "(")  # building the tables for syntax errors takes almost a second
gc.collect()
gc.freeze()  # memory pages that garbage collection does not touch stay shared
