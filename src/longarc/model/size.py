"""How large a network is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkSize:
    """What determines the shapes of the weights."""

    words: int
    trained_words: int
    tags: Mapping[str, int]
    """How many values each predicted column has; see data.vocabulary.TAG_COLUMNS"""
    relations: int
    has_no_arc: bool
    has_reduce: bool
    characters: int = 0
    """How many characters are known; 0 where words are not spelled"""
    word_dimensions: int = 100
    character_dimensions: int = 32
    spelling_size: int = 0
    tagger_layers: int = 2
    lstm_layers: int = 2
    lstm_size: int = 400
    parser_reads_words: bool = False
    tag_dimensions: int = 32
    merge_dimensions: int = 100
    pair_dimensions: int = 32
    relation_dimensions: int = 0
    """0 where arcs are scored together with their relations"""
    dropout: float = 0.0
    lstm_dropout: float = 0.0
    word_dropout: float = 0.0
