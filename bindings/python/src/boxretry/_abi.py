"""The C interface, as ctypes sees it: each struct, number and function of boxretry.h, once. See there what they mean.

The enums of the header are in `enums`.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any, Callable

from . import _library

NO_TIMEOUT = 2**63 - 1
ACTION_UNANSWERED = -1
DELAY_UNANSWERED = -1e300

# --- Structs ---


class Header(Structure):
    """boxretry_header."""

    _fields_ = (("name", c_char_p), ("value", c_char_p))


class Timeouts(Structure):
    """boxretry_timeouts."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("timeout_interval_for_request_ms", c_int64),
        ("timeout_interval_for_resource_ms", c_int64),
    )


CompleteCallback = CFUNCTYPE(None, c_void_p, c_void_p)


class Request(Structure):
    """boxretry_request."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("method", c_char_p),
        ("url", c_char_p),
        ("headers", POINTER(Header)),
        ("header_count", c_size_t),
        ("body", c_void_p),
        ("body_length", c_size_t),
        ("user_pointer", c_void_p),
        ("retry_safety", c_int32),
        ("reserved", c_int32),
        ("timeouts", POINTER(Timeouts)),
        ("strategy", c_void_p),
        ("deadline_ms", c_int64),
        ("body_limit", c_size_t),
        ("queue", c_void_p),
        ("on_complete", CompleteCallback),
        ("on_complete_context", c_void_p),
        ("cancel", c_void_p),
    )


class DelayHeader(Structure):
    """boxretry_delay_header."""

    _fields_ = (("name", c_char_p), ("unit", c_double))


class RetryOptions(Structure):
    """boxretry_retry_options."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("max_attempts", c_int32),
        ("max_retries_on_exception", c_int32),
        ("retry_base_interval", c_double),
        ("retry_randomization_factor", c_double),
        ("backoff_cap", c_double),
        ("retry_after_cap", c_double),
        ("retry_after_over_cap", c_int32),
        ("retry_unsafe_methods", c_int32),
        ("delay_headers", POINTER(DelayHeader)),
        ("delay_header_count", c_size_t),
    )


class Outcome(Structure):
    """boxretry_outcome."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("cause", c_int32),
        ("headers", POINTER(Header)),
        ("header_count", c_size_t),
        ("auth_available", c_int32),
        ("request_sent", c_int32),
        ("request", POINTER(Request)),
        ("body_not_replayable", c_int32),
        ("reserved", c_int32),
    )


class Decision(Structure):
    """boxretry_decision."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("action", c_int32),
        ("reason", c_int32),
        ("delay", c_double),
        ("delay_source", c_int32),
        ("attempt_number", c_int32),
        ("exception_number", c_int32),
        ("retry_after_state", c_int32),
        ("retry_after", c_double),
    )


ShouldRetryCallback = CFUNCTYPE(None, c_void_p, POINTER(Outcome), c_int32, POINTER(c_int32))
RetryAfterCallback = CFUNCTYPE(None, c_void_p, POINTER(Outcome), c_int32, POINTER(c_double))
ContextFreeCallback = CFUNCTYPE(None, c_void_p)


class StrategyCallbacks(Structure):
    """boxretry_strategy_callbacks."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("context", c_void_p),
        ("should_retry", ShouldRetryCallback),
        ("retry_after", RetryAfterCallback),
        ("context_free", ContextFreeCallback),
    )


class LoopOptions(Structure):
    """boxretry_loop_options."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("auth_available", c_int32),
        ("deadline_ms", c_int64),
        ("clock", c_void_p),
        ("seed", c_uint64),
        ("max_total_attempts", c_int32),
        ("reserved", c_int32),
    )


class TokenRetryPolicy(Structure):
    """boxretry_token_retry_policy."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("maximum_attempts", c_int32),
        ("initial_delay", c_double),
        ("multiplier", c_double),
        ("maximum_delay", c_double),
        ("jitter_ratio", c_double),
    )


class Event(Structure):
    """boxretry_event."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("attempt_number", c_int32),
        ("exception_number", c_int32),
        ("status", c_int32),
        ("cause", c_int32),
        ("error", c_int32),
        ("action", c_int32),
        ("reason", c_int32),
        ("delay", c_double),
        ("delay_source", c_int32),
        ("reserved", c_int32),
        ("at_ms", c_double),
        ("method", c_char_p),
        ("url", c_char_p),
        ("user_pointer", c_void_p),
    )


EventCallback = CFUNCTYPE(None, c_void_p, POINTER(Event))


class ClientOptions(Structure):
    """boxretry_client_options."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("strategy", c_void_p),
        ("timeouts", POINTER(Timeouts)),
        ("deadline_ms", c_int64),
        ("user_agent", c_char_p),
        ("ca_file", c_char_p),
        ("proxy", c_char_p),
        ("proxy_mode", c_int32),
        ("max_total_attempts", c_int32),
        ("max_transfers", c_int32),
        ("max_response_headers", c_int32),
        ("max_response_header_bytes", c_size_t),
        ("body_limit", c_size_t),
        ("error_body_limit", c_size_t),
        ("on_event", EventCallback),
        ("on_event_context", c_void_p),
    )


class ClientStats(Structure):
    """boxretry_client_stats."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("calls_started", c_int64),
        ("calls_ended", c_int64),
        ("attempts", c_int64),
        ("retries", c_int64),
        ("reconnects", c_int64),
    )


