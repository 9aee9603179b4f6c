"""The C interface for ctypes: each struct, number and function of boxretry.h, once. The header has their meaning.

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

from .library import load

NO_TIMEOUT = 2**63 - 1
ACTION_UNANSWERED = -1
DELAY_UNANSWERED = -1e300
NO_REDIRECTS = -1
READ_FAILED = -1
READ_PAUSE = -2
#: For an idempotency key: generate one.
IDEMPOTENCY_KEY_RANDOM = b""

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


class Part(Structure):
    """boxretry_part."""

    _fields_ = (
        ("name", c_char_p),
        ("file_name", c_char_p),
        ("content_type", c_char_p),
        ("headers", POINTER(Header)),
        ("header_count", c_size_t),
        ("data", c_void_p),
        ("data_length", c_size_t),
        ("path", c_char_p),
    )


ReadCallback = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(c_int64))
WriteCallback = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(c_int32))
#: For a source's `rewind` and a sink's `restart`.
RestartCallback = CFUNCTYPE(None, c_void_p, POINTER(c_int32))
ContextFreeCallback = CFUNCTYPE(None, c_void_p)


class BodySource(Structure):
    """boxretry_body_source."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("descriptor", c_int32),
        ("path", c_char_p),
        ("offset", c_int64),
        ("length", c_int64),
        ("read", ReadCallback),
        ("rewind", RestartCallback),
        ("context_free", ContextFreeCallback),
        ("context", c_void_p),
        ("parts", POINTER(Part)),
        ("part_count", c_size_t),
    )


class ResponseHead(Structure):
    """boxretry_response_head."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("http_version", c_int32),
        ("url", c_char_p),
        ("headers", POINTER(Header)),
        ("header_count", c_size_t),
        ("reason_phrase", c_char_p),
    )


BeginCallback = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(ResponseHead), POINTER(c_int32))


class Sink(Structure):
    """boxretry_sink."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("is_resumable", c_int32),
        ("path", c_char_p),
        ("write", WriteCallback),
        ("restart", RestartCallback),
        ("context_free", ContextFreeCallback),
        ("context", c_void_p),
        ("begin", BeginCallback),
        ("takes_errors", c_int32),
        ("reserved", c_int32),
    )


class Progress(Structure):
    """boxretry_progress."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("attempt_number", c_int32),
        ("reserved", c_int32),
        ("sent", c_int64),
        ("send_total", c_int64),
        ("received", c_int64),
        ("receive_total", c_int64),
    )


CompleteCallback = CFUNCTYPE(None, c_void_p, c_void_p)
ProgressCallback = CFUNCTYPE(None, c_void_p, POINTER(Progress))
BeforeAttemptCallback = CFUNCTYPE(None, c_void_p, c_void_p)


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
        ("body_is_borrowed", c_int32),
        ("timeouts", POINTER(Timeouts)),
        ("strategy", c_void_p),
        ("deadline_ms", c_int64),
        ("body_limit", c_size_t),
        ("queue", c_void_p),
        ("on_complete", CompleteCallback),
        ("on_complete_context", c_void_p),
        ("cancel", c_void_p),
        ("body_source", POINTER(BodySource)),
        ("sink", POINTER(Sink)),
        ("on_progress", ProgressCallback),
        ("on_progress_context", c_void_p),
        ("before_attempt", BeforeAttemptCallback),
        ("before_attempt_context", c_void_p),
        ("idempotency_key", c_char_p),
        ("max_redirects", c_int32),
        ("compression", c_int32),
        ("http_version", c_int32),
        ("authorization", c_int32),
        ("token_source", c_void_p),
        ("connect_timeout_ms", c_int64),
        ("reconnect", c_int32),
        ("default_headers", c_int32),
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
        ("retry_after_jitter", c_double),
        ("should_retry_header", c_char_p),
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
        ("body", c_void_p),
        ("body_length", c_size_t),
        ("body_state", c_int32),
        ("reserved_2", c_int32),
        ("url", c_char_p),
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
        ("budget", c_void_p),
    )


class BudgetStats(Structure):
    """boxretry_budget_stats."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("taken", c_int64),
        ("given_back", c_int64),
        ("refused", c_int64),
        ("level", c_double),
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


