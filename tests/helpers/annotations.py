"""Build small annotated files, by hand and at random, for the evaluation tests."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

from longarc.data.conll import read_all
from longarc.data.sentence import DEPREL, FEATS, HEAD, LEMMA, UPOS, XPOS
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import Judgement, Score, count, judge, total

RELATIONS = [
    *("nsubj", "nsubj:pass", "obj", "punct", "punct:x", "case", "det", "aux:pass", "cc", "mark", "root", "dep"),
    *("clf", "cop", "fixed", "flat:name", "advmod", "_", "not-of-ud"),
]

FEATURES = [
    *("_", "Number=Sing", "Case=Nom|Number=Plur", "Number=Plur|Case=Nom", "Number[psor]=Sing", "Abbr=Yes|Typo=Yes"),
    *("Case=Nom|ExtPos=ADP", "NumForm=Digit", "Case=Acc|Case=Nom"),
]


def corpus(text: str, name: str = "file.conllu", format: Any = "conllu") -> Corpus:
    return Corpus(name, read_all(io.BytesIO(text.encode()), format=format))


def judgement(gold: str, system: str, format: Any = "conllu", **conventions: Any) -> Judgement:
    return judge(corpus(gold, "gold", format), corpus(system, "system", format), Conventions(**conventions))


def scores(gold: str, system: str, format: Any = "conllu", **conventions: Any) -> dict[str, Score]:
    return total(count(judgement(gold, system, format, **conventions)))


def table(*words: str) -> str:
    """A sentence from words such as `form/TAG/head/relation`, the tag in both columns."""
    rows = []
    for number, word in enumerate(words, 1):
        form, tag, head, relation = word.rsplit("/", 3)
        rows.append(f"{number}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n\n"


def random_heads(chooser: random.Random, words: int) -> list[int]:
    """Heads of any tree, with one root or several."""
    order = list(range(1, words + 1))
    chooser.shuffle(order)
    heads = dict.fromkeys(order, 0)
    for position, word in enumerate(order):
        heads[word] = chooser.choice([0, *order[:position]])
    return [heads[word] for word in range(1, words + 1)]


def random_columns(chooser: random.Random) -> list[str]:
    """LEMMA, UPOS, XPOS and FEATS."""
    return [chooser.choice("ab_"), chooser.choice("XY"), chooser.choice("xy_"), chooser.choice(FEATURES)]


def random_sentence(chooser: random.Random, text: str, alphabet: str) -> str:
    """Tokens that make up the text: with spaces in forms, multiword tokens and empty nodes here and there."""
    forms: list[tuple[str, str]] = []
    words = 0
    while text:
        length = chooser.choice([1, 1, 2, 3])
        token, text = text[:length], text[length:]
        if len(token) > 1 and chooser.random() < 0.1:
            token = token[0] + chooser.choice([" ", "\u00a0"]) + token[1:]
        if chooser.random() < 0.3:
            parts = chooser.randint(1, 3)
            forms.append((f"{words + 1}-{words + parts}", token))
            letters = alphabet + alphabet.upper()
            inside = ["".join(chooser.choices(letters, k=chooser.randint(1, 2))) for _ in range(parts)]
        else:
            inside = [token]
        forms += [(str(words + number), form) for number, form in enumerate(inside, 1)]
        words += len(inside)
    heads = random_heads(chooser, words)
    lines = []
    for identifier, form in forms:
        if "-" in identifier:
            lines.append([identifier, form, *"________"])
            continue
        relation = chooser.choice(RELATIONS)
        lines.append([identifier, form, *random_columns(chooser), str(heads[int(identifier) - 1]), relation, "_", "_"])
        if chooser.random() < 0.05:
            lines.append([f"{identifier}.1", "elided", *"______", "0:root", "_"])
    return "".join("\t".join(line) + "\n" for line in lines) + "\n"


def random_file(chooser: random.Random, text: str, alphabet: str) -> str:
    sentences = []
    while text:
        length = chooser.randint(1, 8)
        sentences.append(random_sentence(chooser, text[:length], alphabet))
        text = text[length:]
    return "".join(sentences)


def random_pair(seed: int) -> tuple[str, str]:
    """Two files of one text that have little else in common. With few letters, forms agree by chance all the time."""
    chooser = random.Random(seed)
    alphabet = chooser.choice(["a", "ab", "abc", "abcdefgh"])
    text = "".join(chooser.choices(alphabet, k=chooser.randint(1, 40)))
    return random_file(chooser, text, alphabet), random_file(chooser, text, alphabet)


def reannotated(text: str, seed: int) -> str:
    """The same words with other columns, half of them."""
    chooser = random.Random(seed)
    sentences = read_all(io.BytesIO(text.encode()), format="conllu")
    for sentence in sentences:
        heads = random_heads(chooser, len(sentence))
        keeps_heads = chooser.random() < 0.5
        for word, head in zip(sentence.word_rows, heads, strict=True):
            new = random_columns(chooser)
            for column, value in zip((LEMMA, UPOS, XPOS, FEATS), new, strict=True):
                word[column] = chooser.choice([word[column], value])
            word[HEAD] = word[HEAD] if keeps_heads else str(head)
            word[DEPREL] = chooser.choice([word[DEPREL], chooser.choice(RELATIONS)])
    return "".join(sentence.to_conll() for sentence in sentences)


GOLD = table(
    *("He/PRP/2/nsubj", "paid/VBD/0/root", "$/$/4/dep", "5/CD/2/obj", "«/``/6/punct", "cash/NN/2/obl", "»/''/6/punct"),
    *(",/,/9/punct", "twice/RB/2/advmod", "-/:/9/dep", "he/PRP/12/nsubj", "said/VBD/2/parataxis", "?!/./2/punct"),
)

SYSTEM = table(
    *("He/PRP/2/nsubj", "paid/VBD/0/root", "$/$/2/dep", "5/CD/2/nmod", "«/``/2/punct", "cash/NN/2/obl", "»/''/6/p"),
    *(",/,/6/punct", "twice/RB/2/advmod", "-/:/2/dep", "he/PRP/12/obj", "said/VBD/0/root", "?!/./12/punct"),
)

SHORT = table("Yes/UH/0/root", "!/./1/punct")

HEARING = table(
    *("A/DET/2/det", "hearing/NOUN/4/nsubj", "is/AUX/4/aux", "scheduled/VERB/0/root", "on/ADP/7/case", "the/DET/7/det"),
    *("issue/NOUN/2/nmod", "today/NOUN/4/obl"),
)


def write(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.conllu" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


WRONG_NMOD = HEARING.replace("\t2\tnmod", "\t4\tnmod")

WRONG_OBL = HEARING.replace("\t4\tobl", "\t4\tobj").replace("\t2\tdet", "\t4\tdet")
