"""The routes of the HTTP service: a method and a path for each operation."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.app.interfaces.agents import operation_fields
from plansafe.app.interfaces.agents.operation_fields import Operation

V1 = "/v1"


class ServiceRoute(NamedTuple):
    """A method and path with its operation. ``path`` can have fields in braces; ``session`` selects a session."""

    method: str
    path: str
    operation: Operation
    fixed: tuple[tuple[str, str], ...] = ()


ROUTES = (
    ServiceRoute("POST", f"{V1}/audit", operation_fields.AUDIT),
    ServiceRoute("POST", f"{V1}/repair", operation_fields.REPAIR),
    ServiceRoute("POST", f"{V1}/diagnose", operation_fields.DIAGNOSE),
    ServiceRoute("POST", f"{V1}/formalise", operation_fields.FORMALISE),
    ServiceRoute("GET", f"{V1}/explain/{{code}}", operation_fields.EXPLAIN),
    ServiceRoute("GET", f"{V1}/hazards", operation_fields.HAZARDS),
    ServiceRoute("GET", f"{V1}/catalogue", operation_fields.CATALOGUE),
    ServiceRoute("GET", f"{V1}/rules/{{name}}", operation_fields.SHOW, (("what", "rules"),)),
    ServiceRoute("GET", f"{V1}/domains/{{name}}", operation_fields.SHOW, (("what", "domain"),)),
    ServiceRoute("GET", f"{V1}/worlds/{{name}}", operation_fields.SHOW, (("what", "world"),)),
    ServiceRoute("POST", f"{V1}/sessions", operation_fields.OPEN),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/allowed", operation_fields.ALLOWED),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/take", operation_fields.TAKE),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/observe", operation_fields.OBSERVE),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/next", operation_fields.NEXT),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/state", operation_fields.STATE),
    ServiceRoute("DELETE", f"{V1}/sessions/{{session}}", operation_fields.CLOSE),
)
