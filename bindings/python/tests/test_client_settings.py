"""The settings of a client: one table makes the conversion, the names that are known, and what `help()` shows."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import boxretry
from boxretry import Client, InvalidArgumentError, Proxy
from boxretry._c.arguments import INT32
from boxretry._sending.client_options import ClientOptions, derived_options, described, parameters
from boxretry._sending.client_settings import SETTINGS, ClientSettings, Setting
from boxretry._sending.setters import number
from boxretry.aio import AsyncClient
from boxretry.integrations._engine import Clients

PACKAGE = Path(boxretry.__file__).parent
TABLE = "_sending/client_settings.py"

#: Other modules that contain a setting's name, because they use it.
ALSO_IN: dict[str, set[str]] = {
    "max_response_headers": set(),
    "max_response_header_bytes": set(),
    "max_lookups": set(),
    "secret_headers": set(),
    "idempotency_key_header": set(),
    "replay_codes": set(),
    "allow_insecure_token": set(),
    "budget_capacity": set(),
    "budget_ratio": set(),
    "share_retry_after": set(),
    "max_transfers": {"_sending/names.py"},
    "max_transfers_per_host": {"_sending/names.py"},
    "unix_socket": {"_sending/names.py"},
    "preset": {"client.py"},
}


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> str:
    """A new setting: an entry in the table, and a line in the class for type checkers."""
    setting = Setting(number(INT32), field="max_lookups", doc="an example, 1 to 1000. None: 64.", derived=True)
    monkeypatch.setitem(SETTINGS, "example", setting)
    monkeypatch.setitem(ClientSettings.__annotations__, "example", "SupportsIndex | None")
    return "example"


def test_an_entry_in_the_table_makes_a_setting(example: str) -> None:
    settings: Any = {example: 7}
    assert ClientOptions(None, settings).struct.max_lookups == 7
    assert ClientOptions(None, {example: None}).struct.max_lookups == ClientOptions(None, {}).struct.max_lookups
    with Client(**settings) as client, client.derived() as derived:
        assert derived.stats().calls_started == 0
    assert AsyncClient(**settings).stats().calls_started == 0
    assert Clients(Client, settings).get().stats().calls_started == 0
    with pytest.raises(InvalidArgumentError, match="example: must be 1 or more"):
        Client(**{**settings, example: 0})


def test_an_entry_in_the_table_is_documented(example: str) -> None:
    assert "    example: an example, 1 to 1000. None: 64." in described("    {settings}").split("\n")
    assert described("{settings of derived clients}").endswith("reconnect and example")
    assert str(parameters()[-1]) == "example: 'SupportsIndex | None' = None"


def test_an_entry_in_the_table_is_known_by_its_name(example: str) -> None:
    with pytest.raises(TypeError, match=r"has no argument 'exampel': did you mean example\?$"):
        Client(exampel=7)  # type: ignore[call-arg]
    with pytest.raises(
        TypeError, match=r"Client.request\(\) has no argument 'example': it is an argument of Client\(\)$"
    ):
        Client().request("GET", "http://localhost", example=7)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_derived_client_takes_only_settings_of_its_own(name: str) -> None:
    if SETTINGS[name].derived:
        derived_options(None, {name: SETTINGS[name].default})
    else:
        with pytest.raises(TypeError, match=f"no argument '{name}': derived clients share this setting"):
            derived_options(None, {name: None})


def test_the_table_is_in_the_order_of_the_class_for_type_checkers() -> None:
    assert list(SETTINGS) == list(ClientSettings.__annotations__)


@pytest.mark.parametrize("method", ["__init__", "derived"])
def test_help_shows_each_setting_with_its_type_and_default(method: str) -> None:
    shown = inspect.signature(getattr(Client, method)).parameters
    assert list(shown) == ["self", "strategy", *SETTINGS]
    assert str(shown["timeout"]) == "timeout: 'Timeout | None' = None"
    assert shown["proxy"].default is Proxy.ENVIRONMENT
    text = getattr(Client, method).__doc__
    assert "{settings" not in text
    assert all(f"\n        {name}: " in text for name in SETTINGS) is (method == "__init__")
    assert max(map(len, text.split("\n"))) <= 120


@pytest.mark.parametrize("name", ALSO_IN)
def test_only_the_table_contains_the_name_of_a_setting(name: str) -> None:
    """Except in the declarations that are made from the header."""
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if path.name != "_abi.py"}
    found = {file for file in files if re.search(rf"\b{name}\b", (PACKAGE / file).read_text())}
    assert found == {TABLE} | ALSO_IN[name]
