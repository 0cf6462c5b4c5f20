"""Configuration: presets, TOML files and settings are checked key by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.configuration import Configuration, parse_setting, preset, preset_names
from longarc.data.schema import read_toml
from longarc.errors import LongarcError
from longarc.transitions import SYSTEMS


def test_the_paper_preset_has_the_papers_values() -> None:
    paper = preset("paper")
    assert (paper.lstm_size, paper.lstm_layers, paper.tag_dimensions) == (400, 2, 32)
    assert (paper.merge_dimensions, paper.pair_dimensions) == (100, 32)
    assert (paper.learning_rate, paper.beta2, paper.batch_sentences) == (0.001, 0.9, 32)
    assert (paper.word_dropout, paper.dropout, paper.min_count) == (0.1, 0.05, 3)
    assert paper == Configuration()


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_read(name: str) -> None:
    assert preset(name).system in SYSTEMS


def test_an_unknown_preset_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(LongarcError, match="paper"):
        preset("papre")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lstm_sise": 3}, "unknown key 'lstm_sise'(.|\n)*lstm_size"),
        ({"lstm_size": "big"}, "lstm_size is 'big', expected a whole number"),
        ({"lstm_size": 1.5}, "expected a whole number"),
        ({"lstm_size": True}, "expected a whole number"),
        ({"dropout": "much"}, "expected a number"),
        ({"columns": ["upos", "deps"]}, "unknown 'deps'(.|\n)*xpos"),
        ({"encoder": "letters"}, "unknown 'letters'(.|\n)*words"),
        ({"dropout": 1.0}, "dropout is 1.0, expected a number, at least 0 and less than 1"),
        ({"lstm_size": 0}, "lstm_size is 0, expected a whole number, more than 0"),
        ({"seed": -1}, "seed is -1, expected a whole number, at least 0"),
        ({"system": "covingtown"}, "nl-covington"),
        ({"parser_input": "chars"}, "tagger, words"),
        ({"crossing_cost": "much"}, "crossing_cost is 'much', expected one of auto or a number, at least 0"),
        ({"system": "arc-swift", "exploration": 0.5}, "arc-swift has no dynamic oracle(.|\n)*nl-covington"),
        ({"no_arc": "authors"}, "nl-covington has no No-Arc"),
        ({"arc_score": "total", "relation_dimensions": 5}, "arc_score: 'total' needs arcs that are scored"),
    ],
)
def test_a_wrong_key_or_value_is_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(LongarcError, match=message):
        Configuration().updated(values, "test")


def test_old_keys_are_accepted_with_a_message() -> None:
    with pytest.warns(FutureWarning, match="the key fine_tags is now an entry of columns"):
        configuration = Configuration().updated({"fine_tags": True, "features": False}, "test")
    assert configuration.columns == ("upos", "xpos")


def test_a_whole_number_will_do_where_a_number_is_expected() -> None:
    assert Configuration().updated({"learning_rate": 1}, "test").learning_rate == 1.0


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("lstm_size=200", {"lstm_size": 200}),
        ("learning_rate=2e-3", {"learning_rate": 0.002}),
        ("fine_tags=true", {"fine_tags": True}),
        ("system=covington", {"system": "covington"}),
        ('system="covington"', {"system": "covington"}),
        ("projectivization=head+path", {"projectivization": "head+path"}),
    ],
)
def test_settings_are_written_as_in_toml_with_quotes_left_out(setting: str, expected: dict[str, object]) -> None:
    assert parse_setting(setting) == expected


def test_a_setting_needs_a_value() -> None:
    with pytest.raises(LongarcError, match="key=value"):
        parse_setting("lstm_size")


def test_a_toml_file_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("lstm_size = = 3")
    with pytest.raises(LongarcError, match=r"bad\.toml: not valid TOML"):
        read_toml(tmp_path / "bad.toml")
    with pytest.raises(LongarcError, match="cannot be read"):
        read_toml(tmp_path / "none.toml")
