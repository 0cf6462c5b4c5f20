"""Words as character numbers."""

from __future__ import annotations

from longarc.data.spelling import LONGEST, UNKNOWN_CHARACTER, Characters, code_points


def test_long_words_are_spelled_by_their_ends() -> None:
    characters = Characters("abcdefghijklmnopqrstuvwxyz")
    word = "abcdefghijklmnopqrstuvwxyz" * 3
    spelled = characters.spell(["ab", word, "é"])
    assert spelled.lengths.tolist() == [1, 2, LONGEST, 1]
    assert spelled.characters[2].tolist() == characters.numbers(code_points(word[:12] + word[-12:])).tolist()
    assert spelled.characters[3, 0] == UNKNOWN_CHARACTER
