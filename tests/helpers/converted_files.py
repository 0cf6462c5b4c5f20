"""Generate files that follow the rules of CoNLL-X and CoNLL-U."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.helpers.generators import texts, trees

CONLLX_FIELD = st.one_of(st.just("_"), st.sampled_from(["a=b", "\u00a0", "\u2028"]), texts(min_size=1, max_size=3)).map(
    lambda text: text.replace(" ", "-")
)

CONLLU_FIELD = st.one_of(st.just("_"), st.sampled_from(["New York", "a=b|c=d", '"\\u', "\u2028"]), texts(min_size=1))

PLAIN = st.text("abcæ:=-", min_size=1, max_size=4)


@st.composite
def conllx_files(draw: st.DrawFn) -> bytes:
    """No comments, no spaces, one blank line after each sentence; projective heads everywhere or nowhere."""
    tags = st.sampled_from(["NN", "VB", "NOUN", "X"])
    with_projective_heads = draw(st.booleans())
    text = ""
    for _ in range(draw(st.integers(1, 3))):
        heads = draw(trees(draw(st.integers(1, 5))))
        for number, head in enumerate(heads, 1):
            columns = draw(st.tuples(CONLLX_FIELD, CONLLX_FIELD, tags, tags, CONLLX_FIELD))
            projective = [str(draw(st.sampled_from([0, head]))), draw(PLAIN)] if with_projective_heads else ["_", "_"]
            text += "\t".join([str(number), *columns, str(head), draw(PLAIN), *projective]) + "\n"
        text += "\n"
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


@st.composite
def conllu_files(draw: st.DrawFn) -> bytes:
    """Comments first, one blank line after each sentence, LF; multiword tokens, empty nodes, enhanced heads."""
    text = ""
    for _ in range(draw(st.integers(1, 3))):
        text += f"# sent_id = {draw(texts(max_size=3))}\n"
        text += "".join(f"#{comment}\n" for comment in draw(st.lists(texts(max_size=5), max_size=2)))
        heads = draw(trees(draw(st.integers(1, 5))))
        for number, head in enumerate(heads, 1):
            if number % 3 == 1 and number < len(heads) and draw(st.booleans()):
                text += "\t".join([f"{number}-{number + 1}", draw(CONLLU_FIELD), *"_______", draw(CONLLU_FIELD)]) + "\n"
            columns = draw(st.tuples(*[CONLLU_FIELD] * 5))
            deps = draw(st.sampled_from(["_", f"{head}:dep", f"{head}:dep|0.1:dep"]))
            shown = draw(st.sampled_from([str(head), str(head), "_"]))
            text += "\t".join([str(number), *columns, shown, draw(PLAIN), deps, draw(CONLLU_FIELD)]) + "\n"
            if draw(st.booleans()):
                text += "\t".join([f"{number}.1", draw(CONLLU_FIELD), *"______", "0:root", draw(CONLLU_FIELD)]) + "\n"
        text += "\n"
    return text.encode()
