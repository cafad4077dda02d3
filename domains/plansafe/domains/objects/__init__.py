"""The object table: which kinds the classes of objects have, for all home worlds (docs/worlds.md, section 5).

``table`` reads the CSV files of this folder, ``names`` finds the class that a name means, ``classification`` the kinds
of the types and objects of a task, and ``generated_mapping`` writes them as a mapping, which :func:`add_kinds` adds to
the specifications of a task.
"""

from __future__ import annotations

from plansafe.domains.objects.classification import TableView
from plansafe.domains.objects.generated_mapping import add_kinds
from plansafe.domains.objects.table import load_table

__all__ = ["TableView", "add_kinds", "load_table"]