TokenProviderCallback = CFUNCTYPE(None, c_void_p, c_void_p)


class TokenOptions(Structure):
    """boxretry_token_options."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("context", c_void_p),
        ("provider", TokenProviderCallback),
        ("context_free", ContextFreeCallback),
        ("policy", POINTER(TokenRetryPolicy)),
        ("refresh_leeway", c_double),
        ("provider_timeout_ms", c_int64),
        ("fetch_timeout_ms", c_int64),
        ("refresh_ahead_window", c_double),
        ("serve_stale", c_int32),
        ("reserved", c_int32),
        ("clock", c_void_p),
        ("initial_token", c_char_p),
        ("initial_expires_in", c_double),
    )


RefreshTokenCallback = CFUNCTYPE(None, c_void_p, c_char_p)


class TokenEndpointOptions(Structure):
    """boxretry_token_endpoint_options."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("url", c_char_p),
        ("fields", POINTER(Header)),
        ("field_count", c_size_t),
        ("headers", POINTER(Header)),
        ("header_count", c_size_t),
        ("refresh_token", c_char_p),
        ("context", c_void_p),
        ("on_refresh_token", RefreshTokenCallback),
        ("context_free", ContextFreeCallback),
        ("policy", POINTER(TokenRetryPolicy)),
        ("refresh_leeway", c_double),
        ("provider_timeout_ms", c_int64),
        ("fetch_timeout_ms", c_int64),
        ("refresh_ahead_window", c_double),
        ("serve_stale", c_int32),
        ("allow_insecure", c_int32),
        ("clock", c_void_p),
        ("timeouts", POINTER(Timeouts)),
        ("user_agent", c_char_p),
        ("ca_file", c_char_p),
        ("proxy", c_char_p),
        ("proxy_mode", c_int32),
        ("reserved", c_int32),
        ("tls_verify", c_int32),
        ("reserved_2", c_int32),
        ("ca_path", c_char_p),
        ("default_expires_in", c_double),
        ("initial_token", c_char_p),
        ("initial_expires_in", c_double),
    )


TokenCallback = CFUNCTYPE(None, c_void_p, c_int32, c_void_p)


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
TransferCallback = CFUNCTYPE(None, c_void_p, c_void_p)


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
        ("preset", c_int32),
        ("http_version", c_int32),
        ("max_redirects", c_int32),
        ("compression", c_int32),
        ("max_transfers_per_host", c_int32),
        ("max_lookups", c_int32),
        ("client_certificate", c_char_p),
        ("client_key", c_char_p),
        ("client_key_password", c_char_p),
        ("unix_socket", c_char_p),
        ("secret_headers", POINTER(c_char_p)),
        ("secret_header_count", c_size_t),
        ("idempotency_key_header", c_char_p),
        ("before_attempt", BeforeAttemptCallback),
        ("before_attempt_context", c_void_p),
        ("on_transfer", TransferCallback),
        ("on_transfer_context", c_void_p),
        ("token_source", c_void_p),
        ("replay_codes", POINTER(c_char_p)),
        ("replay_code_count", c_size_t),
        ("allow_insecure_token", c_int32),
        ("budget_capacity", c_int32),
        ("budget_ratio", c_double),
        ("connect_timeout_ms", c_int64),
        ("reconnect", c_int32),
        ("tls_verify", c_int32),
        ("ca_path", c_char_p),
        ("headers", POINTER(Header)),
        ("header_count", c_size_t),
        ("budget", c_void_p),
        ("clock", c_void_p),
        ("share_retry_after", c_int32),
        ("reserved", c_int32),
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
        ("gates_closed", c_int64),
        ("gates_opened", c_int64),
        ("held", c_int64),
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
        ("redirects", c_int32),
        ("http_version", c_int32),
        ("resumed_from", c_int64),
        ("bytes_sent", c_int64),
        ("bytes_received", c_int64),
        ("lookup_ms", c_double),
        ("connect_ms", c_double),
        ("tls_ms", c_double),
        ("first_byte_ms", c_double),
        ("request_sent", c_int32),
        ("reserved_2", c_int32),
        ("proxy_status", c_int32),
        ("reserved_3", c_int32),
    )


