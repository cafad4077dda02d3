"""Keys of services: kept out of all output, and taken out of whatever a server sends back."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.port import ModelError

_SHORTEST = 8
_HIDDEN = "[key]"


class Key:
    """A key. It is shown, copied and pickled as nothing; :meth:`header` alone gives it out.

    Raises :class:`ModelError` for one that no header can hold: the library would repeat it in its complaint.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str, name: str) -> None:
        if not value.isascii() or not value.isprintable() or " " in value:
            message = f"the key in {name} contains invalid characters, such as a line end or quotation marks"
            raise ModelError(Diagnostic(SC.MODEL_KEY, message, help=f"set {name} again"), fatal=True)
        self._value = value

    def __repr__(self) -> str:
        return _HIDDEN if self._value else "no key"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a key is not copied")

    def header(self) -> dict[str, str]:
        """The header that carries it."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """A text of a server without the key, which servers like to repeat.

        Words of fewer than eight characters, such as the ``EMPTY`` of local servers, are not secrets, and stay.
        """
        return text.replace(self._value, _HIDDEN) if len(self._value) >= _SHORTEST else text
