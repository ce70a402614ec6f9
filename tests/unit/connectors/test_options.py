"""Options that cannot be meant are refused at the start, with the option's name and what to do."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from connectors.protocol import ConnectorContext, SearchFailed
from daemon import wiring
from daemon.settings import load_settings
from domain.clock import system_clock
from domain.errors import BadSetting
from domain.query import EndpointKind
from domain.search_index import SearchIndex

SECRET = "s3cret-that-nobody-may-read"
WHOLE: Mapping[str, Mapping[str, str]] = {
    "x": {"bearer_token": SECRET},
    "reddit": {"client_id": "desk", "client_secret": SECRET},
    "bluesky": {"identifier": "desk.example", "app_password": SECRET},
    "mastodon": {"base_url": "https://social.example", "access_token": SECRET},
    "elasticsearch": {"url": f"https://desk:{SECRET}@search.example"},
}
ODD = [
    ("x", "bearer_token", ""),
    ("x", "bearer_token", " \n"),
    ("x", "bearer_token", f"{SECRET}\r\nHost: evil.example"),
    ("x", "bearer_token", "ключ"),
    ("x", "post_price", "-1"),
    ("x", "post_price", "9" * 30),
    ("x", "base_url", "api.x.com"),
    ("x", "billing_day", "31"),
    ("reddit", "client_id", ""),
    ("reddit", "oauth_url", "ftp://reddit.example"),
    ("mastodon", "base_url", "social.example"),
    ("mastodon", "base_url", "https://"),
    ("mastodon", "base_url", "https://social.example:port"),
    ("mastodon", "base_url", "https://social.example/a b"),
    ("mastodon", "base_url", "https://[half"),
    ("mastodon", "keep_days", "0"),
    ("mastodon", "keep_days", "9" * 12),
    ("elasticsearch", "url", "localhost"),
    ("elasticsearch", "url", f"http://desk:{SECRET}@search.example"),
    ("elasticsearch", "index", ""),
    ("elasticsearch", "index", "posts*"),
    ("elasticsearch", "index", "posts,others"),
    ("elasticsearch", "index", "_all"),
    ("elasticsearch", "keep_days", "-1"),
    ("elasticsearch", "page_size", "0"),
    ("elasticsearch", "k1", "inf"),
    ("elasticsearch", "b", "nan"),
]


def no_index(kind: EndpointKind) -> SearchIndex:
    raise AssertionError("none of these searches texts of its own")


@pytest.fixture
def context(tmp_path: Path) -> ConnectorContext:
    return ConnectorContext("feed", "salt", system_clock, tmp_path, no_index)


def build(platform: str, options: Mapping[str, str], context: ConnectorContext) -> None:
    import_module(f"connectors.{platform}.connector").build(options, context).close()


@pytest.mark.parametrize("platform", WHOLE)
def test_options_that_are_whole_are_taken(platform: str, context: ConnectorContext) -> None:
    build(platform, WHOLE[platform], context)


@pytest.mark.parametrize(("platform", "option", "value"), ODD)
def test_an_odd_option_is_named_and_not_shown(
    platform: str, option: str, value: str, context: ConnectorContext
) -> None:
    with pytest.raises(BadSetting) as refused:
        build(platform, {**WHOLE[platform], option: value}, context)
    said = str(refused.value)
    assert said.startswith(f"connectors.feed.options.{option}: ")
    assert "\n" not in said
    assert SECRET not in said


def test_the_line_end_of_a_secret_is_not_part_of_it(context: ConnectorContext) -> None:
    from connectors.x.connector import XOptions

    options = XOptions.model_validate({"bearer_token": f"{SECRET}\n"})
    assert options.bearer_token.get_secret_value() == SECRET


@pytest.mark.parametrize("given", [{"identifier": "desk.example"}, {"app_password": SECRET}])
def test_half_a_login_is_refused(given: dict[str, str], context: ConnectorContext) -> None:
    with pytest.raises(BadSetting, match="both identifier and app_password"):
        build("bluesky", given, context)


def test_a_stream_is_followed_by_a_web_socket_only(context: ConnectorContext) -> None:
    from connectors.bluesky.stream import build as build_stream

    with pytest.raises(BadSetting, match=r"base_url: .* wss://"):
        build_stream({"base_url": "https://jetstream.example"}, context)


@pytest.mark.parametrize(
    ("option", "value"), [("page_size", "0"), ("page_size", "9" * 30), ("undated", "9999-12-31T23:59:59-12:00")]
)
def test_an_odd_option_of_a_file_of_posts_is_named(option: str, value: str, context: ConnectorContext) -> None:
    from connectors.simulated.connector import build as build_file

    with pytest.raises(BadSetting, match=f"^connectors.feed.options.{option}: "):
        build_file({"posts": "posts.jsonl", option: value}, context)


def test_an_option_of_a_connector_may_be_written_as_toml_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "claimwatch.toml"
    file.write_text(
        "[connectors.archive]\ntype = 'simulated'\n"
        "[connectors.archive.options]\npage_size = 40\narchive = true\nk1 = 0.9\nundated = 2026-11-20\n"
    )
    options = load_settings({"CLAIMWATCH_CONFIG": str(file)}).connectors["archive"].options
    assert options == {"page_size": "40", "archive": "true", "k1": "0.9", "undated": "2026-11-20"}


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "two words", "n" * 61])
def test_a_connector_is_named_as_a_file_may_be(name: str) -> None:
    with pytest.raises(BadSetting, match="a connector's name") as refused:
        load_settings({}, connectors={name: {"type": "simulated"}})
    assert "[key]" not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "fault"), [("no_such_package.connector:build", "No module"), ("connectors.records:build", "no attribute")]
)
def test_an_entry_point_that_fails_stops_no_other_connector(
    value: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [EntryPoint("board", value, "claimwatch.connectors")]
    monkeypatch.setattr(wiring, "entry_points", lambda group: points)
    settings = load_settings({}, home=tmp_path, connectors={"feed": {"type": "board"}})
    connector = wiring.open_connectors(settings, system_clock, no_index)["feed"]
    with pytest.raises(SearchFailed, match=rf"connectors\.feed\.type: board names {value}, .*{fault}"):
        connector.gone(["1"])