class Attempt(Structure):
    """boxretry_attempt."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("number", c_int32),
        ("exception_number", c_int32),
        ("status", c_int32),
        ("cause", c_int32),
        ("action", c_int32),
        ("reason", c_int32),
        ("delay", c_double),
        ("delay_source", c_int32),
        ("reconnects", c_int32),
        ("started_ms", c_double),
        ("ended_ms", c_double),
        ("retry_after", c_double),
        ("curl_code", c_int32),
        ("reserved", c_int32),
        ("curl_text", c_char_p),
    )


# --- Functions ---

library = _library.load()

# The same library once more, called without giving up the interpreter's lock. Giving it up and taking it again costs as
# much as a short function does, and more with several threads. But who keeps the lock while he blocks stops every
# thread, and may wait for one that waits for the lock. So this is for what is short and blocks on nothing: all but the
# clocks and what sends and waits.
#
# Making, asking and freeing strategies and loops is among it, although a custom strategy is Python code that is called
# back and may do anything. It is called on the thread that asks, while the library holds no lock of its own, and in it
# the interpreter's lock is given up and taken as in all Python code. The other way would even be wrong: between giving
# up the lock and the call back, the interpreter may end (if this is a daemon thread), and calling back then crashes.
_library_quick = ctypes.PyDLL(library._name, handle=library._handle)

#: Each function that is declared here, with the type of its result and those of its arguments.
DECLARED: dict[str, tuple[type | None, tuple[type, ...]]] = {}

_Function = Callable[..., Any]


def _function(name: str, result: type | None, *arguments: Any) -> _Function:
    """Declares a function that gives up the interpreter's lock while it runs."""
    DECLARED[name] = (result, arguments)
    return _prototype(library, name)


def _quick(name: str, result: type | None, *arguments: Any) -> _Function:
    """Declares a function that keeps the interpreter's lock: one that is short and does not block."""
    DECLARED[name] = (result, arguments)
    return _prototype(_library_quick, name)


def _prototype(handle: ctypes.CDLL, name: str) -> _Function:
    function = handle[name]
    function.restype, function.argtypes = DECLARED[name]
    return function


_Error = c_int32
# Handles are opaque.
_Handle = c_void_p
_HandleOut = POINTER(c_void_p)
_SecondsOut = POINTER(c_double)

boxretry_version = _quick("boxretry_version", c_char_p)
boxretry_version_number = _quick("boxretry_version_number", c_int32)

boxretry_error_name = _quick("boxretry_error_name", c_char_p, _Error)
boxretry_error_text = _quick("boxretry_error_text", c_char_p, _Error)
boxretry_last_error_detail = _quick("boxretry_last_error_detail", c_char_p)

boxretry_cause_name = _quick("boxretry_cause_name", c_char_p, c_int32)
boxretry_action_name = _quick("boxretry_action_name", c_char_p, c_int32)
boxretry_delay_source_name = _quick("boxretry_delay_source_name", c_char_p, c_int32)
boxretry_reason_name = _quick("boxretry_reason_name", c_char_p, c_int32)
boxretry_reason_text = _quick("boxretry_reason_text", c_char_p, c_int32)

boxretry_request_init = _quick("boxretry_request_init", _Error, POINTER(Request), c_size_t)
boxretry_retry_options_init = _quick("boxretry_retry_options_init", _Error, POINTER(RetryOptions), c_size_t)
boxretry_outcome_init = _quick("boxretry_outcome_init", _Error, POINTER(Outcome), c_size_t)
boxretry_decision_init = _quick("boxretry_decision_init", _Error, POINTER(Decision), c_size_t)
boxretry_strategy_callbacks_init = _quick(
    "boxretry_strategy_callbacks_init", _Error, POINTER(StrategyCallbacks), c_size_t
)
boxretry_loop_options_init = _quick("boxretry_loop_options_init", _Error, POINTER(LoopOptions), c_size_t)
boxretry_token_retry_policy_init = _quick(
    "boxretry_token_retry_policy_init", _Error, POINTER(TokenRetryPolicy), c_size_t
)

boxretry_strategy_new = _quick("boxretry_strategy_new", _Error, POINTER(RetryOptions), _HandleOut)
boxretry_strategy_new_custom = _quick("boxretry_strategy_new_custom", _Error, POINTER(StrategyCallbacks), _HandleOut)
boxretry_strategy_should_retry = _quick(
    "boxretry_strategy_should_retry", _Error, _Handle, POINTER(Outcome), c_int32, POINTER(Decision)
)
boxretry_strategy_retry_after = _quick(
    "boxretry_strategy_retry_after", _Error, _Handle, POINTER(Outcome), c_int32, _SecondsOut
)
boxretry_strategy_free = _quick("boxretry_strategy_free", None, _Handle)

