"""The tokenizers of pretrained encoders, which split words into pieces: WordPiece, BPE and Unigram.

All but BERT's are run by the library `tokenizers`. What is stored and loaded is data that is checked first: the
library's regular expressions and plug-ins are left out, so that no tokenizer of a model file can take more than linear
time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from longarc.data.vocabulary import is_list_of_texts
from longarc.data.word_piece import WordPieces
from longarc.errors import LongarcError

LONGEST_WORD = 200
"""Characters of a word that are split; the rest of a longer word is ignored."""
MOST_PIECES = 16
"""Pieces of a word that are read: those of a long web address would take as much time as a sentence."""
CACHED_WORDS = 1 << 15

_FLAG = (bool, type(None))
_COMPONENTS: dict[str, dict[str, Any]] = {
    # Normalizers
    "BertNormalizer": {"clean_text": _FLAG, "handle_chinese_chars": _FLAG, "strip_accents": _FLAG, "lowercase": _FLAG},
    "Lowercase": {},
    "NFC": {},
    "NFD": {},
    "NFKC": {},
    "NFKD": {},
    "Nmt": {},
    "Precompiled": {"precompiled_charsmap": str},
    "Prepend": {"prepend": str},
    "Replace": {"pattern": dict, "content": str},
    "Strip": {"strip_left": bool, "strip_right": bool},
    "StripAccents": {},
    # Pre-tokenizers
    "BertPreTokenizer": {},
    "ByteLevel": {"add_prefix_space": bool, "trim_offsets": bool, "use_regex": bool},
    "Digits": {"individual_digits": bool},
    "Metaspace": {"replacement": str, "prepend_scheme": str, "split": bool, "add_prefix_space": bool, "str_rep": str},
    "Punctuation": {"behavior": str},
    "Whitespace": {},
    "WhitespaceSplit": {},
    # Both
    "Sequence": {"normalizers": list, "pretokenizers": list},
}
"""The parts of a tokenizer that are known, and the types of their values."""
_SAFE_PATTERNS = (" {2,}",)
"""The regular expressions that known tokenizers replace."""
_MODELS: dict[str, dict[str, Any]] = {
    "WordPiece": {"unk_token": str, "continuing_subword_prefix": str, "max_input_chars_per_word": int},
    "BPE": {
        "unk_token": (str, type(None)),
        "continuing_subword_prefix": (str, type(None)),
        "end_of_word_suffix": (str, type(None)),
        "fuse_unk": bool,
        "byte_fallback": bool,
        "ignore_merges": bool,
    },
    "Unigram": {"unk_id": (int, type(None)), "byte_fallback": bool},
}
_MAX_DEPTH = 4


class SubwordTokenizer:
    """Splits words into the numbered pieces of a pretrained encoder."""

    def __init__(self, definition: dict[str, Any]) -> None:
        """`definition`: `normalizer`, `pre_tokenizer` and `model` as in a file tokenizer.json, but with the pieces
        listed by number; `first` and `last`, the pieces around a sentence. Raise ValueError if it is not valid."""
        _check(definition)
        self.definition = definition
        self.pieces = _pieces(definition["model"])
        numbers = {piece: number for number, piece in enumerate(self.pieces)}
        if len(numbers) != len(self.pieces) or not {definition["first"], definition["last"]} <= numbers.keys():
            raise ValueError("pieces")
        self.first, self.last = numbers[definition["first"]], numbers[definition["last"]]
        self._numbers = _splitter(definition, numbers)
        self._cached_split = lru_cache(maxsize=CACHED_WORDS)(self._split)

    def __len__(self) -> int:
        return len(self.pieces)

    def split(self, form: str) -> tuple[int, ...]:
        """Return the numbers of a word's pieces, at least one."""
        return self._cached_split(form[:LONGEST_WORD])

    def _split(self, form: str) -> tuple[int, ...]:
        return tuple(self._numbers(form)[:MOST_PIECES]) or (self.last,)

    def restricted(self, forms: Iterable[str], limit: int) -> tuple[SubwordTokenizer, list[int]]:
        """Return a tokenizer with at most `limit` pieces if the words do not need more, and their numbers in this one.

        Kept are the pieces of the words, single characters, and then the first ones, which are the most frequent, in
        the alphabet of the words. Words with other pieces are split into smaller ones.
        """
        variants = {variant for form in set(forms) for variant in (form, form.lower(), form.upper())}
        used = {number for form in forms for number in self.split(form)}
        alphabet = {character for form in variants for number in self.split(form) for character in self.pieces[number]}
        model = self.definition["model"]
        prefix = model.get("continuing_subword_prefix") or ""
        is_bytes = model["type"] == "BPE"
        special = {self.first, self.last, *self._unknown(model)}
        known = [
            number
            for number, piece in enumerate(self.pieces)
            if set(piece) <= alphabet or (is_bytes and len(piece) == 1)
        ]
        single = [number for number in known if len(self.pieces[number].removeprefix(prefix)) == 1]
        kept = dict.fromkeys([*sorted(special), *single, *sorted(used - special)])
        for number in known:
            if len(kept) >= limit:
                break
            kept[number] = None
        numbers = sorted(self._closed(set(kept), model))
        return SubwordTokenizer({**self.definition, "model": _restricted_model(model, numbers)}), numbers

    def _unknown(self, model: dict[str, Any]) -> set[int]:
        if model["type"] == "Unigram":
            return set() if model["unk_id"] is None else {model["unk_id"]}
        return {number for number, piece in enumerate(self.pieces) if piece == model["unk_token"]}

    def _closed(self, numbers: set[int], model: dict[str, Any]) -> set[int]:
        """Add the parts from which BPE merges the pieces."""
        if model["type"] != "BPE":
            return numbers
        of_piece = {piece: number for number, piece in enumerate(self.pieces)}
        parts = {left + right: (left, right) for left, right in reversed(model["merges"])}
        pending = [self.pieces[number] for number in numbers]
        while pending:
            for part in parts.get(pending.pop(), ()):
                if of_piece[part] not in numbers:
                    numbers.add(of_piece[part])
                    pending.append(part)
        return numbers


