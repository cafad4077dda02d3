"""Addresses of servers: checked before anything is sent, so that no key goes where it should not."""

from __future__ import annotations

from urllib.parse import urlsplit

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.port import ModelError

_MAX_SHOWN = 80


def checked_url(text: str, name: str) -> str:
    """The address without a slash at its end. ``name`` is the flag or variable that gave it.

    Raises :class:`ModelError` for a text that is not a server's address, and for an address with a password or a query:
    these end up in logs.
    """
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid or not text.isascii() or not text.isprintable() or any([c in text for c in ' \\<>"']):
        quoted = "" if "@" in text or "?" in text else f": {text[:_MAX_SHOWN]!a}"
        raise ModelError(
            Diagnostic(
                SC.BAD_OPTION, f"{name} is not an address of a server{quoted}", help="such as http://localhost:8000/v1"
            ),
            fatal=True,
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        message = f"{name} has a password or a query, which would end up in logs"
        raise ModelError(
            Diagnostic(
                SC.BAD_OPTION, message, help="give the key in the provider's variable; see docs/language-models.md"
            ),
            fatal=True,
        )
    return text.rstrip("/")
