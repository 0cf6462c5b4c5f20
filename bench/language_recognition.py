"""Measure how often `--lang auto` recognizes the language of short texts.

The candidates are the languages of the models in the checkout (packages/longarc-models and the English one). The texts
are the beginnings of test sentences, cut after a word where words have spaces between them; sentences that are too
short are left out.

    python bench/language_recognition.py --json bench/results/language_recognition.json
    python bench/languages.py --report bench/results/languages.jsonl      # shows the results in docs/languages.md
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from contenders import CHECKOUT
from languages import models
from longarc import read
from longarc.data.language_profile import LanguageProfile, identify_language
from longarc.data.schema import convert, read_toml
from longarc.data.treebank_sources import resolve_paths
from longarc.runtime.installed_models import language_of_model
from longarc.runtime.model_file import read_card, read_profile
from longarc.training.recipe import Recipe

LENGTHS = (10, 20, 40, 80)
"""In characters"""
MOST_TEXTS = 300
"""Of a language and length"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, required=True, help="file for the results")
    arguments = parser.parse_args()
    profiles: dict[str, LanguageProfile] = {}
    recipes: dict[str, Path] = {}
    for path in models():
        profile, language = read_profile(path), language_of_model(path.stem, read_card(path))
        if profile is not None and language:
            profiles[language] = profile
            (recipes[language],) = (CHECKOUT / "models").rglob(f"{path.stem}.toml")
    results = {language: measure(language, texts_of(path), profiles) for language, path in recipes.items()}
    lines = [f" {json.dumps(language)}: {json.dumps(result)}" for language, result in sorted(results.items())]
    arguments.json.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for length in map(str, LENGTHS):
        counts = [result["lengths"][length] for result in results.values()]
        right, texts = (sum(count[key] for count in counts) for key in ("right", "texts"))
        print(f"{length} characters: {right:,} of {texts:,} texts, {100 * right / texts:.1f} %")


def texts_of(path: Path) -> list[str]:
    """Return the sentences of the test file of a recipe."""
    recipe = resolve_paths(convert(read_toml(path), Recipe, str(path)), path.parent)
    assert recipe.test is not None
    return [sentence.text for sentence in read(recipe.test, encoding=recipe.encoding)]


def measure(language: str, texts: list[str], profiles: Mapping[str, LanguageProfile]) -> dict[str, Any]:
    """Return the number of texts of each length, how many are recognized and the mean probability of the best language;
    also the two languages that this one is most often mistaken for."""
    lengths: dict[str, dict[str, float]] = {}
    mistaken: Counter[str] = Counter()
    for length in LENGTHS:
        best = [next(iter(identify_language(text, profiles).items())) for text in beginnings(texts, length)]
        lengths[str(length)] = {
            "texts": len(best),
            "right": sum(name == language for name, _ in best),
            "probability": round(sum(probability for _, probability in best) / max(1, len(best)), 3),
        }
        mistaken.update(name for name, _ in best if name != language)
    return {"lengths": lengths, "mistaken_for": [name for name, _ in mistaken.most_common(2)]}


def beginnings(texts: Iterable[str], length: int) -> Iterator[str]:
    """Yield the beginnings of the texts, up to this length."""
    count = 0
    for text in texts:
        if len(text) < length or count == MOST_TEXTS:
            continue
        whole_words = text[:length] if text[length : length + 1] in ("", " ") else text[:length].rpartition(" ")[0]
        yield whole_words or text[:length]
        count += 1


if __name__ == "__main__":
    main()
