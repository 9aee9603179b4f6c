"""Passes a request to the library and gets its response, for the blocking client."""

from __future__ import annotations

from ctypes import c_void_p
from functools import partial

from .._bodies.contents import NO_BODY
from .._c import _abi
from .._c.handle import Handle
from ..calls._interrupts import waited
from ..calls.call import SLICE_MS, end_and_free
from ..enums import Error
from ..errors import check
from .sending import Sending

# If a function is declared to take a reference, ctypes makes one from its argument: faster than byref().

_WAIT_TIMEOUT = int(Error.WAIT_TIMEOUT)


def submit(client: Handle, sending: Sending, wait_ms: int = 0) -> Handle:
    """Starts a call. `wait_ms`: the longest wait for its end, or until a callback wakes this thread."""
    free = partial(end_and_free, sending.body) if sending.lend() else _abi.boxretry_call_free
    call = Handle(None, free, keeps=(client, sending))
    if wait_ms:
        try:
            check(waited(_abi.boxretry_client_submit_and_wait, client.pointer, sending.struct, wait_ms, call.cell))
        except BaseException:  # The exception refers to this frame, and so to the call.
            if call.cell.value is not None:
                _abi.boxretry_call_cancel(call.cell)
            raise
    else:
        check(_abi.boxretry_client_submit(client.pointer, sending.struct, call.cell))
    return call


def perform(client: Handle, sending: Sending) -> Handle:
    """Sends a request, and waits. Returns the boxretry_response."""
    sending.lend()
    response = Handle(None, _abi.boxretry_response_free)
    status = _abi.boxretry_client_perform(client.pointer, sending.struct, response.cell)
    if status:
        check(status)
    return response


def perform_in_slices(client: Handle, sending: Sending) -> Handle:
    """Like `perform()`, for the main thread, which has to return from time to time to run signal handlers."""
    # Not a `Handle`: no other code knows the call, and Ctrl-C's exception would be lost in a function that frees it.
    call = c_void_p()
    lent = sending.body if sending.body is not NO_BODY and sending.lend() else None
    try:  # From before it is sent, because Ctrl-C may come at any moment.
        status = waited(_abi.boxretry_client_submit_and_wait, client.pointer, sending.struct, SLICE_MS, call)
        if status:
            check(status)
        response = Handle(None, _abi.boxretry_response_free)
        response.cell.value = _abi.boxretry_call_take_response(call)
        if response.cell.value is None:  # It has not ended yet.
            while (status := waited(_abi.boxretry_call_wait, call, SLICE_MS)) == _WAIT_TIMEOUT:
                pass
            if status:
                check(status)
            response.cell.value = _abi.boxretry_call_take_response(call)
        ended, call.value = call.value, None
        _abi.boxretry_call_free(ended)
    except BaseException:
        if call.value is not None:
            end_and_free(lent, call.value)
        raise
    return response
