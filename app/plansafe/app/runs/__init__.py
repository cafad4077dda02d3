"""Runs: many plans judged by one command, in a folder that can be resumed, read, counted and compared.

``docs/batches.md`` has the folder's files. :func:`read_run` reads one; :func:`to_dataframe` makes a table of it.
"""

from __future__ import annotations

from plansafe.app.runs.run_reader import BadRun, Run, read_run, to_dataframe

__all__ = ["BadRun", "Run", "read_run", "to_dataframe"]
