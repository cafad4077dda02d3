"""A pytest plugin: import one module from a mutated text, or record which lines each test runs.

``PLANSAFE_MUTANT`` names the path of a module and the file with its mutated text, separated by a colon.
``PLANSAFE_CPU_SECONDS`` is the limit of the CPU time; memory is also limited.
``PLANSAFE_FAILED`` names a file that gets the name of a failed test.
``PLANSAFE_COVERAGE`` names the data file of `coverage`; ``PLANSAFE_PACKAGES`` the measured folders.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

import pytest


class _MutantLoader(SourceFileLoader):
    """Compiles the module from another file, and never reads or writes its cached code."""

    text: bytes = b""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self.text, self.path, "exec", dont_inherit=True)
        return code


class _MutantFinder(MetaPathFinder):
    """Finds the mutated module before the usual finders do."""

    def __init__(self, path: str, mutated: str) -> None:
        self._path = os.path.realpath(path)
        with open(mutated, "rb") as file:
            self._text = file.read()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("plansafe."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or os.path.realpath(spec.origin) != self._path:
            return None
        loader = _MutantLoader(fullname, self._path)
        loader.text = self._text
        spec.loader = loader
        return spec


MEMORY = 6 << 30

if "PLANSAFE_CPU_SECONDS" in os.environ:
    seconds = int(os.environ["PLANSAFE_CPU_SECONDS"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
if "PLANSAFE_MUTANT" in os.environ:
    sys.meta_path.insert(0, _MutantFinder(*os.environ["PLANSAFE_MUTANT"].split(":")))


class _Recorder:
    """Measures the lines of each test; the name of the test is the context of its lines."""

    def __init__(self, file: str, folders: Sequence[str]) -> None:
        import coverage  # only `run.py lines` needs it

        self._coverage = coverage.Coverage(
            data_file=file, data_suffix=True, include=[f"{folder}/*" for folder in folders], config_file=False
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and "PLANSAFE_FAILED" in os.environ:
        with open(os.environ["PLANSAFE_FAILED"], "w", encoding="utf-8") as file:
            file.write(report.nodeid)


def pytest_configure(config: Any) -> None:
    if "PLANSAFE_COVERAGE" in os.environ:
        folders = os.environ["PLANSAFE_PACKAGES"].split(":")
        config.pluginmanager.register(_Recorder(os.environ["PLANSAFE_COVERAGE"], folders))
