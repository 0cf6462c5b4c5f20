"""Score a model with different costs of crossing arcs: UAS, LAS, and the non-projective arcs that it draws.

python bench/crossing_costs.py dev.conllu test.conllu --model en_ewt
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from longarc.data.conll import read_all
from longarc.runtime.installed_models import find_model
from longarc.runtime.model_file import read_model_file
from longarc.runtime.parser import Parser
from longarc.training.packaging import CROSSING_COSTS
from longarc.training.scoring import parse_words, score_nonprojective, score_parsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("treebanks", nargs="+", help="treebanks in CoNLL-U or CoNLL-X")
    parser.add_argument("--model", help="a .longarc file or the name of a model (default: the English model)")
    parser.add_argument("--costs", type=float, nargs="+", default=CROSSING_COSTS, help="the costs to compare")
    parser.add_argument("--threads", type=int, help="number of threads (default: all cores)")
    arguments = parser.parse_args()
    model = read_model_file(find_model(arguments.model))
    print("| treebank | cost | UAS | LAS | gold | drawn | precision | recall | F1 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for path in arguments.treebanks:
        gold = read_all(path)
        for cost in arguments.costs:
            description = replace(model.description, crossing_cost=cost)
            nlp = Parser(replace(model, description=description), threads=arguments.threads)
            parsed = parse_words(nlp, gold)
            scores, row = score_parsed(nlp, gold, parsed), score_nonprojective(gold, parsed)
            shares = row.as_dict()
            figures = [shares[f"uas_{name}"] for name in ("precision", "recall", "f1")]
            cells = [path, f"{cost:g}", f"{scores['uas']:.2f}", f"{scores['las']:.2f}", str(row.gold), str(row.system)]
            print("| " + " | ".join([*cells, *(f"{figure:.1f}" for figure in figures)]) + " |", flush=True)


if __name__ == "__main__":
    main()
