"""Runs: many plans audited by one command into a folder that can be resumed, read, counted and compared.

``docs/batches.md`` describes the files of the folder. :func:`read_run` reads a run; :func:`to_dataframe` converts it.
"""

from __future__ import annotations

from plansafe.app.runs.run_reader import BadRun, Run, read_run, to_dataframe

__all__ = ["BadRun", "Run", "read_run", "to_dataframe"]
