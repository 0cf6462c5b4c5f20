"""Compare the speed of packaged models on the same treebank file, in turn, each run in a process of its own.

What lemmas cost, with models that are trained briefly:

    longarc train TRAIN.conllu --set epochs=1 --set tokenizer_steps=0 --quantize --out lemmas
    longarc train TRAIN.conllu --set epochs=1 --set tokenizer_steps=0 --set 'columns=["upos","xpos","feats"]' \\
        --quantize --out none
    python bench/model_speed.py TEST.conllu none/none-int8.longarc lemmas/lemmas-int8.longarc

With `--preset fast`, add `--set min_updates=0` to the trainings.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from contenders import Contender, Task, measure_in_turn, write_sentences
from longarc import read_all
from longarc.data.conllx import to_conllu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", type=Path, help="a treebank file")
    parser.add_argument("models", type=Path, nargs="+", help="model files; ratios are those to the first one")
    parser.add_argument("--repeat", type=int, default=2, help="copies of the file in the timed input (default: 2)")
    parser.add_argument("--rounds", type=int, default=7, help="timed runs of each model, alternating (default: 7)")
    parser.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    arguments = parser.parse_args()
    sentences = [to_conllu(sentence) for sentence in read_all(arguments.treebank)] * arguments.repeat
    contenders = [Contender(path.stem, "longarc", "longarc", path.resolve()) for path in arguments.models]
    with tempfile.TemporaryDirectory() as folder:
        source = write_sentences(Path(folder) / "input.conllu", sentences)
        task = Task(source, Path(folder) / "output.conllu", sum(map(len, sentences)), arguments.threads)
        runs = measure_in_turn(contenders, task, arguments.rounds)
    speeds = {contender: [run["words"] / run["job"] for run in runs[contender]] for contender in contenders}
    first = speeds[contenders[0]]
    print(f"{task.words:,} words, {task.threads} threads, medians of {arguments.rounds} rounds")
    for contender, values in speeds.items():
        ratio = statistics.median(value / other for value, other in zip(values, first, strict=True))
        print(f"{contender.name}: {statistics.median(values):,.0f} words/s, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
