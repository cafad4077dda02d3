"""The measurements of a running service, as text for Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of durations in seconds."""


class Metrics:
    """Counts of requests and their durations. Labels are names of operations and HTTP statuses."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._counts: Counter[str] = Counter()

    def record(self, operation: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests[operation, status] += 1
        self._seconds[operation] += seconds
        self._counts[operation] += 1
        for bound in _BUCKETS:
            if seconds <= bound:
                self._buckets[operation, bound] += 1

    def text(self, gauges: Mapping[str, tuple[int, str]]) -> str:
        """Return all measurements; ``gauges`` are current values with their descriptions."""
        return "".join([f"{line}\n" for line in (*self._counter(), *self._histogram(), *_gauges(gauges))])

    def _counter(self) -> Iterator[str]:
        yield from _head("safecheck_requests_total", "Requests by operation and status.", "counter")
        for (operation, status), count in sorted(self._requests.items()):
            yield f'safecheck_requests_total{{operation="{operation}",status="{status}"}} {count}'

    def _histogram(self) -> Iterator[str]:
        name = "safecheck_request_duration_seconds"
        yield from _head(name, "Time from the head of a request to its reply, by operation.", "histogram")
        for operation, seconds in sorted(self._seconds.items()):
            count = self._counts[operation]
            for bound in _BUCKETS:
                yield f'{name}_bucket{{operation="{operation}",le="{bound:g}"}} {self._buckets[operation, bound]}'
            yield f'{name}_bucket{{operation="{operation}",le="+Inf"}} {count}'
            yield f'{name}_sum{{operation="{operation}"}} {seconds:.6f}'
            yield f'{name}_count{{operation="{operation}"}} {count}'


def _gauges(gauges: Mapping[str, tuple[int, str]]) -> Iterator[str]:
    for name, (value, about) in gauges.items():
        yield from _head(f"safecheck_{name}", about, "gauge")
        yield f"safecheck_{name} {value}"


def _head(name: str, about: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"