boxretry_backoff_delay = _quick("boxretry_backoff_delay", _Error, POINTER(RetryOptions), c_int32, c_double, _SecondsOut)
boxretry_parse_retry_after = _quick("boxretry_parse_retry_after", _Error, c_char_p, c_int64, _SecondsOut)

boxretry_retry_loop_new = _quick("boxretry_retry_loop_new", _Error, _Handle, POINTER(LoopOptions), _HandleOut)
boxretry_retry_loop_next = _quick("boxretry_retry_loop_next", _Error, _Handle, POINTER(Outcome), POINTER(Decision))
boxretry_retry_loop_free = _quick("boxretry_retry_loop_free", None, _Handle)

boxretry_token_delay = _quick("boxretry_token_delay", _Error, POINTER(TokenRetryPolicy), c_int32, c_double, _SecondsOut)

boxretry_clock_new_manual = _function("boxretry_clock_new_manual", _Error, _HandleOut)
boxretry_clock_advance = _function("boxretry_clock_advance", _Error, _Handle, c_double)
boxretry_clock_suspend = _function("boxretry_clock_suspend", _Error, _Handle, c_double)
boxretry_clock_set_wall = _function("boxretry_clock_set_wall", _Error, _Handle, c_double)
boxretry_clock_now = _function("boxretry_clock_now", _Error, _Handle, c_int32, _SecondsOut)
boxretry_clock_sleep = _function("boxretry_clock_sleep", _Error, _Handle, c_double)
boxretry_clock_wait_for_timer = _function("boxretry_clock_wait_for_timer", _Error, _Handle, c_int64)
boxretry_clock_free = _function("boxretry_clock_free", None, _Handle)

boxretry_timeouts_init = _quick("boxretry_timeouts_init", _Error, POINTER(Timeouts), c_size_t)
boxretry_client_options_init = _quick("boxretry_client_options_init", _Error, POINTER(ClientOptions), c_size_t)
boxretry_client_stats_init = _quick("boxretry_client_stats_init", _Error, POINTER(ClientStats), c_size_t)
boxretry_attempt_init = _quick("boxretry_attempt_init", _Error, POINTER(Attempt), c_size_t)

boxretry_client_new = _function("boxretry_client_new", _Error, POINTER(ClientOptions), _HandleOut)
boxretry_client_perform = _function("boxretry_client_perform", _Error, _Handle, POINTER(Request), _HandleOut)
boxretry_client_submit = _function("boxretry_client_submit", _Error, _Handle, POINTER(Request), _HandleOut)
boxretry_client_close = _function("boxretry_client_close", _Error, _Handle, c_int64)
boxretry_client_free = _function("boxretry_client_free", None, _Handle)
boxretry_client_get_stats = _function("boxretry_client_get_stats", _Error, _Handle, POINTER(ClientStats))

boxretry_call_wait = _function("boxretry_call_wait", _Error, _Handle, c_int64)
boxretry_call_cancel = _function("boxretry_call_cancel", None, _Handle)
boxretry_call_take_response = _function("boxretry_call_take_response", c_void_p, _Handle)
boxretry_call_user_pointer = _function("boxretry_call_user_pointer", c_void_p, _Handle)
boxretry_call_free = _function("boxretry_call_free", None, _Handle)

boxretry_response_error = _quick("boxretry_response_error", _Error, _Handle)
boxretry_response_status = _quick("boxretry_response_status", c_int32, _Handle)
boxretry_response_header = _quick("boxretry_response_header", c_char_p, _Handle, c_char_p)
boxretry_response_header_count = _quick("boxretry_response_header_count", c_size_t, _Handle)
boxretry_response_header_at = _quick("boxretry_response_header_at", _Error, _Handle, c_size_t, POINTER(Header))
boxretry_response_body = _quick("boxretry_response_body", c_void_p, _Handle, POINTER(c_size_t))
boxretry_response_body_is_cut_off = _quick("boxretry_response_body_is_cut_off", c_int32, _Handle)
boxretry_response_url = _quick("boxretry_response_url", c_char_p, _Handle)
boxretry_response_user_pointer = _quick("boxretry_response_user_pointer", c_void_p, _Handle)
boxretry_response_attempt_count = _quick("boxretry_response_attempt_count", c_size_t, _Handle)
boxretry_response_attempt = _quick("boxretry_response_attempt", _Error, _Handle, c_size_t, POINTER(Attempt))
boxretry_response_free = _quick("boxretry_response_free", None, _Handle)

boxretry_queue_new = _function("boxretry_queue_new", _Error, _HandleOut)
boxretry_queue_fd = _function("boxretry_queue_fd", c_int, _Handle)
boxretry_queue_take = _function("boxretry_queue_take", c_size_t, _Handle, _HandleOut, c_size_t, c_int64)
boxretry_queue_free = _function("boxretry_queue_free", None, _Handle)

boxretry_cancel_new = _function("boxretry_cancel_new", _Error, _HandleOut)
boxretry_cancel_trigger = _function("boxretry_cancel_trigger", None, _Handle)
boxretry_cancel_free = _function("boxretry_cancel_free", None, _Handle)
