"""What the header says in words: which pointers may be NULL, and what numbers and texts may be.

Each fact has the header's own words, and test_docs.py looks for them in the comment of that very field or function. It
also insists that each number that goes into the library has its fact; a pointer without one may not be NULL.
Keys are "function.parameter" or "struct.field". A request that is sent must meet more than one that an outcome is
about: a fact about such a request alone has a key that ends in OF_A_CLIENT. A fact for which the header
has no words yet has "".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from header import Number, read_header

YEAR_1, YEAR_9999 = -62135596800, 253402300799
LONGEST_DELAY = 2**31 - 1
LONGEST_NAME = 255
"""Of a file: longer ones the system refuses."""

OF_A_CLIENT = " of a client"


@dataclass(frozen=True)
class Rule:
    """What a number may be."""

    words: str
    low: Number = -math.inf
    high: Number = math.inf
    zero: bool = False  # 0 is allowed too
    above_low: bool = False  # `low` itself is not allowed

    def allows(self, value: Number) -> bool:
        if self.zero and value == 0:
            return True
        return self.low <= value <= self.high and not (self.above_low and value == self.low)


def _one_of(prefix: str) -> Rule:
    """A number that is one of the constants that begin so."""
    values = [value for name, value in read_header().constants.items() if name.startswith(prefix)]
    low, high = min(values), max(values)
    assert sorted(values) == list(range(int(low), int(high) + 1)), f"{prefix}… are not one after the other"
    return Rule(prefix + "…", low, high)


def _flag(words: str = "flag") -> Rule:
    return Rule(words)


MOST_BYTES = 2**63 - 1
"""The header does not say so: a number of bytes at or above 2^63 is refused."""

NONE = (1, 0)
"""The bounds of an index into an empty list: a refused connection, with which the calls here end, has no headers."""

_HTTP = Rule("BOXRETRY_HTTP_…", 0, 3)
_FINITE = 1.7976931348623157e308
_ANY_NUMBER = '"unknown" for any other number'

NUMBERS = {
    "boxretry_error_name.error": Rule(_ANY_NUMBER),
    "boxretry_error_text.error": Rule("never NULL"),
    "boxretry_cause_name.cause": Rule(_ANY_NUMBER),
    "boxretry_action_name.action": Rule(_ANY_NUMBER),
    "boxretry_delay_source_name.delay_source": Rule(_ANY_NUMBER),
    "boxretry_reason_name.reason": Rule(_ANY_NUMBER),
    "boxretry_reason_text.reason": Rule("never NULL"),
    "boxretry_request.header_count": Rule("at most 65536", 0, 65536),
    "boxretry_request.body_length": Rule("bytes"),
    "boxretry_request.retry_safety": _one_of("BOXRETRY_SAFETY_"),
    "boxretry_request.body_is_borrowed": _flag(),
    "boxretry_request.max_redirects": Rule("1 to 1000; or BOXRETRY_NO_REDIRECTS; 0: the client's", -1, 1000),
    "boxretry_request.compression": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_request.http_version": _HTTP,
    "boxretry_request.authorization": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_request.reconnect": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_request.default_headers": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_body_source.kind": _one_of("BOXRETRY_SOURCE_"),
    "boxretry_body_source.offset": Rule("0 or more", 0),
    "boxretry_body_source.length": Rule("0 or more; -1: up to the file's end", -1),
    "boxretry_body_source.part_count": Rule("1 to 1000", 1, 1000),
    "boxretry_part.header_count": Rule("at most 64", 0, 64),
    "boxretry_part.data_length": Rule("bytes", 0, MOST_BYTES),
    "boxretry_sink.kind": _one_of("BOXRETRY_SINK_"),
    "boxretry_sink.is_resumable": _flag("flag, for files"),
    "boxretry_sink.takes_errors": _flag("flag, for callbacks"),
    "boxretry_sink.reserved": Rule("0", 0, 0),
    "boxretry_request.connect_timeout_ms": Rule("0: the client's; BOXRETRY_NO_TIMEOUT: none", 0),
    "boxretry_request.deadline_ms": Rule("0 or more; over all attempts and waits; BOXRETRY_NO_TIMEOUT: none", 0),
    "boxretry_request.body_limit": Rule("bytes of a 2xx response's body", 0, MOST_BYTES),
    f"boxretry_request.body_length{OF_A_CLIENT}": Rule("bytes", 0, MOST_BYTES),
    "boxretry_timeouts.timeout_interval_for_request_ms": Rule("1 or more", 1),
    "boxretry_timeouts.timeout_interval_for_resource_ms": Rule("1 or more", 1),
    "boxretry_delay_header.unit": Rule("above 0, at most 86400", 0, 86400, above_low=True),
    "boxretry_retry_options.max_attempts": Rule("0 to 1000000", 0, 1000000),
    "boxretry_retry_options.max_retries_on_exception": Rule("0 to 1000000", 0, 1000000),
    "boxretry_retry_options.retry_base_interval": Rule("0 or more, finite", 0, _FINITE),
    "boxretry_retry_options.retry_randomization_factor": Rule("0 to 1", 0, 1),
    "boxretry_retry_options.backoff_cap": Rule("0 or more, finite", 0, _FINITE),
    "boxretry_retry_options.retry_after_cap": Rule("0 or more, finite", 0, _FINITE),
    "boxretry_retry_options.retry_after_over_cap": _one_of("BOXRETRY_OVER_CAP_"),
    "boxretry_retry_options.retry_unsafe_methods": _flag("1 (default)"),
    "boxretry_retry_options.delay_header_count": Rule("at most 16", 0, 16),
    "boxretry_retry_options.retry_after_jitter": Rule("0 to 1; default 0", 0, 1),
    "boxretry_outcome.status": Rule("100 to 999; 0: a network exception", 100, 999, zero=True),
    "boxretry_outcome.cause": _one_of("BOXRETRY_CAUSE_"),
    "boxretry_outcome.header_count": Rule("at most 65536", 0, 65536),
    "boxretry_outcome.auth_available": _flag(),
    "boxretry_outcome.request_sent": _one_of("BOXRETRY_SENT_"),
    "boxretry_outcome.body_not_replayable": _flag(),
    "boxretry_outcome.reserved": Rule("0", 0, 0),
    "boxretry_outcome.body_length": Rule("bytes"),
    "boxretry_outcome.body_state": _one_of("BOXRETRY_BODY_"),
    "boxretry_outcome.reserved_2": Rule("0", 0, 0),
    "boxretry_strategy_should_retry.attempt_number": Rule("0 is accepted, a negative one is not", 0),
    "boxretry_strategy_retry_after.attempt_number": Rule("(B6)", 0),
    "boxretry_backoff_delay.attempt_number": Rule("`attempt_number`: 0 or more", 0),
    "boxretry_backoff_delay.unit_random": Rule("0 (1 - retry_randomization_factor) to 1", 0, 1),
    "boxretry_parse_retry_after.unix_time": Rule(f"{YEAR_1} (year 1) to {YEAR_9999} (year 9999)", YEAR_1, YEAR_9999),
    "boxretry_budget_new.capacity": Rule("retries, 1 to 1000000", 1, 1000000),
    "boxretry_budget_new.ratio": Rule("0 to 1 retries; 0: 0.1", 0, 1),
    "boxretry_loop_options.auth_available": _flag(),
    "boxretry_loop_options.deadline_ms": Rule("1 or more", 1),
    "boxretry_loop_options.seed": Rule("0 (default): random"),
    "boxretry_loop_options.max_total_attempts": Rule("1 to 1000000. 0 (default)", 1, 1000000, zero=True),
    "boxretry_loop_options.reserved": Rule("0", 0, 0),
    "boxretry_token_retry_policy.maximum_attempts": Rule("1 or more", 1),
    "boxretry_token_retry_policy.initial_delay": Rule("0 or more, finite", 0, _FINITE),
    "boxretry_token_retry_policy.multiplier": Rule("1 or more, finite", 1, _FINITE),
    "boxretry_token_retry_policy.maximum_delay": Rule("0 or more, finite", 0, _FINITE),
    "boxretry_token_retry_policy.jitter_ratio": Rule("0 to 1", 0, 1),
    "boxretry_token_delay.failed_attempt": Rule("`failed_attempt`: 1 or more", 1),
    "boxretry_token_delay.unit_random": Rule("0 to 1", 0, 1),
    "boxretry_clock_advance.seconds": Rule("`seconds`: 0 to 2^31 - 1", 0, LONGEST_DELAY),
    "boxretry_clock_suspend.seconds": Rule("Otherwise like boxretry_clock_advance()", 0, LONGEST_DELAY),
    "boxretry_clock_set_wall.unix_time": Rule(f"{YEAR_1} (year 1) to {YEAR_9999} (year 9999)", YEAR_1, YEAR_9999),
    "boxretry_clock_now.timeline": _one_of("BOXRETRY_TIMELINE_"),
    "boxretry_clock_sleep.seconds": Rule("`seconds` (0 to 2^31 - 1)", 0, LONGEST_DELAY),
    "boxretry_clock_set_auto_advance.on": _flag("(`on` is not 0)"),
    "boxretry_clock_wait_for_timer.timeout_ms": Rule("`timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT", 0),
    "boxretry_token_options.refresh_leeway": Rule("seconds, 0 or more, finite; default 60", 0, _FINITE),
    "boxretry_token_options.provider_timeout_ms": Rule("1 or more; default BOXRETRY_NO_TIMEOUT", 1),
    "boxretry_token_options.fetch_timeout_ms": Rule("1 or more; default: none", 1),
    "boxretry_token_options.refresh_ahead_window": Rule("seconds, 0 or more, finite; 0 (default): off", 0, _FINITE),
    "boxretry_token_options.serve_stale": _flag(),
    "boxretry_token_options.reserved": Rule("0", 0, 0),
    "boxretry_token_options.initial_expires_in": Rule("above 0 and finite", 0, _FINITE, above_low=True),
    "boxretry_token_endpoint_options.field_count": Rule("at most 65536", 0, 65536),
    "boxretry_token_endpoint_options.header_count": Rule("at most 65536", 0, 65536),
    "boxretry_token_endpoint_options.refresh_leeway": Rule("seconds, 0 or more, finite; default 60", 0, _FINITE),
    "boxretry_token_endpoint_options.provider_timeout_ms": Rule("1 or more; default 10000", 1),
    "boxretry_token_endpoint_options.fetch_timeout_ms": Rule("1 or more; default: none", 1),
    "boxretry_token_endpoint_options.refresh_ahead_window": Rule("seconds, 0 or more, finite; 0", 0, _FINITE),
    "boxretry_token_endpoint_options.serve_stale": _flag(),
    "boxretry_token_endpoint_options.allow_insecure": _flag(),
    "boxretry_token_endpoint_options.proxy_mode": _one_of("BOXRETRY_PROXY_"),
    "boxretry_token_endpoint_options.reserved": Rule("0", 0, 0),
    "boxretry_token_endpoint_options.initial_expires_in": Rule("", 0, _FINITE, above_low=True),
    "boxretry_token_endpoint_options.default_expires_in": Rule("0 or more,", 0, _FINITE),
    "boxretry_token_source_get.timeout_ms": Rule("`timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT", 0),
    "boxretry_token_source_invalidate_generation.generation": Rule("by its generation"),
    "boxretry_token_request_succeed.length": Rule("a token of `length` bytes", 0, MOST_BYTES),
    "boxretry_token_request_succeed.expires_in": Rule("the waiters get the error (T6)"),
    "boxretry_token_request_fail.retryable": _flag("flag; whether to try again"),
    "boxretry_client_options.deadline_ms": Rule("milliseconds, 0 or more; 0 or BOXRETRY_NO_TIMEOUT: none", 0),
    "boxretry_client_options.proxy_mode": _one_of("BOXRETRY_PROXY_"),
    "boxretry_client_options.max_total_attempts": Rule(
        "1 to 1000000; 0: 1000 for a custom strategy", 1, 1000000, zero=True
    ),
    "boxretry_client_options.max_transfers": Rule("1 to 100000; 0: 512", 1, 100000, zero=True),
    "boxretry_client_options.max_response_headers": Rule("1 to 65536; 0: 1000", 1, 65536, zero=True),
    "boxretry_client_options.max_response_header_bytes": Rule("1 to 262144; 0: 262144", 1, 262144, zero=True),
    "boxretry_client_options.body_limit": Rule("0: 256 MiB", 0, MOST_BYTES),
    "boxretry_client_options.error_body_limit": Rule("0: 1 MiB (B15)", 0, MOST_BYTES),
    "boxretry_client_options.preset": _one_of("BOXRETRY_PRESET_"),
    "boxretry_client_options.http_version": _HTTP,
    "boxretry_client_options.max_redirects": Rule("1 to 1000; or BOXRETRY_NO_REDIRECTS; 0: 20", -1, 1000),
    "boxretry_client_options.compression": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_client_options.tls_verify": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_token_endpoint_options.tls_verify": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_token_endpoint_options.reserved_2": Rule("0", 0, 0),
    "boxretry_client_options.max_transfers_per_host": Rule("1 to 100000; 0: no limit", 1, 100000, zero=True),
    "boxretry_client_options.max_lookups": Rule("1 to 1000; 0: 64", 1, 1000, zero=True),
    "boxretry_client_options.secret_header_count": Rule("at most 64", 0, 64),
    "boxretry_client_options.header_count": Rule("at most 65536", 0, 65536),
    "boxretry_client_options.replay_code_count": Rule("at most 16", 0, 16),
    "boxretry_client_options.allow_insecure_token": _flag(),
    "boxretry_client_options.budget_capacity": Rule("retries; 1 to 1000000; 0: no budget", 1, 1000000, zero=True),
    "boxretry_client_options.budget_ratio": Rule("What a success gives back to the budget: 0 to 1", 0, 1),
    "boxretry_client_options.connect_timeout_ms": Rule(
        "0 or more; 0 or BOXRETRY_NO_TIMEOUT: only `timeouts` applies", 0
    ),
    "boxretry_client_options.reconnect": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_client_options.share_retry_after": _one_of("BOXRETRY_SWITCH_"),
    "boxretry_client_options.threads": _one_of("BOXRETRY_THREADS_"),
    "boxretry_client_close.timeout_ms": Rule("WAIT_TIMEOUT", 0),
    "boxretry_client_submit_and_wait.timeout_ms": Rule("`timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT", 0),
    "boxretry_client_drive.timeout_ms": Rule("`timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT", 0),
    "boxretry_call_wait.timeout_ms": Rule("`timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT", 0),
    "boxretry_response_header_at.index": Rule("the header line at `index`, from 0", *NONE),
    "boxretry_response_attempt.index": Rule("the attempt at `index`, from 0", 0, 0),
    "boxretry_response_reconnect.index": Rule("the reconnect at `index`, from 0", *NONE),
    "boxretry_response_redirect.index": Rule("the redirect at `index`, from 0", *NONE),
    "boxretry_queue_take.capacity": Rule("at most `capacity` (1 or more) ended calls", 1, MOST_BYTES),
    "boxretry_queue_take.timeout_ms": Rule("0 after the timeout", 0),
}

MAY_BE_NULL = {
    "boxretry_request.method": 'NULL: "GET"',
    f"boxretry_request.method{OF_A_CLIENT}": 'NULL: "GET"',
    "boxretry_request.url": "may be NULL",
    "boxretry_request.headers": "NULL if there are none",
    "boxretry_request.body": "NULL if there is none",
    "boxretry_request.user_pointer": "yours",
    "boxretry_retry_options.delay_headers": "NULL (default): none",
    "boxretry_outcome.headers": "NULL if there are none",
    "boxretry_outcome.request": "NULL (default): unknown",
    "boxretry_outcome.body": "NULL: none",
    "boxretry_outcome.url": "NULL: unknown",
    "boxretry_strategy_callbacks.context": "yours",
    "boxretry_strategy_callbacks.retry_after": "NULL: Retry-After, else the backoff",
    "boxretry_strategy_callbacks.context_free": "NULL: nothing to do",
    "boxretry_loop_options.clock": "NULL (default): the system's",
    "boxretry_loop_options.budget": "NULL (default): no budget",
    "boxretry_budget_free.budget": "NULL is accepted",
    "boxretry_client_options.budget": "NULL: none",
    "boxretry_client_options.clock": "NULL: the system's",
    "boxretry_strategy_new.options": "`options` NULL: the documented defaults",
    "boxretry_backoff_delay.options": "`options` NULL: the defaults",
    "boxretry_retry_loop_new.options": "`options` NULL: the defaults",
    "boxretry_token_delay.policy": "`policy` NULL: the default",
    "boxretry_clock_now.clock": "NULL: the system's",
    "boxretry_clock_sleep.clock": "NULL: the system's",
    "boxretry_strategy_free.strategy": "NULL is accepted",
    "boxretry_retry_loop_free.loop": "NULL is accepted",
    "boxretry_clock_free.clock": "NULL is accepted",
    "boxretry_token_options.context": "yours",
    "boxretry_token_options.context_free": "NULL: nothing to do",
    "boxretry_token_options.policy": "NULL (default): the defaults",
    "boxretry_token_options.clock": "NULL (default): the system's",
    "boxretry_token_options.initial_token": "NULL (default): none",
    "boxretry_token_endpoint_options.initial_token": "",
    "boxretry_token_endpoint_options.fields": "NULL if there are none",
    "boxretry_token_endpoint_options.headers": "NULL if there are none",
    "boxretry_token_endpoint_options.refresh_token": "NULL (default): none",
    "boxretry_token_endpoint_options.context": "yours",
    "boxretry_token_endpoint_options.on_refresh_token": "NULL: not called",
    "boxretry_token_endpoint_options.context_free": "NULL: nothing to do",
    "boxretry_token_endpoint_options.policy": "NULL (default): the defaults",
    "boxretry_token_endpoint_options.clock": "NULL (default): the system's",
    "boxretry_token_endpoint_options.timeouts": "NULL (default): the defaults",
    "boxretry_token_endpoint_options.user_agent": 'NULL: "boxretry/" and the version',
    "boxretry_token_endpoint_options.ca_file": "NULL: the system's certificates",
    "boxretry_token_endpoint_options.proxy": "for BOXRETRY_PROXY_GIVEN",
    "boxretry_token_source_get.cancel": "NULL: none",
    "boxretry_token_source_get_async.cancel": "`cancel`: as above",
    "boxretry_token_source_get_async.context": "",
    "boxretry_token_source_free.source": "NULL is accepted",
    "boxretry_token_bytes.token": "For NULL",
    "boxretry_token_length.token": "For NULL",
    "boxretry_token_generation.token": "0 for NULL",
    "boxretry_token_expires_in.token": "0 for NULL",
    "boxretry_token_free.token": "NULL is accepted",
    "boxretry_token_request_fail.message": "NULL: no message",
    "boxretry_token_request_retain.request": "NULL is accepted",
    "boxretry_token_request_release.request": "NULL is accepted",
    "boxretry_request.timeouts": "",
    "boxretry_request.strategy": "",
    "boxretry_request.queue": "NULL: none",
    "boxretry_request.on_complete": "Instead of a queue",
    "boxretry_request.on_complete_context": "",
    "boxretry_request.cancel": "NULL: none",
    "boxretry_request.body_source": "NULL: none",
    "boxretry_request.sink": "NULL: memory",
    "boxretry_request.on_progress": "NULL: none",
    "boxretry_request.on_progress_context": "yours",
    "boxretry_request.before_attempt": "NULL: the client's",
    "boxretry_request.before_attempt_context": "yours",
    "boxretry_request.idempotency_key": "NULL: none",
    f"boxretry_request.idempotency_key{OF_A_CLIENT}": "NULL: none",
    "boxretry_part.file_name": "NULL with `path`: the last part of the path",
    "boxretry_part.content_type": "NULL: libcurl guesses from the file's name",
    "boxretry_part.headers": "NULL if there are none",
    "boxretry_part.data": "NULL: nothing",
    "boxretry_part.path": "NULL: it is `data`",
    "boxretry_body_source.rewind": "NULL: the body can be sent once (R3)",
    "boxretry_body_source.context_free": "NULL: nothing to do",
    "boxretry_body_source.context": "yours",
    "boxretry_sink.restart": "NULL: a delivery that broke off is not retried",
    "boxretry_sink.context_free": "NULL: nothing to do",
    "boxretry_sink.context": "yours",
    "boxretry_sink.begin": "NULL: nothing to do",
    "boxretry_client_options.strategy": "NULL: the preset's",
    "boxretry_client_options.client_certificate": "NULL: none",
    "boxretry_retry_options.should_retry_header": "NULL (default): none",
    "boxretry_client_options.client_key": "NULL: the same file",
    "boxretry_client_options.client_key_password": "NULL: none",
    "boxretry_client_options.unix_socket": "NULL: none",
    "boxretry_client_options.secret_headers": "NULL: none",
    "boxretry_client_options.token_source": "NULL: none",
    "boxretry_client_options.replay_codes": "NULL: none; with the",
    "boxretry_request.token_source": "NULL: the client's",
    "boxretry_client_options.idempotency_key_header": 'NULL: "Idempotency-Key"',
    "boxretry_client_options.before_attempt": "NULL: none",
    "boxretry_client_options.before_attempt_context": "yours",
    "boxretry_client_options.on_transfer": "NULL: none",
    "boxretry_client_options.on_transfer_context": "yours",
    "boxretry_client_options.timeouts": "NULL: the defaults",
    "boxretry_client_options.user_agent": 'NULL: "boxretry/" and the version',
    "boxretry_client_options.ca_file": "NULL: the system's",
    "boxretry_client_options.ca_path": "NULL: none",
    "boxretry_client_options.headers": "NULL if there are none",
    "boxretry_client_new_derived.options": "Options that are 0 or NULL are as in `from`",
    "boxretry_token_endpoint_options.ca_path": "NULL (default): none",
    "boxretry_client_options.proxy": "for BOXRETRY_PROXY_GIVEN",
    "boxretry_client_options.on_event": "NULL: none",
    "boxretry_client_options.on_event_context": "",
    "boxretry_client_new.options": "`options` NULL: the defaults",
    "boxretry_client_submit.out": "`out` may be NULL if there is a queue",
    "boxretry_client_free.client": "NULL is accepted",
    "boxretry_call_cancel.call": "NULL is accepted",
    "boxretry_call_resume.call": "NULL is accepted",
    "boxretry_call_wake.call": "NULL is accepted",
    "boxretry_call_user_pointer.call": "NULL for NULL",
    "boxretry_sending_attempt_number.sending": "0 for NULL",
    "boxretry_sending_method.sending": "NULL for NULL",
    "boxretry_sending_url.sending": "NULL for NULL",
    "boxretry_sending_user_pointer.sending": "NULL for NULL",
    "boxretry_sending_header.sending": "and for NULL",
    "boxretry_sending_header.name": "and for NULL",
    "boxretry_sending_set_header.value": "`value` NULL removes it",
    "boxretry_sending_fail.sending": "NULL is accepted",
    "boxretry_call_free.call": "NULL is accepted",
    "boxretry_response_body.length": "which may be NULL",
    "boxretry_response_free.response": "NULL is accepted",
    "boxretry_queue_fd.queue": "-1 for NULL",
    "boxretry_client_fd.client": "-1: NULL",
    "boxretry_queue_free.queue": "NULL is accepted",
    "boxretry_cancel_trigger.cancel": "NULL is accepted",
    "boxretry_cancel_free.cancel": "NULL is accepted",
}


@cache  # asked of the same few texts again and again, of which some are long
def _is_delay_header_name(name: bytes) -> bool:
    return 1 <= len(name) <= 256 and not any(byte <= 0x20 or byte >= 0x7F or byte == ord(":") for byte in name)


@cache
def _is_token(text: bytes, longest: int) -> bool:
    return 1 <= len(text) <= longest and re.fullmatch(rb"[A-Za-z0-9!#$%&'*+.^_`|~-]+", text) is not None


@cache
def _has_no_control_character(text: bytes) -> bool:
    return not any((byte < 0x20 and byte != ord("\t")) or byte == 0x7F for byte in text)


_RESERVED_HEADERS = {b"content-length", b"transfer-encoding", b"expect"}


@cache
def _is_header_name(text: bytes) -> bool:
    return _is_token(text, 256) and text.lower() not in _RESERVED_HEADERS


@cache
def _is_idempotency_key(text: bytes) -> bool:
    return len(text) <= 255 and not any(byte <= 0x20 or byte >= 0x7F for byte in text)


def _is_token_text(text: bytes) -> bool:
    return 1 <= len(text.strip()) <= 16384 and all(0x21 <= byte <= 0x7E for byte in text.strip())


def _is_confidential_url(text: bytes) -> bool:
    return text.startswith((b"https://", b"http://127.", b"http://localhost", b"http://[::1]"))


def _is_access_token(text: bytes) -> bool:
    trimmed = text.strip(b" \t\n\v\f\r")
    return 0 < len(trimmed) <= 16384 and all(0x21 <= byte <= 0x7E for byte in trimmed)


TEXTS: dict[str, tuple[str, Callable[[bytes], bool]]] = {
    "boxretry_delay_header.name": ("1 to 256 visible ASCII characters, without a colon", _is_delay_header_name),
    "boxretry_retry_options.should_retry_header": ("The name obeys the rules of a delay header", _is_delay_header_name),
    # What has no words here has them in the comment of its struct, or of the function's section.
    f"boxretry_request.method{OF_A_CLIENT}": ("", lambda text: _is_token(text, 32)),
    f"boxretry_request.url{OF_A_CLIENT}": ("", lambda text: text.startswith((b"http://", b"https://"))),
    f"boxretry_request.idempotency_key{OF_A_CLIENT}": ("1 to 255 visible characters", _is_idempotency_key),
    f"boxretry_header.name{OF_A_CLIENT}": ("", _is_header_name),
    f"boxretry_header.value{OF_A_CLIENT}": ("", _has_no_control_character),
    "boxretry_part.name": ("", _has_no_control_character),
    "boxretry_part.file_name": ("", _has_no_control_character),
    "boxretry_part.content_type": ("", _has_no_control_character),
    "boxretry_sink.path": ("Of a regular file, or of none; not empty", lambda text: 0 < len(text) <= LONGEST_NAME),
    "boxretry_client_options.user_agent": ("no control character except the tab", _has_no_control_character),
    "boxretry_client_options.idempotency_key_header": ("a token", _is_header_name),
    "boxretry_token_options.initial_token": ("1 to 16384 bytes, each in 0x21", _is_access_token),
    "boxretry_token_endpoint_options.initial_token": ("", _is_access_token),
    "boxretry_sending_set_header.name": ("The rules for a request's headers hold", _is_header_name),
    "boxretry_sending_set_header.value": ("The rules for a request's headers hold", _has_no_control_character),
    "text.text": ("", lambda text: _is_token(text, 256)),  # of client_options.secret_headers and replay_codes
    "boxretry_token_endpoint_options.user_agent": ("", _has_no_control_character),
    "boxretry_token_endpoint_options.url": ("https, or http to this machine", _is_confidential_url),
    "boxretry_token_source_new_fixed.token": ("1 to 16384 bytes, each in 0x21 to 0x7E", _is_token_text),
}

LEFT_OPEN = {
    "boxretry_client_options.proxy",
    "boxretry_token_endpoint_options.proxy",
    "boxretry_token_request_succeed.expires_in",
    "boxretry_token_options.initial_token",
    "boxretry_token_options.initial_expires_in",
    "boxretry_token_endpoint_options.initial_token",
    "boxretry_token_endpoint_options.initial_expires_in",
}
"""These fields are read only if another field says so, or are checked elsewhere."""

LEFT_OUT = {
    "boxretry_client_options.proxy",
    "boxretry_client_options.budget",
    "boxretry_token_endpoint_options.proxy",
    "boxretry_token_options.initial_token",
    "boxretry_token_endpoint_options.initial_token",
}
"""What is NULL in a valid call, since it would need another value of another field."""

NEEDS_MORE = {("boxretry_client_options.proxy_mode", 2), ("boxretry_token_endpoint_options.proxy_mode", 2)}
"""What is allowed only together with something that a valid call leaves out."""

EXAMPLES: dict[str, Number | bytes] = {
    "boxretry_outcome.status": 500,
    "boxretry_request.method": b"POST",
    f"boxretry_request.method{OF_A_CLIENT}": b"POST",
    f"boxretry_request.url{OF_A_CLIENT}": b"http://127.0.0.1:1/",
    f"boxretry_header.name{OF_A_CLIENT}": b"Retry-After",
    f"boxretry_header.value{OF_A_CLIENT}": b"120",
    "boxretry_client_options.proxy_mode": 1,
    "boxretry_client_options.max_total_attempts": 1,
    "boxretry_client_options.idempotency_key_header": b"X-Key",
    "boxretry_sending_header.name": b"X-Name",
    "boxretry_sending_set_header.name": b"X-Name",
    "boxretry_call_wait.timeout_ms": 2**63 - 1,
    "boxretry_client_submit_and_wait.timeout_ms": 2**63 - 1,
    "boxretry_token_endpoint_options.url": b"https://127.0.0.1:1/",
    "boxretry_token_endpoint_options.proxy_mode": 1,
    "boxretry_token_source_get.timeout_ms": 2**63 - 1,
    "boxretry_token_request_succeed.token": b"token",
    "boxretry_token_request_succeed.length": 5,
    "boxretry_token_request_succeed.expires_in": 3600,
    "boxretry_queue_take.capacity": 1,
    "boxretry_retry_options.retry_randomization_factor": 0,
    "boxretry_loop_options.seed": 1,
    "boxretry_budget_new.capacity": 1000000,  # what is made of it is charged again and again
    "boxretry_header.name": b"Retry-After",
    "boxretry_header.value": b"120",
    "boxretry_delay_header.name": b"retry-after-ms",
    "boxretry_retry_options.should_retry_header": b"x-should-retry",
    "boxretry_delay_header.unit": 0.001,
    "boxretry_parse_retry_after.value": b"120",
}
"""The content of a valid call where the default, or else the lowest allowed number from 0 on, would show little: a call
whose result depends on what it is given, and not on chance. A request is sent once, to a port without a listener:
it ends at once, and that it does is waited for."""

BLOCKING = {
    "boxretry_clock_sleep.seconds",
    "boxretry_clock_wait_for_timer.timeout_ms",
    "boxretry_queue_take.timeout_ms",
    "boxretry_client_drive.timeout_ms",
}
"""Here a number above 0 that is allowed makes the call wait."""

UNREAD = {
    "boxretry_client_perform": {"queue", "on_complete", "on_complete_context"},
    "boxretry_client_new_derived": {
        *("user_agent", "ca_file", "ca_path", "proxy", "proxy_mode", "max_transfers", "on_event", "on_event_context"),
        *("preset", "max_transfers_per_host", "max_lookups", "client_certificate", "client_key", "client_key_password"),
        *("unix_socket", "secret_headers", "secret_header_count", "on_transfer", "on_transfer_context"),
        *("replay_codes", "replay_code_count", "budget_capacity", "budget_ratio", "tls_verify", "budget", "clock"),
        *("share_retry_after", "threads"),
    },
}
"""The fields that a function does not look at, or that must be at their defaults there."""

ONLY_FOR_CLIENTS = {
    "timeouts",
    "strategy",
    "deadline_ms",
    "body_limit",
    "queue",
    "on_complete",
    "on_complete_context",
    "cancel",
    "body_source",
    "sink",
    "on_progress",
    "on_progress_context",
    "before_attempt",
    "before_attempt_context",
    "max_redirects",
    "compression",
    "http_version",
    "authorization",
    "token_source",
    "connect_timeout_ms",
    "reconnect",
    "default_headers",
}
"""The fields of a request that are not looked at where an outcome is about it. (That it has an idempotency key is.)"""

LIVES_IN_A_HOOK = "boxretry_sending"
"""The handle that no function makes: it is there while a hook runs."""

MAY_ANSWER_NULL = {
    "boxretry_response_header": "NULL if there is none",
    "boxretry_response_error_detail": "NULL if there is none",
    "boxretry_response_reason_phrase": "accept NULL and return an empty value",
    "boxretry_response_url": "accept NULL and return an empty value",
    "boxretry_response_user_pointer": "accept NULL and return an empty value",
    "boxretry_call_take_response": "NULL if the call has not ended",
    "boxretry_call_user_pointer": "NULL for NULL",
    "boxretry_sending_method": "NULL for NULL",
    "boxretry_sending_url": "NULL for NULL",
    "boxretry_sending_user_pointer": "NULL for NULL",
    "boxretry_sending_header": "NULL if there is none",
}
"""The functions that answer a pointer, and sometimes none."""

ONLY_DETAIL = {"boxretry_queue_take"}
"""The functions that answer 0 when they fail, and say why in the error detail alone."""

ANSWER_IF_FORKED = {
    "boxretry_response_error": 1,  # INVALID_ARGUMENT; the header does not say which
    "boxretry_response_token_error": 1,
    "boxretry_response_status": 0,
    "boxretry_response_header_count": 0,
    "boxretry_response_body": "a pointer",
    "boxretry_response_body_is_cut_off": 0,
    "boxretry_response_sink_length": 0,
    "boxretry_response_attempt_count": 0,
    "boxretry_response_reconnect_count": 0,
    "boxretry_response_redirect_count": 0,
    "boxretry_sending_attempt_number": 0,
    "boxretry_queue_fd": -1,
    "boxretry_client_fd": -1,
    "boxretry_token_bytes": b"",
    "boxretry_token_length": 0,
    "boxretry_token_generation": 0,
    "boxretry_token_expires_in": 0,
    "boxretry_queue_take": 0,
}
"""What functions that cannot fail answer to a handle of the parent process (and to NULL), where it is not NULL."""

ENDED_BY = {"boxretry_token_request": "boxretry_token_request_release"}
"""What ends the use of a handle, where it is not its _free()."""


def end_of(handle: str) -> str:
    """The function that ends the use of a handle."""
    return ENDED_BY.get(handle, f"{handle}_free")


ANSWER_IF_VALID = {
    "boxretry_clock_wait_for_timer": "BOXRETRY_ERROR_WAIT_TIMEOUT",
    "boxretry_response_header_at": "BOXRETRY_ERROR_INVALID_ARGUMENT",
    "boxretry_response_reconnect": "BOXRETRY_ERROR_INVALID_ARGUMENT",
    "boxretry_response_redirect": "BOXRETRY_ERROR_INVALID_ARGUMENT",
}
"""What a call with such arguments answers, where it is not OK."""
