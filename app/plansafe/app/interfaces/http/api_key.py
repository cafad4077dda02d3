"""The API key of the service: from an environment variable or a file, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

VARIABLE = "SAFECHECK_API_KEY"
SHORTEST = 16
_MAX_LENGTH = 4096


def read_key(path: str | None, environment: Mapping[str, str]) -> str | Diagnostic | None:
    """Read the key from a file, or from :data:`VARIABLE` if ``path`` is ``None``. Return ``None`` if no key is set."""
    if path is None:
        key = environment.get(VARIABLE)
        where = f"the variable {VARIABLE}"
    else:
        where = f"the file {path}"
        try:
            with open(path, encoding="utf-8") as file:
                key = file.read(_MAX_LENGTH)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            return Diagnostic(SC.BAD_KEY, f"the key cannot be read from {where}: {reason}", help="use another file")
    if key is None:
        return None
    key = key.strip()
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        message = f"the key in {where} must have at least {SHORTEST} printable ASCII characters and no spaces"
        return Diagnostic(SC.BAD_KEY, message, help="python -c 'import secrets; print(secrets.token_urlsafe(32))'")
    return key


class Lock:
    """Check for one API key. Digests of equal length are compared, so the duration does not depend on the key."""

    def __init__(self, key: str | None) -> None:
        self._digest = None if key is None else _digest(key.encode("ascii"))

    @property
    def locked(self) -> bool:
        """Whether requests need a key."""
        return self._digest is not None

    def accepts(self, headers: Mapping[str, str]) -> bool:
        """Whether the headers have the key, as ``Authorization: Bearer KEY`` or ``X-API-Key: KEY``."""
        if self._digest is None:
            return True
        kind, _, credentials = headers.get("authorization", "").partition(" ")
        request_key = credentials.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        return hmac.compare_digest(_digest(request_key.encode("utf-8", "surrogateescape")), self._digest)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