def read_definition(text: str) -> dict[str, Any]:
    """Return the definition of a tokenizer from the content of a file tokenizer.json; raise ValueError if it is not
    one that SubwordTokenizer can use."""
    data = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        raise ValueError("model")
    library_model = data["model"]
    kind = library_model.get("type")
    model: dict[str, Any] = {"type": kind}
    for key in _MODELS.get(kind, {}):
        model[key] = library_model.get(key, False if key in ("fuse_unk", "byte_fallback", "ignore_merges") else None)
    vocabulary = library_model.get("vocab")
    if kind == "Unigram":
        model["vocab"] = vocabulary
    elif isinstance(vocabulary, dict) and sorted(vocabulary.values()) == list(range(len(vocabulary))):
        model["vocab"] = sorted(vocabulary, key=lambda piece: vocabulary[piece])
    if kind == "BPE":
        merges = library_model.get("merges", [])
        model["merges"] = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]
    tokenizer = _load(data)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    around = tokenizer.encode("").tokens
    if len(around) != 2:
        raise ValueError("post_processor")
    return {
        "normalizer": data.get("normalizer"),
        "pre_tokenizer": _for_single_words(data.get("pre_tokenizer")),
        "model": model,
        "first": around[0],
        "last": around[1],
    }


def _for_single_words(component: Any) -> Any:
    """Return a pre-tokenizer that treats every word as one after a space."""
    if not isinstance(component, dict):
        return component
    if component.get("type") == "Sequence":
        return {**component, "pretokenizers": [_for_single_words(part) for part in component.get("pretokenizers", [])]}
    if component.get("type") == "ByteLevel":
        return {**component, "add_prefix_space": True}
    if component.get("type") == "Metaspace":
        return {**component, "prepend_scheme": "always"}
    return component


