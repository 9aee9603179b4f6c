"""Converts the settings of a client to a boxretry_client_options, and describes them for `help()`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from ..calls._callbacks import before_attempt_of_client
from ..calls.event import Listener, on_event_callback
from ..calls.event_log import with_log
from ..decisions.custom import Strategy
from .client_settings import SETTINGS, ClientSettings
from .common_arguments import is_custom, strategy_handle
from .names import AnyFunction, shows_parameters, unknown_argument
from .setters import Draft


class ClientOptions:
    """A boxretry_client_options, and all objects that it points to."""

    def __init__(self, strategy: Strategy | None, settings: Mapping[str, Any], *, logs: bool = True) -> None:
        """See `Client()`. `logs`: its events go to the log, too."""
        for name in settings:
            if name not in SETTINGS:
                raise unknown_argument("Client()", name)
        draft = Draft(settings)
        self.struct = struct = draft.struct
        if strategy is not None:
            handle = strategy_handle(strategy)
            struct.strategy = handle.pointer
            draft.keeps.append(handle)
        for name, value in settings.items():
            setting = SETTINGS[name]
            if value is not None or setting.default is not None:
                setting.set(draft, setting.field or name, value, name)
        #: Names and values that are added to the query of each URL.
        self.params = draft.params
        #: Python code takes part in each call.
        self.is_watched = _set_callbacks(draft, logs) or is_custom(strategy)
        #: The objects that the client needs as long as it lives.
        self.keeps = draft.keeps


def derived_options(strategy: Strategy | None, settings: Mapping[str, Any]) -> ClientOptions:
    """The options of a derived client: those that are not given stay NULL or 0."""
    for name in settings:
        if name in SETTINGS and not SETTINGS[name].derived:
            raise TypeError(f"Client.derived() has no argument {name!r}: derived clients share this setting")
    options = ClientOptions(strategy, settings, logs=False)  # The other client's `on_event` logs.
    options.struct.ca_file = None  # A wheel sets it for each client.
    return options


def _set_callbacks(draft: Draft, logs: bool) -> bool:
    """Sets the callbacks for events and before attempts, and returns whether there are any."""
    on_event, before_attempt = with_log(draft.on_event) if logs else draft.on_event, draft.before_attempt
    if draft.settings.get("telemetry") is not None:  # These two callbacks report to it.
        on_event, before_attempt = on_event or _nothing, before_attempt or _nothing
    if on_event is not None:
        listener = Listener(on_event)
        draft.struct.on_event, draft.struct.on_event_context = on_event_callback, listener.token
        draft.keeps.append(listener)
    if before_attempt is not None:
        hook = Listener(before_attempt)
        draft.struct.before_attempt, draft.struct.before_attempt_context = before_attempt_of_client, hook.token
        draft.keeps.append(hook)
    return not (on_event is before_attempt is None)


def _nothing(told: object) -> None:
    """The `on_event` or hook of a client that only has a telemetry."""


# --- help() ---

_WIDTH = 120


def parameters() -> list[Parameter]:
    """The settings as arguments that are given by name, as `help()` shows them."""
    types = {name: getattr(of, "__forward_arg__", of) for name, of in ClientSettings.__annotations__.items()}
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=setting.default, annotation=types[name])
        for name, setting in SETTINGS.items()
    ]


def described(text: str) -> str:
    """A docstring in which lines of {settings} and {settings of derived clients} are replaced by those."""
    *others, last = (name for name, setting in SETTINGS.items() if setting.derived)
    of_derived = f"{', '.join(others)} and {last}"
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        if line.strip() == "{settings}":
            for name, setting in SETTINGS.items():
                lines += _wrapped(f"{name}: {setting.doc}", indent, f"{indent}    ")
        elif "{settings of derived clients}" in line:
            lines += _wrapped(line.strip().replace("{settings of derived clients}", of_derived), indent, indent)
        else:
            lines.append(line)
    return "\n".join(lines)


def _wrapped(text: str, indent: str, further: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def describes_settings(function: AnyFunction) -> AnyFunction:
    """Makes `help()` show the settings of a client, in the signature and in the docstring."""
    if function.__doc__ is not None:  # `python -OO` leaves it out.
        function.__doc__ = described(function.__doc__)
    return shows_parameters(parameters())(function)
