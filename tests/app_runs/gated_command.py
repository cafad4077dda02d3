"""The command ``safecheck`` whose Ray workers wait before plan number GATE until the file ``gate-is-open`` exists.

A test can therefore do something in the middle of a run, whatever the speed of the machine.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from plansafe.app.main import main
from plansafe.app.runs import batch
from plansafe.app.runs.cluster import Cluster
from plansafe.app.runs.executor import WorkerBackend
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.session.model import Settings

GATE = 72


def gated_auditor(settings: Settings) -> RowAuditor:
    """Make the auditor of a worker. Ray sends a class within a function by value."""

    class GatedAuditor(RowAuditor):
        def audit_item(self, item: Item) -> AuditedRow:
            while item.number >= GATE and not Path("gate-is-open").exists():
                time.sleep(0.02)
            time.sleep(0.02)  # so that rows follow the opening one after the other
            return super().audit_item(item)

    return GatedAuditor(settings)


def gated_cluster(settings: Settings, options: batch.Batch) -> WorkerBackend:
    return Cluster(settings, options.jobs, options.address, options.memory, gated_auditor)


if __name__ == "__main__":
    batch._worker_backend = gated_cluster
    sys.exit(main())
