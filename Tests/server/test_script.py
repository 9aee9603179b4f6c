"""What a URL asks for: pure, without a server."""

from __future__ import annotations

import pytest
from faults.script import parse
from faults.vocabulary import BadScript, Fault


def items(target: str, count: int) -> list[str]:
    script = parse(target)
    return [script.turn(number).item for number in range(count)]


def test_the_nth_request_gets_the_nth_item_and_the_last_one_again_and_again() -> None:
    assert items("/seq/reset,503,200?id=a", 5) == ["reset", "503", "200", "200", "200"]


def test_an_item_can_be_repeated() -> None:
    assert items("/seq/503*3,200?id=a", 5) == ["503", "503", "503", "200", "200"]
    assert items("/seq/503*0,200?id=a", 1) == ["200"]


def test_a_cycle_begins_again() -> None:
    assert items("/seq/503,200?id=a&cycle", 5) == ["503", "200", "503", "200", "503"]


def test_a_redirect_chain_is_a_number_of_302_and_a_200() -> None:
    assert items("/redirect/2?id=a", 4) == ["302", "302", "200", "200"]


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        ("reset", Fault("reset", "before")),
        ("close:request", Fault("close", "request")),
        ("cut:end", Fault("cut", "end")),
        ("stall:40", Fault("stall", "after", 40)),
        ("short", Fault("close", "body")),
    ],
)
def test_a_fault_has_a_place(item: str, fault: Fault) -> None:
    answer = parse(f"/seq/{item}").turn(0)
    assert (answer.status, answer.fault) == (200, fault)


def test_a_fault_can_be_added_to_any_answer() -> None:
    assert parse("/seq/503?reset=headers").turn(0).fault == Fault("reset", "headers")
    assert parse("/echo?stall_after=7").turn(0).fault == Fault("stall", "after", 7)


def test_what_is_more_specific_wins() -> None:
    script = parse("/seq/503,503,200,short?id=a&size=10&503.size=20&2.size=30&short.size=40&close=end")
    assert [script.turn(number).size for number in range(4)] == [20, 30, 10, 40]
    assert script.turn(2).fault == Fault("close", "end")
    assert script.turn(3).fault == Fault("close", "body"), (
        "what an item stands for is more specific than what is for all"
    )


def test_headers_add_up() -> None:
    script = parse("/seq/503,200?id=a&h=A:1&503.h=B:2&1.h=C:x:y&h=-Date")
    assert script.turn(0).h == [("A", "1"), ("Date", None), ("B", "2"), ("C", "x:y")]
    assert script.turn(1).h == [("A", "1"), ("Date", None)]


def test_tokens_are_accepted_and_rejected() -> None:
    accepting = parse("/auth/503,200?id=a&accept=one&accept=two")
    answers = [accepting.accepts(value) for value in ("Bearer one", "bearer two", "Bearer three", "one", "")]
    assert answers == [True, True, False, False, False]
    rejecting = parse("/auth?reject=old")
    assert [rejecting.accepts(value) for value in ("Bearer old", "Bearer new", "")] == [False, True, False]


def test_bytes_arrive_as_they_are() -> None:
    assert parse("/seq/200?body=a+b%00%ff%26").turn(0).body == "a+b\x00\xff&"


@pytest.mark.parametrize(
    ("target", "what_is_wrong"),
    [
        ("/", "no path"),
        ("/nothing/200", "no path"),
        ("seq/200", "no path"),
        ("/seq", "''"),
        ("/seq/200/503?id=a", "'200/503'"),
        ("/seq/", "''"),
        ("/seq/20", "'20'"),
        ("/seq/100", "'100'"),
        ("/seq/sleep", "'sleep'"),
        ("/seq/reset:", "reset"),
        ("/seq/reset:middle", "reset"),
        ("/seq/503:body", "have a place"),
        ("/seq/503,200", "needs an id"),
        ("/seq/503*x,200?id=a", "'x'"),
        ("/seq/503*1000001?id=a", "too many"),
        ("/token/503", "takes no items"),
        ("/auth", "accept"),
        ("/seq/200?accept=a", "accept"),
        ("/seq/200?colour=red", "'colour'"),
        ("/seq/200?429.h=A:1", "'429'"),
        ("/seq/200?2.size=1", "'2'"),
        ("/seq/200?0.size=1", "'0'"),
        ("/seq/200?size=-1", "size"),
        ("/seq/200?size=" + "9" * 5000, "size"),
        ("/seq/200?first=1.5", "first"),
        ("/seq/200?drip=0", "drip"),
        ("/seq/200?header_line=5", "header_line"),
        ("/seq/200?chunked=no", "chunked"),
        ("/seq/200?h=Retry-After", "Name:value"),
        ("/seq/200?expect=maybe", "expect"),
        ("/seq/200?reset=before&close=end", "two faults"),
        ("/seq/200?size=10&reset_after=11", "a body that has 10"),
        ("/seq/200?body=abc&reset_after=4", "a body that has 3"),
    ],
)
def test_what_is_not_in_the_vocabulary_is_refused(target: str, what_is_wrong: str) -> None:
    with pytest.raises(BadScript, match=what_is_wrong):
        parse(target)
