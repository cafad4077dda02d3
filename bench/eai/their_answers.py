"""Answers for the scripts that run in the environment of ``eai-eval``; it needs no package of this project."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Sequence
from typing import Any


def read_answers(path: str) -> list[dict[str, Any]]:
    """Read a file of answers. Then go to a new folder and switch logs off, because the evaluator writes both."""
    with open(path, encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    os.chdir(tempfile.mkdtemp(prefix="eai-"))
    logging.disable(logging.CRITICAL)
    return answers


def write_answers(folder: str, part: str, answers: Sequence[dict[str, Any]]) -> None:
    """Write answers, at most one for each task, where the evaluator of a part reads them."""
    os.makedirs(f"{folder}/virtualhome/{part}")
    with open(f"{folder}/virtualhome/{part}/m_outputs.json", "w", encoding="utf-8") as file:
        json.dump([{"identifier": answer["task"], "llm_output": answer["text"]} for answer in answers], file)


def describe_crash(error: Exception) -> str:
    """Return the exception of the evaluator as a short text."""
    return f"{type(error).__name__}: {error}"[:200]
