"""Languages by ISO 639 code and by English name, as Universal Dependencies uses them."""

from __future__ import annotations

import re

LANGUAGES = {
    "af": "Afrikaans",
    "akk": "Akkadian",
    "am": "Amharic",
    "ar": "Arabic",
    "az": "Azerbaijani",
    "bar": "Bavarian",
    "be": "Belarusian",
    "bej": "Beja",
    "bg": "Bulgarian",
    "bho": "Bhojpuri",
    "bm": "Bambara",
    "bn": "Bengali",
    "br": "Breton",
    "bxr": "Buryat",
    "ca": "Catalan",
    "ceb": "Cebuano",
    "ckt": "Chukchi",
    "cop": "Coptic",
    "cs": "Czech",
    "cu": "Old Church Slavonic",
    "cy": "Welsh",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fo": "Faroese",
    "fr": "French",
    "fro": "Old French",
    "ga": "Irish",
    "gd": "Scottish Gaelic",
    "gl": "Galician",
    "got": "Gothic",
    "grc": "Ancient Greek",
    "gsw": "Swiss German",
    "gu": "Gujarati",
    "gv": "Manx",
    "ha": "Hausa",
    "hbo": "Ancient Hebrew",
    "he": "Hebrew",
    "hi": "Hindi",
    "hit": "Hittite",
    "hr": "Croatian",
    "hsb": "Upper Sorbian",
    "ht": "Haitian Creole",
    "hu": "Hungarian",
    "hy": "Armenian",
    "hyw": "Western Armenian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "jv": "Javanese",
    "ka": "Georgian",
    "kk": "Kazakh",
    "kmr": "Kurmanji",
    "ko": "Korean",
    "koi": "Komi Permyak",
    "kpv": "Komi Zyrian",
    "krl": "Karelian",
    "ky": "Kyrgyz",
    "la": "Latin",
    "lij": "Ligurian",
    "lt": "Lithuanian",
    "ltg": "Latgalian",
    "lv": "Latvian",
    "lzh": "Classical Chinese",
    "mdf": "Moksha",
    "mk": "Macedonian",
    "ml": "Malayalam",
    "mr": "Marathi",
    "mt": "Maltese",
    "myv": "Erzya",
    "nap": "Neapolitan",
    "nb": "Norwegian Bokmål",
    "nds": "Low Saxon",
    "nl": "Dutch",
    "nn": "Norwegian Nynorsk",
    "no": "Norwegian",
    "olo": "Livvi",
    "or": "Odia",
    "orv": "Old East Slavic",
    "ota": "Ottoman Turkish",
    "pcm": "Naija",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sa": "Sanskrit",
    "sah": "Yakut",
    "sga": "Old Irish",
    "si": "Sinhala",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sme": "North Sami",
    "sms": "Skolt Sami",
    "sq": "Albanian",
    "sr": "Serbian",
    "sv": "Swedish",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "tl": "Tagalog",
    "tr": "Turkish",
    "tt": "Tatar",
    "ug": "Uyghur",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "uz": "Uzbek",
    "vep": "Veps",
    "vi": "Vietnamese",
    "wbp": "Warlpiri",
    "wo": "Wolof",
    "xcl": "Classical Armenian",
    "yo": "Yoruba",
    "yue": "Cantonese",
    "zh": "Chinese",
}

_CODES = {name.casefold(): code for code, name in LANGUAGES.items()}
_NAMES = sorted(_CODES, key=len, reverse=True)
"""The longest first: Old French is not French."""
_CODE_AND_TREEBANK = re.compile(r"([a-z]{2,3})_\w")
_WORD = re.compile(r"[^\W\d_]+")


def find_language(text: str) -> str:
    """Return the code of a language given by its code or English name, in any case; "" if there is none."""
    key = " ".join(_WORD.findall(text.casefold()))
    return key if key in LANGUAGES else _CODES.get(key, "")


def language_in_title(title: str) -> str:
    """Return the code of the language in the title or file name of a treebank or model; "" if there is none.

    Languages are recognised by their name (`UD_Ancient_Greek-PROIEL`) and by the names that Universal Dependencies
    gives to files (`grc_proiel-ud-train.conllu`).
    """
    text = title.casefold()
    if (start := _CODE_AND_TREEBANK.match(text)) and start[1] in LANGUAGES:
        return start[1]
    words = f" {' '.join(_WORD.findall(text))} "
    return next((_CODES[name] for name in _NAMES if f" {name} " in words), "")
