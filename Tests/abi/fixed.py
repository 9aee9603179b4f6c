"""What programs outside of the project are written against, and what therefore can never change."""

from __future__ import annotations

from layout import measure_fields

FIRST_FIELDS = {
    "boxretry_retry_options": [
        ("int32_t", "max_attempts"),
        ("int32_t", "max_retries_on_exception"),
        ("double", "retry_base_interval"),
        ("double", "retry_randomization_factor"),
    ],
    "boxretry_token_retry_policy": [
        ("int32_t", "maximum_attempts"),
        ("double", "initial_delay"),
        ("double", "multiplier"),
        ("double", "maximum_delay"),
        ("double", "jitter_ratio"),
    ],
    "boxretry_timeouts": [
        ("int64_t", "timeout_interval_for_request_ms"),
        ("int64_t", "timeout_interval_for_resource_ms"),
    ],
    "boxretry_header": [
        ("const char *", "name"),
        ("const char *", "value"),
    ],
    "boxretry_outcome": [
        ("int32_t", "status"),
        ("int32_t", "cause"),
        ("const boxretry_header *", "headers"),
        ("size_t", "header_count"),
        ("int32_t", "auth_available"),
        ("int32_t", "request_sent"),
    ],
    "boxretry_decision": [
        ("int32_t", "action"),
        ("int32_t", "reason"),
        ("double", "delay"),
        ("int32_t", "delay_source"),
        ("int32_t", "attempt_number"),
        ("int32_t", "exception_number"),
    ],
    "boxretry_loop_options": [
        ("int32_t", "auth_available"),
        ("int64_t", "deadline_ms"),
        ("const boxretry_clock *", "clock"),
        ("uint64_t", "seed"),
    ],
    "boxretry_request": [
        ("const char *", "method"),
        ("const char *", "url"),
        ("const boxretry_header *", "headers"),
        ("size_t", "header_count"),
        ("const void *", "body"),
        ("size_t", "body_length"),
    ],
    "boxretry_sink": [
        ("int32_t", "kind"),
        ("int32_t", "is_resumable"),
        ("const char *", "path"),
        ("void (*)(void *, boxretry_call *, const void *, size_t, int32_t *)", "write"),
        ("void (*)(void *, int32_t *)", "restart"),
        ("void (*)(void *)", "context_free"),
        ("void *", "context"),
    ],
}
"""With these fields, in this order, each of these structs begins (after its struct_size)."""

CONSTANTS = {
    "BOXRETRY_OK": 0,
    "BOXRETRY_NO_TIMEOUT": 2**63 - 1,
    "BOXRETRY_ACTION_STOP": 0,
    "BOXRETRY_ACTION_RETRY": 1,
    "BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY": 2,
    "BOXRETRY_ACTION_SUCCEED": 3,
    "BOXRETRY_DELAY_NONE": 0,
    "BOXRETRY_DELAY_BACKOFF": 1,
    "BOXRETRY_DELAY_RETRY_AFTER": 2,
    "BOXRETRY_DELAY_RETRY_AFTER_DATE": 3,
    "BOXRETRY_DELAY_CUSTOM": 4,
    "BOXRETRY_CAUSE_NONE": 0,
    "BOXRETRY_CAUSE_RESOLVE": 1,
    "BOXRETRY_CAUSE_CONNECT": 2,
    "BOXRETRY_CAUSE_TLS": 3,
    "BOXRETRY_CAUSE_SEND": 4,
    "BOXRETRY_CAUSE_RECEIVE": 5,
    "BOXRETRY_CAUSE_PROTOCOL": 6,
    "BOXRETRY_CAUSE_TIMEOUT_IDLE": 7,
    "BOXRETRY_CAUSE_TIMEOUT_RESOURCE": 8,
    "BOXRETRY_SENT_UNKNOWN": 0,
    "BOXRETRY_SENT_NOTHING": 1,
    "BOXRETRY_SENT_SOME": 2,
}

PADDED = {"boxretry_token_retry_policy": 12, "boxretry_loop_options": 12}
"""Structs whose first fields force 4 bytes of padding, and where these stand. No other struct has any."""


FIRST_SIZES = {
    "boxretry_attempt": 160,
    "boxretry_client_options": 264,
    "boxretry_client_stats": 48,
    "boxretry_token_endpoint_options": 176,
    "boxretry_token_options": 88,
}
"""Sizes in 0.1.0 of structs that have grown since, and of which no fields are fixed."""


def first_size(struct: str) -> int:
    """The least size that such a struct ever had: up to its last fixed field, or its size in the first release."""
    if struct in FIRST_SIZES:
        return FIRST_SIZES[struct]
    fields = measure_fields(struct)
    if struct in FIRST_FIELDS:
        fields = fields[: 1 + len(FIRST_FIELDS[struct])]
    offset, size, _, _ = fields[-1]
    return (offset + size + 7) // 8 * 8
