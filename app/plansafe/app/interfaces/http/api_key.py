"""The API key of the service: from an environment variable or a file, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

VARIABLE = "SAFECHECK_API_KEY"
SHORTEST = 16
_MOST = 4096


def read_key(path: str | None, environment: Mapping[str, str]) -> str | Diagnostic | None:
    """The key, from the file if one is named, else from :data:`VARIABLE`; ``None``: there is none."""
    if path is None:
        key = environment.get(VARIABLE)
        where = f"the variable {VARIABLE}"
    else:
        where = f"the file {path}"
        try:
            with open(path, encoding="utf-8") as file:
                key = file.read(_MOST)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
            return Diagnostic(SC.BAD_KEY, f"the key cannot be read from {where}: {reason}", help="name another file")
    if key is None:
        return None
    key = key.strip()
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        message = f"the key in {where} is no word of at least {SHORTEST} printable ASCII characters"
        return Diagnostic(SC.BAD_KEY, message, help="python -c 'import secrets; print(secrets.token_urlsafe(32))'")
    return key


class Lock:
    """Opens for one key. Digests of equal length are compared, so that time tells nothing of the key."""

    def __init__(self, key: str | None) -> None:
        self._digest = None if key is None else _digest(key.encode("ascii"))

    @property
    def locked(self) -> bool:
        """Whether a key is needed."""
        return self._digest is not None

    def opens(self, headers: Mapping[str, str]) -> bool:
        """Whether a request may pass: ``Authorization: Bearer KEY``, or ``X-API-Key: KEY``."""
        if self._digest is None:
            return True
        kind, _, said = headers.get("authorization", "").partition(" ")
        given = said.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        return hmac.compare_digest(_digest(given.encode("utf-8", "surrogateescape")), self._digest)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
