"""The routes of the HTTP service: a method and a path for each operation."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.app.interfaces.agents import operation_fields
from plansafe.app.interfaces.agents.operation_fields import Operation

V1 = "/v1"


class Way(NamedTuple):
    """A path, and what it does. ``path`` may name fields in braces; of ``session`` they are asked of that session."""

    method: str
    path: str
    operation: Operation
    fixed: tuple[tuple[str, str], ...] = ()


WAYS = (
    Way("POST", f"{V1}/audit", operation_fields.AUDIT),
    Way("POST", f"{V1}/repair", operation_fields.REPAIR),
    Way("POST", f"{V1}/diagnose", operation_fields.DIAGNOSE),
    Way("POST", f"{V1}/formalise", operation_fields.FORMALISE),
    Way("GET", f"{V1}/explain/{{code}}", operation_fields.EXPLAIN),
    Way("GET", f"{V1}/hazards", operation_fields.HAZARDS),
    Way("GET", f"{V1}/catalogue", operation_fields.CATALOGUE),
    Way("GET", f"{V1}/rules/{{name}}", operation_fields.SHOW, (("what", "rules"),)),
    Way("GET", f"{V1}/domains/{{name}}", operation_fields.SHOW, (("what", "domain"),)),
    Way("GET", f"{V1}/worlds/{{name}}", operation_fields.SHOW, (("what", "world"),)),
    Way("POST", f"{V1}/sessions", operation_fields.OPEN),
    Way("POST", f"{V1}/sessions/{{session}}/allowed", operation_fields.ALLOWED),
    Way("POST", f"{V1}/sessions/{{session}}/take", operation_fields.TAKE),
    Way("POST", f"{V1}/sessions/{{session}}/observe", operation_fields.OBSERVE),
    Way("POST", f"{V1}/sessions/{{session}}/next", operation_fields.NEXT),
    Way("POST", f"{V1}/sessions/{{session}}/state", operation_fields.STATE),
    Way("DELETE", f"{V1}/sessions/{{session}}", operation_fields.CLOSE),
)
