"""The arguments of requests and clients, for type checkers: `**arguments: Unpack[RequestArguments]`.

`Client.request()` and `Client()` state the meaning, unit and default of each.
"""

from __future__ import annotations

from ._sending.client_settings import ClientSettings
from ._sending.sending import RequestArguments
from .decisions.custom import Strategy

__all__ = ["ClientSettings", "RequestArguments", "Strategy"]
