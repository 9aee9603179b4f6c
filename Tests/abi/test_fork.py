"""After fork(): the child may only free the handles of its parent, and those that it makes itself work."""

from __future__ import annotations

import socket

import pytest
from arguments import Arguments, comparable, without_address
from calls import FOR_EVER, Calls
from facts import ANSWER_IF_FORKED, ANSWER_IF_VALID, end_of
from header import read_header
from hostile import Override, Place, is_only_for_hooks, places
from isolated import isolated, run_in_child
from library import Library, address

HEADER = read_header()
FUNCTIONS = [function for function in HEADER.functions.values() if not is_only_for_hooks(function)]


def handle_places() -> list[tuple[str, Place]]:
    """Each parameter that is a handle, and each field of a struct that is one."""
    return [
        (function.name, place)
        for function in FUNCTIONS
        for place in places(function)
        if place.what.type.name in HEADER.handles and place.what.type.pointers == 1
    ]


each_handle = pytest.mark.parametrize(
    "name, place", handle_places(), ids=[f"{name}-{'.'.join(place.path)}" for name, place in handle_places()]
)


@pytest.mark.parametrize("variant", [0, 1], ids=["Box's strategy", "custom strategy"])
@each_handle
@isolated
def test_child_is_refused_the_handles_of_its_parent(name: str, place: Place, variant: int) -> None:
    """Given a handle from before fork(), the child gets an error, or may free it; the parent continues to use it."""
    library = Library()
    function = HEADER.functions[name]
    handle = place.what.type.name
    in_parent = Arguments(library, function, variant)
    pointer = in_parent.make(handle)

    def child() -> None:
        arguments = Arguments(library, function, variant)  # all other handles are the child's own
        answer = arguments.call((Override(place, pointer),))
        if function.can_fail:
            assert answer == "BOXRETRY_ERROR_FORKED"
            assert "fork" in library.detail
            assert not arguments.has_written
        else:
            assert without_address(function, answer) == ANSWER_IF_FORKED.get(name)
        library.call(end_of(handle), pointer)

    run_in_child(child)
    answer = in_parent.call((Override(place, pointer),))
    if function.can_fail:
        assert answer == ANSWER_IF_VALID.get(name, "BOXRETRY_OK")
        library.call(end_of(handle), pointer)


@pytest.mark.parametrize("variant", [0, 1], ids=["Box's strategy", "custom strategy"])
@pytest.mark.parametrize("name", [function.name for function in FUNCTIONS])
@isolated
def test_child_makes_handles_that_work(name: str, variant: int) -> None:
    """Given a library that was used before fork(), in the child (and in its child) each function works."""
    library = Library()
    function = HEADER.functions[name]
    outside = comparable(function, Arguments(library, function, variant).call())

    def child() -> None:
        assert comparable(function, Arguments(library, function, variant).call()) == outside

    run_in_child(child)
    run_in_child(lambda: run_in_child(child))


@isolated
def test_child_frees_what_is_under_way_in_its_parent_and_sends_itself() -> None:
    """Given a call whose server is silent, the child frees its handles and makes its own; the parent continues."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        calls = Calls()
        queue, switch = calls.library.new("boxretry_queue_new"), calls.library.new("boxretry_cancel_new")
        url = b"http://127.0.0.1:%d/" % silent.getsockname()[1]
        call = calls.submit(calls.request(url, queue=queue, cancel=switch))
        connection, _ = silent.accept()  # the request is on its way

        def child() -> None:
            assert calls.ask("call_wait", call, 0) == "BOXRETRY_ERROR_FORKED"
            calls.ask("call_cancel", call)
            calls.ask("cancel_trigger", switch)
            for kind, handle in {"client": calls.client, "call": call, "queue": queue, "cancel": switch}.items():
                calls.ask(f"{kind}_free", handle)
            own = Calls()
            assert own.error(own.perform(own.request())) == "BOXRETRY_ERROR_CONNECT"

        run_in_child(child)
        assert calls.ask("call_wait", call, 0) == "BOXRETRY_ERROR_WAIT_TIMEOUT", "the child has not ended it"
        calls.ask("cancel_trigger", switch)
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        assert calls.error(calls.ask("call_take_response", call)) == "BOXRETRY_ERROR_CANCELLED"
        connection.close()


@isolated
def test_child_does_not_draw_the_delays_of_its_parent() -> None:
    """B6: given jitter, parent and child draw different numbers after fork()."""
    library = Library()

    def draw() -> list[float]:
        strategy = library.new("boxretry_strategy_new", None)
        outcome, out = library.struct("boxretry_outcome", status=500), library.struct("boxretry_decision")
        delays = []
        for _ in range(8):
            library.call("boxretry_strategy_should_retry", strategy, address(outcome), 1, address(out))
            delays.append(out.delay)
        return delays

    draw()
    children = [run_in_child(draw), run_in_child(draw)]
    drawn = [*draw(), *children[0], *children[1]]
    assert len(set(drawn)) == len(drawn)