class Redirect(Structure):
    """boxretry_redirect."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("attempt_number", c_int32),
        ("status", c_int32),
        ("url", c_char_p),
    )


class Reconnect(Structure):
    """boxretry_reconnect."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("attempt_number", c_int32),
        ("cause", c_int32),
        ("at_ms", c_double),
    )


# --- Functions ---

library = load()

# The same library again, called without releasing the interpreter's lock. Releasing and taking the lock costs as much
# as a short function does, and more with several threads. But a function that keeps the lock while it blocks stops
# every thread, and may wait for one that waits for the lock. So this is for short functions that do not block: all
# functions except the clocks and those that send and wait.
#
# This includes making, using and freeing strategies and loops, although a custom strategy is Python code in a callback
# and may do anything. It is called on the thread that uses the loop, while the library holds no lock, and Python code
# in it releases and takes the interpreter's lock as always. Releasing the lock before the call would even be wrong:
# between that and the callback the interpreter may exit (if this is a daemon thread), and the callback then crashes.
_library_quick = ctypes.PyDLL(library._name, handle=library._handle)

#: Each function that is declared here, with the types of its result and its arguments.
DECLARED: dict[str, tuple[type | None, tuple[type, ...]]] = {}

_Function = Callable[..., Any]


def _function(name: str, result: type | None, *arguments: Any) -> _Function:
    """Declares a function that releases the interpreter's lock while it runs."""
    DECLARED[name] = (result, arguments)
    return _prototype(library, name)


def _quick(name: str, result: type | None, *arguments: Any) -> _Function:
    """Declares a function that keeps the interpreter's lock: it is short and does not block."""
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
boxretry_libcurl_version = _quick("boxretry_libcurl_version", c_char_p)

boxretry_error_name = _quick("boxretry_error_name", c_char_p, _Error)
boxretry_error_text = _quick("boxretry_error_text", c_char_p, _Error)
boxretry_last_error_detail = _quick("boxretry_last_error_detail", c_char_p)

boxretry_cause_name = _quick("boxretry_cause_name", c_char_p, c_int32)
boxretry_action_name = _quick("boxretry_action_name", c_char_p, c_int32)
boxretry_delay_source_name = _quick("boxretry_delay_source_name", c_char_p, c_int32)
boxretry_reason_name = _quick("boxretry_reason_name", c_char_p, c_int32)
boxretry_reason_text = _quick("boxretry_reason_text", c_char_p, c_int32)

boxretry_request_init = _quick("boxretry_request_init", _Error, POINTER(Request), c_size_t)
boxretry_body_source_init = _quick("boxretry_body_source_init", _Error, POINTER(BodySource), c_size_t)
boxretry_sink_init = _quick("boxretry_sink_init", _Error, POINTER(Sink), c_size_t)
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

boxretry_budget_new = _quick("boxretry_budget_new", _Error, c_int32, c_double, _HandleOut)
boxretry_budget_stats_init = _quick("boxretry_budget_stats_init", _Error, POINTER(BudgetStats), c_size_t)
boxretry_budget_get_stats = _quick("boxretry_budget_get_stats", _Error, _Handle, POINTER(BudgetStats))
boxretry_budget_free = _quick("boxretry_budget_free", None, _Handle)

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
boxretry_clock_set_auto_advance = _function("boxretry_clock_set_auto_advance", _Error, _Handle, c_int32)
boxretry_clock_free = _function("boxretry_clock_free", None, _Handle)

