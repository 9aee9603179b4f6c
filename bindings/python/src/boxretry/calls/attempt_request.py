"""What a `before_attempt` hook sees, and may change."""

from __future__ import annotations

from .._c import _abi
from .._c.arguments import Text, decoded, text
from ..errors import ClosedError, check


class AttemptRequest:
    """The request of an attempt, just before it is sent. What is changed holds for this one sending.

    A redirect and a reconnect are sent within their attempt, and the hook is called for them too. To be used only
    inside the hook: later, everything raises ClosedError.
    """

    def __init__(self, pointer: int, user_data: object) -> None:
        self._pointer: int | None = pointer
        #: What the request was given.
        self.user_data = user_data

    @property
    def attempt_number(self) -> int:
        """From 1."""
        number: int = _abi.boxretry_sending_attempt_number(self._open())
        return number

    @property
    def method(self) -> str:
        """The method, which a redirect may have changed."""
        return decoded(_abi.boxretry_sending_method(self._open()))

    @property
    def url(self) -> str:
        """The URL, which a redirect may have changed."""
        return decoded(_abi.boxretry_sending_url(self._open()))

    def header(self, name: Text) -> str | None:
        """The value of the first header of that name, in any case."""
        value: bytes | None = _abi.boxretry_sending_header(self._open(), text(name, "name"))
        return None if value is None else decoded(value)

    def set_header(self, name: Text, value: Text | None) -> None:
        """Sets a header, in place of all that have its name. None: there is none.

        Raises InvalidArgumentError, OutOfMemoryError.
        """
        encoded = None if value is None else text(value, "value")
        check(_abi.boxretry_sending_set_header(self._open(), text(name, "name"), encoded))

    def _open(self) -> int:
        if self._pointer is None:
            raise ClosedError("AttemptRequest: its hook has returned")
        return self._pointer

    def _close(self) -> None:
        self._pointer = None
