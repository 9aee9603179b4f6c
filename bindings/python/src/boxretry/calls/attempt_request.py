"""What a `before_attempt` hook sees and can change."""

from __future__ import annotations

from .._c import _abi
from .._c.arguments import Text, text
from .._c.texts import decoded
from ..errors import ClosedError, check


class AttemptRequest:
    """The request of an attempt, just before it is sent. Changes apply to this one sending.

    A redirect and a reconnect are sent within their attempt, and the hook is called for them too. Use this object only
    inside the hook: later, everything raises ClosedError.
    """

    def __init__(self, pointer: int, user_data: object) -> None:
        self._pointer: int | None = pointer
        #: The request's `user_data`.
        self.user_data = user_data

    @property
    def attempt_number(self) -> int:
        """Number of the attempt, from 1."""
        number: int = _abi.boxretry_sending_attempt_number(self._open())
        return number

    @property
    def method(self) -> str:
        """The method. A redirect may have changed it."""
        return decoded(_abi.boxretry_sending_method(self._open()))

    @property
    def url(self) -> str:
        """The URL. A redirect may have changed it."""
        return decoded(_abi.boxretry_sending_url(self._open()))

    def header(self, name: Text) -> str | None:
        """The value of the first header of that name; case does not matter."""
        value: bytes | None = _abi.boxretry_sending_header(self._open(), text(name, "name"))
        return None if value is None else decoded(value)

    def set_header(self, name: Text, value: Text | None) -> None:
        """Sets a header, and replaces all headers of its name. None: removes it.

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
