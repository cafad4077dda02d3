"""The cache of answers: an SQLite file with the request and the model as key, safe against a kill at any moment.

An answer is on the disk before it is used. The file holds prompts and answers, and is readable by its owner alone.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import TracebackType

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer, from_json, to_json
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.request import Request, address, canonical, content

_OURS = 0x5AFEC8EC
"""In the head of the file (PRAGMA application_id), so that no other program's data are written over."""
_VERSION = 1
_TABLE = """
create table if not exists answers (
    address text primary key, model text not null, request text not null, answer text not null, at real not null
) without rowid
"""


def default_path(environment: Mapping[str, str]) -> str:
    """Where answers are kept: ``SAFECHECK_CACHE``, else the user's folder for caches."""
    home = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(environment.get("SAFECHECK_CACHE") or os.path.join(home, "safecheck"), "answers.sqlite")


class Cache:
    """Open or create the file at a path. Raises :class:`ModelError` for a file that is something else."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            os.makedirs(os.path.dirname(path) or os.curdir, mode=0o700, exist_ok=True)
            if not os.path.lexists(path):
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._connection.close()
            raise self._unusable(error) from None
        except ModelError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        run("begin immediate")  # two runs may make the file at once
        try:
            ours = run("pragma application_id").fetchone()[0]
            tables = run("select count(*) from sqlite_master").fetchone()[0]
            version = run("pragma user_version").fetchone()[0]
            if (ours, tables) != (0, 0) and (ours != _OURS or version != _VERSION):
                raise self._unusable("it is not an answer cache of this version")
            if not tables:
                run(f"pragma application_id = {_OURS}")
                run(f"pragma user_version = {_VERSION}")
                run(_TABLE)
        finally:
            run("commit")
        run("pragma journal_mode = wal")
        run("pragma synchronous = full")  # a millisecond; a call takes seconds

    def _unusable(self, error: object) -> ModelError:
        message = f"answers cannot be kept in {self.path}: {error}"
        help = "name another file with --cache, or move this one away"
        return ModelError(Diagnostic(SC.BAD_ANSWER_CACHE, message, help=help), fatal=True)

    def get(self, request: Request, identity: str) -> Answer | None:
        """The answer that a model gave to this request, marked as stored. What cannot be read counts as none."""
        try:
            with self._lock:
                row = self._connection.execute(
                    "select answer from answers where address = ?", (address(request, identity),)
                ).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        answer = from_json(row[0]) if row is not None and isinstance(row[0], str) else None
        return None if answer is None else replace(answer, stored=True)

    def put(self, request: Request, identity: str, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns. An unreadable one is written over."""
        row = (address(request, identity), identity, canonical(content(request)), to_json(answer), time.time())
        try:
            with self._lock:
                self._connection.execute("insert or replace into answers values (?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def records(self) -> Iterator[tuple[str, str, str]]:
        """All that is kept, oldest first: the model's identity, the request and the answer as JSON."""
        with self._lock:
            rows = self._connection.execute("select model, request, answer from answers order by at").fetchall()
        yield from rows

    def __len__(self) -> int:
        with self._lock:
            return int(self._connection.execute("select count(*) from answers").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
