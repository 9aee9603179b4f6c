"""Version 0.1's names of modules that have moved since. Pickles made with 0.1 refer to these names."""

from __future__ import annotations

import sys

from .calls import attempt_request, call, event, progress, response, response_head
from .decisions import custom, decision, delays, loop, strategy
from .tokens import endpoint, token

#: The old name, and the module that replaces it.
OLD_NAMES = {
    "attempt_request": attempt_request,
    "call": call,
    "custom": custom,
    "decision": decision,
    "delays": delays,
    "event": event,
    "loop": loop,
    "progress": progress,
    "response": response,
    "response_head": response_head,
    "strategy": strategy,
    "token": token,
    "token_endpoint": endpoint,
}


def alias(package: str) -> None:
    """Makes the old names importable, as the standard library does for os.path."""
    for name, module in OLD_NAMES.items():
        sys.modules[f"{package}.{name}"] = module
        setattr(sys.modules[package], name, module)