def _check(definition: dict[str, Any]) -> None:
    model = definition.get("model")
    for key in ("normalizer", "pre_tokenizer"):
        if definition.get(key) is not None:
            _check_component(definition[key], key)
    for key in ("first", "last"):
        if not isinstance(definition.get(key), str):
            raise ValueError(key)
    if not isinstance(model, dict) or model.get("type") not in list(_MODELS):
        raise ValueError("model")
    types = _MODELS[model["type"]]
    lists = {"vocab", *(["merges"] if model["type"] == "BPE" else [])}
    if model.keys() != {"type", *types, *lists} or not all(isinstance(model[key], types[key]) for key in types):
        raise ValueError("model")
    if not isinstance(model["vocab"], list) or not model["vocab"]:
        raise ValueError("vocab")
    if model["type"] == "Unigram":
        if not all(
            isinstance(pair, list) and list(map(type, pair)) in ([str, float], [str, int]) for pair in model["vocab"]
        ):
            raise ValueError("vocab")
        if model["unk_id"] is not None and not 0 <= model["unk_id"] < len(model["vocab"]):
            raise ValueError("unk_id")
    elif not is_list_of_texts(model["vocab"]):
        raise ValueError("vocab")
    if model["type"] == "WordPiece" and model["unk_token"] not in model["vocab"]:
        raise ValueError("unk_token")
    if model["type"] == "BPE":
        pieces = set(model["vocab"])
        merges: Any = model["merges"]
        for merge in merges if isinstance(merges, list) else [merges]:
            if not is_list_of_texts(merge) or len(merge) != 2 or not {*merge, "".join(merge)} <= pieces:
                raise ValueError("merges")


def _check_component(component: Any, key: str, depth: int = 0) -> None:
    """Raise ValueError unless a normalizer or pre-tokenizer is a known one with values of the expected types."""
    types = _COMPONENTS.get(str(component.get("type"))) if isinstance(component, dict) else None
    if types is None or depth > _MAX_DEPTH:
        raise ValueError(key)
    for name, value in component.items():
        if name != "type" and not (name in types and isinstance(value, types[name])):
            raise ValueError(f"{key}: {name}")
    for part in (*component.get("normalizers", []), *component.get("pretokenizers", [])):
        _check_component(part, key, depth + 1)
    if component["type"] == "BertNormalizer" and component.keys() != {"type", *types}:
        raise ValueError(key)
    pattern = component.get("pattern", {})
    if pattern.keys() - {"String", "Regex"} or pattern.get("Regex", _SAFE_PATTERNS[0]) not in _SAFE_PATTERNS:
        raise ValueError(f"{key}: pattern")


def _pieces(model: dict[str, Any]) -> list[str]:
    return [pair[0] for pair in model["vocab"]] if model["type"] == "Unigram" else model["vocab"]


def _splitter(definition: dict[str, Any], numbers: dict[str, int]) -> Callable[[str], list[int]]:
    """Return the function from a word to the numbers of its pieces."""
    normalizer, pre_tokenizer, model = (definition[key] or {} for key in ("normalizer", "pre_tokenizer", "model"))
    kinds = (normalizer.get("type"), pre_tokenizer.get("type"), model["type"])
    if kinds == ("BertNormalizer", "BertPreTokenizer", "WordPiece"):
        return WordPieces(normalizer, model, numbers).split
    tokenizer = _load({**definition, "model": _library_model(model, numbers)})

    def split(form: str) -> list[int]:
        encoding = tokenizer.encode([form], is_pretokenized=True, add_special_tokens=False)
        return list(encoding.ids)

    return split


def _library_model(model: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    """Return a model as the library reads it."""
    return model if model["type"] == "Unigram" else {**model, "vocab": numbers}


def _restricted_model(model: dict[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    """Return a model with the pieces of these numbers."""
    restricted = {**model, "vocab": [model["vocab"][number] for number in numbers]}
    if model["type"] == "Unigram" and model["unk_id"] is not None:
        restricted["unk_id"] = numbers.index(model["unk_id"])
    if model["type"] == "BPE":
        kept = set(restricted["vocab"])
        restricted["merges"] = [merge for merge in model["merges"] if {*merge, "".join(merge)} <= kept]
    return restricted


def _load(definition: dict[str, Any]) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise LongarcError(
            "this model's encoder needs the package tokenizers",
            "Install it: pip install 'longarc[transformer]'.",
        ) from None
    known = ("normalizer", "pre_tokenizer", "post_processor", "model")
    content: dict[str, Any] = {"version": "1.0", "added_tokens": [], **{key: definition.get(key) for key in known}}
    try:
        return Tokenizer.from_str(json.dumps(content))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of the library is no Exception
        raise ValueError(f"the library tokenizers cannot read it: {str(error)[:200]}") from None
