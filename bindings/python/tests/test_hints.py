"""Errors for names that are elsewhere."""

from __future__ import annotations

import copy
import importlib
import inspect
from typing import Any

import pytest

import boxretry
from boxretry import Client, Response, RetryStrategy
from boxretry._sending import names
from boxretry.testing import ScriptedServer


@pytest.fixture
def response() -> Response:
    with ScriptedServer([200]) as server, Client() as client:
        return client.get(server.url)


def test_an_import_of_an_asynchronous_class_names_its_module() -> None:
    with pytest.raises(ImportError, match=r"'AsyncClient' from 'boxretry'.*: from boxretry\.aio import AsyncClient$"):
        exec("from boxretry import AsyncClient")


def test_an_asynchronous_class_as_an_attribute_names_its_module() -> None:
    package: Any = boxretry
    with pytest.raises(AttributeError, match=r"'AsyncStream'.*: from boxretry\.aio import AsyncStream$"):
        package.AsyncStream  # noqa: B018
    assert not hasattr(package, "AsyncStream")
    assert getattr(package, "AsyncStream", None) is None


def test_other_names_have_the_usual_errors() -> None:
    package: Any = boxretry
    with pytest.raises(ImportError, match="cannot import name 'Nothing' from 'boxretry'"):
        exec("from boxretry import Nothing")
    with pytest.raises(AttributeError, match=r"^module 'boxretry' has no attribute 'Nothing'$"):
        package.Nothing  # noqa: B018
    assert importlib.import_module("boxretry.aio").AsyncClient
    exec("from boxretry import testing, aio")


def test_status_code_names_status(response: Any) -> None:
    with pytest.raises(AttributeError, match=r"^'Response' object has no attribute 'status_code'; use `status`$"):
        response.status_code  # noqa: B018
    assert not hasattr(response, "status_code")


def test_other_attributes_of_a_response_have_the_usual_error(response: Any) -> None:
    with pytest.raises(AttributeError, match=r"^'Response' object has no attribute 'nothing'$"):
        response.nothing  # noqa: B018
    assert copy.deepcopy(response).status == 200


def test_a_client_with_the_c_option_for_no_thread_says_that_python_has_none() -> None:
    arguments: Any = {"threads": 0}
    with pytest.raises(TypeError, match=r"'threads': Python clients have no such option.*boxretry\.aio\.AsyncClient$"):
        Client(**arguments)


def test_an_argument_of_a_strategy_names_the_strategy() -> None:
    arguments: Any = {"max_attempts": 2}
    with pytest.raises(
        TypeError, match=r"has no argument 'max_attempts': use strategy=RetryStrategy\(max_attempts=…\)$"
    ):
        Client(**arguments)
    known = set(inspect.signature(RetryStrategy).parameters)
    assert known == names._OF_STRATEGY