boxretry_token_options_init = _quick("boxretry_token_options_init", _Error, POINTER(TokenOptions), c_size_t)
boxretry_token_endpoint_options_init = _quick(
    "boxretry_token_endpoint_options_init", _Error, POINTER(TokenEndpointOptions), c_size_t
)

boxretry_token_source_new = _function("boxretry_token_source_new", _Error, POINTER(TokenOptions), _HandleOut)
boxretry_token_source_new_fixed = _function("boxretry_token_source_new_fixed", _Error, c_char_p, _HandleOut)
boxretry_token_source_new_endpoint = _function(
    "boxretry_token_source_new_endpoint", _Error, POINTER(TokenEndpointOptions), _HandleOut
)
boxretry_token_source_get = _function("boxretry_token_source_get", _Error, _Handle, c_int64, _Handle, _HandleOut)
boxretry_token_source_get_async = _function(
    "boxretry_token_source_get_async", _Error, _Handle, _Handle, TokenCallback, c_void_p
)
boxretry_token_source_invalidate = _function("boxretry_token_source_invalidate", _Error, _Handle, c_char_p)
boxretry_token_source_invalidate_generation = _function(
    "boxretry_token_source_invalidate_generation", _Error, _Handle, c_uint64
)
boxretry_token_source_clear = _function("boxretry_token_source_clear", _Error, _Handle)
boxretry_token_source_free = _function("boxretry_token_source_free", None, _Handle)

boxretry_token_bytes = _quick("boxretry_token_bytes", c_char_p, _Handle)
boxretry_token_length = _quick("boxretry_token_length", c_size_t, _Handle)
boxretry_token_generation = _quick("boxretry_token_generation", c_uint64, _Handle)
boxretry_token_expires_in = _function("boxretry_token_expires_in", c_double, _Handle)
boxretry_token_free = _quick("boxretry_token_free", None, _Handle)

boxretry_token_request_succeed = _function(
    "boxretry_token_request_succeed", _Error, _Handle, c_char_p, c_size_t, c_double
)
boxretry_token_request_fail = _function("boxretry_token_request_fail", _Error, _Handle, c_char_p, c_int)
boxretry_token_request_cancel = _function("boxretry_token_request_cancel", _Error, _Handle)
boxretry_token_request_retain = _function("boxretry_token_request_retain", None, _Handle)
boxretry_token_request_release = _function("boxretry_token_request_release", None, _Handle)

boxretry_timeouts_init = _quick("boxretry_timeouts_init", _Error, POINTER(Timeouts), c_size_t)
boxretry_client_options_init = _quick("boxretry_client_options_init", _Error, POINTER(ClientOptions), c_size_t)
boxretry_client_stats_init = _quick("boxretry_client_stats_init", _Error, POINTER(ClientStats), c_size_t)
boxretry_attempt_init = _quick("boxretry_attempt_init", _Error, POINTER(Attempt), c_size_t)
boxretry_reconnect_init = _quick("boxretry_reconnect_init", _Error, POINTER(Reconnect), c_size_t)
boxretry_redirect_init = _quick("boxretry_redirect_init", _Error, POINTER(Redirect), c_size_t)

boxretry_client_new = _function("boxretry_client_new", _Error, POINTER(ClientOptions), _HandleOut)
boxretry_client_new_derived = _function(
    "boxretry_client_new_derived", _Error, _Handle, POINTER(ClientOptions), _HandleOut
)
boxretry_client_perform = _function("boxretry_client_perform", _Error, _Handle, POINTER(Request), _HandleOut)
boxretry_client_submit = _function("boxretry_client_submit", _Error, _Handle, POINTER(Request), _HandleOut)
boxretry_client_close = _function("boxretry_client_close", _Error, _Handle, c_int64)
boxretry_client_free = _function("boxretry_client_free", None, _Handle)
boxretry_client_get_stats = _function("boxretry_client_get_stats", _Error, _Handle, POINTER(ClientStats))

