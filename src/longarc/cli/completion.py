"""Values that the shell completes: models, transition systems, presets and treebanks."""

from __future__ import annotations

from collections.abc import Iterable


def complete_model(incomplete: str) -> list[str]:
    """Return the names and languages of models; the shell completes files if nothing matches."""
    from longarc.data.languages import LANGUAGES
    from longarc.runtime.installed_models import named_models

    names: dict[str, None] = {}
    for model in named_models():
        language = model.language
        names |= dict.fromkeys([model.name, *([language, LANGUAGES[language].lower()] if language else [])])
    return _starting_with(incomplete, names)


def complete_system(incomplete: str) -> list[str]:
    """Return the names of transition systems."""
    from longarc.transitions import SYSTEMS

    return _starting_with(incomplete, SYSTEMS)


def complete_preset(incomplete: str) -> list[str]:
    """Return the names of presets."""
    from longarc.configuration import preset_names

    return _starting_with(incomplete, preset_names())


def complete_treebank(incomplete: str) -> list[str]:
    """Return the names of treebanks and word vectors that can be fetched."""
    from longarc.data.treebank_sources import treebank_sources

    return _starting_with(incomplete, treebank_sources())


def _starting_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
