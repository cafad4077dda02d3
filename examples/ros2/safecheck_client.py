"""A client for one session of ``safecheck serve``: Python's standard library alone. Whatever fails allows nothing."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit


class Refused(Exception):
    """The service gave no advice: it cannot be reached, the session has ended, or the request is wrong."""


class Gate:
    """One robot's session. Not for several threads at once."""

    def __init__(self, address: str, task: dict[str, Any], key: str | None = None, seconds: float = 1.0) -> None:
        self._place = urlsplit(address)
        self._head = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._seconds = seconds
        self._connection: http.client.HTTPConnection | None = None
        opened = self._ask("POST", "/v1/sessions", task, seconds=60.0)  # the task is compiled here
        self._path = f"/v1/sessions/{opened['session']}"
        self.position: int = opened["position"]

    def allowed(self, action: str) -> tuple[bool, str]:
        """Whether an action may be taken now; if not, why. Never raises: no answer is no permission."""
        try:
            said = self._ask("POST", f"{self._path}/allowed", {"action": action})
        except Refused as why:
            return False, f"no advice: {why}"
        return said["allowed"] is True, self._why(said)

    def took(self, action: str) -> None:
        """Tell that an action was taken, allowed or not."""
        given = {"action": action, "position": self.position, "despite": True}
        self.position = self._ask("POST", f"{self._path}/take", given)["position"]

    def saw(self, facts: list[str]) -> list[str]:
        """Tell what the sensors see; the messages of rules that are broken in the state as it was seen."""
        said = self._ask("POST", f"{self._path}/observe", {"facts": facts, "position": self.position})
        self.position = said["position"]
        return [broken["message"] for broken in said["breaks"]]

    def safe_steps(self, most: int = 20) -> list[str]:
        """Legal steps that break no rule."""
        said = self._ask("POST", f"{self._path}/next", {"most": most, "unsafe": False})
        return [step["step"] for step in said["steps"]]

    def close(self) -> None:
        """End the session."""
        self._ask("DELETE", self._path)

    @staticmethod
    def _why(said: dict[str, Any]) -> str:
        return "; ".join([*said["reasons"], *[f"{b['rule']}: {b['message']}" for b in said["breaks"]]])

    def _ask(self, method: str, path: str, given: dict[str, Any] | None = None, seconds: float | None = None) -> Any:
        body = None if given is None else json.dumps(given)
        if seconds is not None or self._connection is None:
            place = self._place
            self._connection = http.client.HTTPConnection(
                place.hostname or "127.0.0.1", place.port, timeout=seconds or self._seconds
            )
        try:
            self._connection.request(method, path, body, self._head)
            answer = self._connection.getresponse()
            said = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            self._connection = None
            raise Refused(str(error) or type(error).__name__) from error
        if seconds is not None:
            self._connection.close()
            self._connection = None
        if answer.status != 200:
            raise Refused(said["error"]["message"])
        return said