boxretry_call_wait = _function("boxretry_call_wait", _Error, _Handle, c_int64)
boxretry_call_cancel = _function("boxretry_call_cancel", None, _Handle)
boxretry_call_resume = _function("boxretry_call_resume", None, _Handle)
boxretry_call_take_response = _function("boxretry_call_take_response", c_void_p, _Handle)
boxretry_call_user_pointer = _function("boxretry_call_user_pointer", c_void_p, _Handle)
boxretry_call_free = _function("boxretry_call_free", None, _Handle)

boxretry_sending_attempt_number = _quick("boxretry_sending_attempt_number", c_int32, _Handle)
boxretry_sending_method = _quick("boxretry_sending_method", c_char_p, _Handle)
boxretry_sending_url = _quick("boxretry_sending_url", c_char_p, _Handle)
boxretry_sending_user_pointer = _quick("boxretry_sending_user_pointer", c_void_p, _Handle)
boxretry_sending_header = _quick("boxretry_sending_header", c_char_p, _Handle, c_char_p)
boxretry_sending_set_header = _quick("boxretry_sending_set_header", _Error, _Handle, c_char_p, c_char_p)
boxretry_sending_fail = _quick("boxretry_sending_fail", None, _Handle)

boxretry_response_error = _quick("boxretry_response_error", _Error, _Handle)
boxretry_response_token_error = _quick("boxretry_response_token_error", _Error, _Handle)
boxretry_response_status = _quick("boxretry_response_status", c_int32, _Handle)
boxretry_response_header = _quick("boxretry_response_header", c_char_p, _Handle, c_char_p)
boxretry_response_header_count = _quick("boxretry_response_header_count", c_size_t, _Handle)
boxretry_response_header_at = _quick("boxretry_response_header_at", _Error, _Handle, c_size_t, POINTER(Header))
boxretry_response_body = _quick("boxretry_response_body", c_void_p, _Handle, POINTER(c_size_t))
boxretry_response_body_is_cut_off = _quick("boxretry_response_body_is_cut_off", c_int32, _Handle)
boxretry_response_sink_length = _quick("boxretry_response_sink_length", c_int64, _Handle)
boxretry_response_error_detail = _quick("boxretry_response_error_detail", c_char_p, _Handle, c_char_p)
boxretry_response_reason_phrase = _quick("boxretry_response_reason_phrase", c_char_p, _Handle)
boxretry_response_url = _quick("boxretry_response_url", c_char_p, _Handle)
boxretry_response_user_pointer = _quick("boxretry_response_user_pointer", c_void_p, _Handle)
boxretry_response_attempt_count = _quick("boxretry_response_attempt_count", c_size_t, _Handle)
boxretry_response_attempt = _quick("boxretry_response_attempt", _Error, _Handle, c_size_t, POINTER(Attempt))
boxretry_response_reconnect_count = _quick("boxretry_response_reconnect_count", c_size_t, _Handle)
boxretry_response_reconnect = _quick("boxretry_response_reconnect", _Error, _Handle, c_size_t, POINTER(Reconnect))
boxretry_response_redirect_count = _quick("boxretry_response_redirect_count", c_size_t, _Handle)
boxretry_response_redirect = _quick("boxretry_response_redirect", _Error, _Handle, c_size_t, POINTER(Redirect))
boxretry_response_free = _quick("boxretry_response_free", None, _Handle)

boxretry_queue_new = _function("boxretry_queue_new", _Error, _HandleOut)
boxretry_queue_fd = _function("boxretry_queue_fd", c_int, _Handle)
boxretry_queue_take = _function("boxretry_queue_take", c_size_t, _Handle, _HandleOut, c_size_t, c_int64)
boxretry_queue_free = _function("boxretry_queue_free", None, _Handle)

boxretry_cancel_new = _function("boxretry_cancel_new", _Error, _HandleOut)
boxretry_cancel_trigger = _function("boxretry_cancel_trigger", None, _Handle)
boxretry_cancel_free = _function("boxretry_cancel_free", None, _Handle)
