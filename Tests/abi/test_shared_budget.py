"""C1 through the C interface: the budget that loops share, and how its parts go together."""

from __future__ import annotations

import ctypes
import threading

from isolated import isolated
from library import Library

STOP, RETRY, SUCCEED = 0, 1, 3
ACCEPTED, SERVER_ERROR, SUCCESS, SPENT = 2, 3, 0, 18


class Scene:
    """A library, and loops of the default strategy."""

    def __init__(self) -> None:
        self.library = Library()
        self.strategy = self.library.new("boxretry_strategy_new", None)

    def loop(self, budget: int) -> int:
        options = self.library.struct("boxretry_loop_options", budget=budget)
        return self.library.new("boxretry_retry_loop_new", self.strategy, ctypes.addressof(options))

    def next(self, loop: int, status: int, retry_after: bytes | None = None) -> tuple[int, int]:
        """The action and the reason of the next decision."""
        outcome = self.library.struct("boxretry_outcome", status=status)
        name, value = ctypes.create_string_buffer(b"Retry-After"), ctypes.create_string_buffer(retry_after or b"")
        header = self.library.struct("boxretry_header", name=ctypes.addressof(name), value=ctypes.addressof(value))
        if retry_after is not None:
            outcome.headers, outcome.header_count = ctypes.addressof(header), 1
        decision = self.library.struct("boxretry_decision")
        answer = self.library.call(
            "boxretry_retry_loop_next", loop, ctypes.addressof(outcome), ctypes.addressof(decision)
        )
        assert answer == "BOXRETRY_OK", self.library.detail
        return decision.action, decision.reason

    def stats(self, budget: int) -> tuple[int, int, int, float]:
        stats = self.library.struct("boxretry_budget_stats")
        assert self.library.call("boxretry_budget_get_stats", budget, ctypes.addressof(stats)) == "BOXRETRY_OK"
        return stats.taken, stats.given_back, stats.refused, stats.level


@isolated
def test_c1_two_loops_share_a_budget_that_may_be_freed_before_them() -> None:
    """C1. Given a budget of 2, the second loop's retry is refused; after a success one more retry goes."""
    scene = Scene()
    budget = scene.library.new("boxretry_budget_new", 2, 0.0)
    first, second = scene.loop(budget), scene.loop(budget)
    assert scene.next(first, 503) == (RETRY, SERVER_ERROR)
    assert scene.next(second, 503) == (STOP, SPENT)
    assert scene.stats(budget) == (1, 0, 1, 1.0)
    assert scene.next(first, 200) == (SUCCEED, SUCCESS)
    assert scene.stats(budget) == (1, 1, 1, 1.1)
    third = scene.loop(budget)
    scene.library.call("boxretry_budget_free", budget)
    assert scene.next(third, 503) == (RETRY, SERVER_ERROR)
    assert scene.next(third, 503) == (STOP, SPENT)


@isolated
def test_c1_a_202_that_is_not_asked_for_again_is_a_success_and_says_why() -> None:
    """C1, B10. Given a spent budget and a 202 with Retry-After, the loop succeeds, and its reason is the budget."""
    scene = Scene()
    budget = scene.library.new("boxretry_budget_new", 1, 1.0)
    loop = scene.loop(budget)
    assert scene.next(loop, 202, b"1") == (RETRY, ACCEPTED)
    assert scene.next(loop, 202, b"1") == (SUCCEED, SPENT)


@isolated
def test_c1_a_client_refuses_a_budget_beside_the_fields_that_make_one() -> None:
    """C1. Given both, INVALID_ARGUMENT names the budget, and nothing is made."""
    library = Library()
    budget = library.new("boxretry_budget_new", 2, 0.0)
    options = library.struct("boxretry_client_options", budget=budget, budget_capacity=5)
    out = ctypes.c_void_p()
    answer = library.call("boxretry_client_new", ctypes.addressof(options), ctypes.addressof(out))
    assert (answer, out.value) == ("BOXRETRY_ERROR_INVALID_ARGUMENT", None)
    assert "options.budget: " in library.detail
    assert "budget_capacity" in library.detail


@isolated
def test_c1_threads_that_share_a_budget_take_exactly_what_it_has() -> None:
    """C1. Given 4 threads and a budget of 10,000, 5,000 retries are allowed, and not one more."""
    scene = Scene()
    budget = scene.library.new("boxretry_budget_new", 10_000, 0.0)

    def run() -> None:
        for _ in range(2_500):
            loop = scene.loop(budget)
            scene.next(loop, 503)
            scene.library.call("boxretry_retry_loop_free", loop)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scene.stats(budget) == (5_000, 0, 5_000, 5_000.0)
