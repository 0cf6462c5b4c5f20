"""The tables of the report: our results beside the figures published in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import mean

from longarc.evaluation.plots import from_left_to_right
from longarc.experiment import paper_results as paper
from longarc.experiment.plan import ExperimentTreebank, system_of
from longarc.experiment.report_markdown import Cell, Table
from longarc.experiment.results import Result
from longarc.experiment.summary import MEASURES, Pairing, Setting, Spread, pair, summed_rows

NOTHING = "–"

TableRow = list[Cell | str]


def system_name(system: str) -> str:
    """Return the name of a transition system, in a variant or not, as the paper writes it."""
    name = system_of(system)
    return {"covington": "Covington", "nl-covington": "NL-Covington"}.get(name, name) + system.removeprefix(name)


def score(value: float) -> str:
    return f"{value:.2f}"


def difference(value: float) -> str:
    """Format a difference with its sign; one that rounds to zero has none."""
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")


def p_value(value: float, samples: int) -> str:
    return f"< {1 / samples:.2g}" if value == 0 else f"{value:.4f}"


def treebank_table(settings: Sequence[Setting]) -> Table:
    """Return the sizes of the treebanks and the conventions of their evaluation."""
    rows: list[TableRow] = []
    for treebank, results in _by_treebank(settings).items():
        result = results[0]
        training, test = result.training, result.test
        rows.append(
            [
                treebank,
                f"{training['sentences']:,}",
                f"{training['words']:,}",
                f"{training['dev_sentences']:,}" if training["dev_sentences"] else NOTHING,
                f"{test['sentences']:,}",
                f"{test['words']:,}",
                f"{test['counted_words']:,}",
                result.conventions["punctuation"],
                result.conventions["labels"],
            ]
        )
    head = ["treebank", "training sentences", "words", "dev sentences", "test sentences", "words", "words that count"]
    return Table([*head, "punctuation", "labels"], rows)


def _by_treebank(settings: Sequence[Setting]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for setting in settings:
        groups.setdefault(setting.treebank.name, []).extend(chain(*setting.results.values()))
    return groups


def comparison_table(settings: Sequence[Setting], first: str, second: str, samples: int) -> Table | None:
    """Return two systems side by side, as in the paper's Tables 1 and 3, or None if neither has results."""
    rows: list[TableRow] = []
    averaged: list[list[float]] = []
    for setting in settings:
        sides = setting.results.get(first, []), setting.results.get(second, [])
        if not any(sides):
            continue
        pairing = pair(*sides, samples) if all(sides) else None
        if pairing is None:
            ours = [mean(result.scores[key] for result in side) if side else None for side in sides for key in MEASURES]
            seeds = " and ".join(dict.fromkeys(_seeds([result.seed for result in side]) for side in sides if side))
            cells = [NOTHING if value is None else score(value) for value in ours]
            rows.append([setting.label, f"measured, {seeds}", *cells, *[NOTHING] * 4])
        else:
            ours = [scores[key] for scores in (pairing.first, pairing.second) for key in MEASURES]
            averaged.append([value for value in ours if value is not None])
            rows.append([setting.label, f"measured, {_seeds(pairing.seeds)}", *_paired_cells(pairing, samples)])
        if setting.treebank.paper is not None:
            rows += _paper_rows(setting.treebank.paper, ours, (first, second))
    if not rows:
        return None
    if len(averaged) > 1:
        means = [mean(column) for column in zip(*averaged, strict=True)]
        rows.append(["average", f"of {len(averaged)} above", *_best_of_two(means), *[""] * 4])
    head = [f"{system_name(system)} {measure.upper()}" for system in (first, second) for measure in MEASURES]
    return Table(["treebank", "", *head, "p UAS", "p LAS", "authors' p UAS", "authors' p LAS"], rows, texts=2)


def _paired_cells(pairing: Pairing, samples: int) -> TableRow:
    """Return UAS and LAS of both systems, and the p-values of both tests."""
    cells: TableRow = [
        Cell(score(means[key]), pairing.is_best(key, is_second), pairing.is_significant(key, is_second))
        for is_second, means in ((False, pairing.first), (True, pairing.second))
        for key in MEASURES
    ]
    cells += ["equal" if pairing.equal[key] else p_value(pairing.p[key], samples) for key in MEASURES]
    cells += [p_value(pairing.authors_p[key], samples) if pairing.authors_p else NOTHING for key in MEASURES]
    return cells


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def _paper_rows(dataset: str, ours: Sequence[float | None], systems: tuple[str, str]) -> list[TableRow]:
    """Return the paper's figures for the same systems, and the differences of ours to them."""
    names = system_of(systems[0]), system_of(systems[1])
    published = [paper.SCORES[dataset].get(name) for name in names]
    theirs: list[float | None] = [getattr(scores, key) if scores else None for scores in published for key in MEASURES]
    cells: TableRow = []
    for position, value in enumerate(theirs):
        other = theirs[(position + 2) % 4]
        best = value is not None and other is not None and value >= other
        starred = best and value != other and paper.is_significant(dataset, *names, MEASURES[position % 2])
        cells.append(NOTHING if value is None else Cell(score(value), best, starred))
    differences = [
        NOTHING if our is None or their is None else difference(our - their)
        for our, their in zip(ours, theirs, strict=True)
    ]
    return [["", f"the paper, {dataset}", *cells, *[""] * 4], ["", "difference", *differences, *[""] * 4]]


def _best_of_two(means: Sequence[float]) -> list[Cell]:
    """Return UAS and LAS of one system, then of the other."""
    return [Cell(score(value), best=value >= means[(position + 2) % 4]) for position, value in enumerate(means)]


def transitions_table(counts: Sequence[tuple[ExperimentTreebank, Mapping[str, float]]]) -> Table:
    """Return the gold oracles' transitions per test sentence beside those of the paper's Table 4."""
    rows: list[TableRow] = []
    for treebank, per_sentence in counts:
        ours = per_sentence["covington"], per_sentence["nl-covington"]
        published = paper.TRANSITIONS.get(treebank.paper or "")
        row: TableRow = [treebank.name, *map(score, ours), score(ours[1] / ours[0])]
        if published is None:
            row += [NOTHING] * 5
        else:
            theirs = published.covington, published.nl_covington
            row += [*map(score, theirs), score(theirs[1] / theirs[0])]
            row += [difference(our - their) for our, their in zip(ours, theirs, strict=True)]
        rows.append(row)
    head = ["treebank", "Covington", "NL-Covington", "ratio", "paper: Covington", "NL-Covington", "ratio"]
    return Table([*head, "difference: Covington", "NL-Covington"], rows)


def pt_sd_table(settings: Sequence[Setting]) -> Table | None:
    """Return the paper's Table 2 with our rows after the greedy parsers, or None without results on PT-SD."""
    our_rows: list[TableRow] = [
        [f"{system_name(system)} (this experiment: {setting.label})", "greedy, static", *_means(results)]
        for setting in settings
        if setting.treebank.paper == paper.PT_SD
        for system, results in setting.results.items()
    ]
    if not our_rows:
        return None
    rows: list[TableRow] = []
    for parser in paper.PARSERS_ON_PT_SD:
        if not parser.kind.startswith("greedy"):
            rows += our_rows
            our_rows = []
        las = NOTHING if parser.las is None else f"{parser.las:.1f}"
        rows.append([parser.name, parser.kind, f"{parser.uas:.1f}", las])
    return Table(["parser", "type", "UAS", "LAS"], rows, texts=2)


def _means(results: Sequence[Result]) -> list[str]:
    return [score(mean(result.scores[measure] for result in results)) for measure in MEASURES]


def spread_table(settings: Sequence[Setting]) -> Table:
    """Return every system's mean, minimum and maximum over its seeds."""
    rows: list[TableRow] = []
    for setting in settings:
        for system, results in setting.results.items():
            cells: TableRow = []
            for measure in MEASURES:
                spread = Spread.of([result.scores[measure] for result in results])
                several = len(results) > 1
                cells += [score(spread.mean), f"{spread.low:.2f}–{spread.high:.2f}" if several else NOTHING]
            cells += [score(mean(result.scores[key] for result in results)) for key in ("upos", "complete_labelled")]
            minutes = mean(result.training["seconds"] for result in results) / 60
            epochs = sorted({result.training["epochs"] for result in results})
            seeds = ", ".join(str(result.seed) for result in results)
            rows.append([setting.label, system, seeds, *cells, "–".join(map(str, epochs)), f"{minutes:.1f}"])
    head = ["treebank", "system", "seeds", "UAS", "min–max", "LAS", "min–max", "tags", "whole sentences"]
    return Table([*head, "epochs", "minutes"], rows, texts=2)


def arc_length_table(results: Mapping[str, Sequence[Result]]) -> Table:
    """Return LAS (F1) by the arc lengths of gold, a column per system, summed over seeds."""
    every = [result.arc_length for result in chain(*results.values())]
    shares = {
        system: {row.name: row.as_dict()["las_f1"] for row in summed_rows([result.arc_length for result in runs])}
        for system, runs in results.items()
    }
    rows: list[TableRow] = []
    for row in from_left_to_right([row for row in summed_rows(every) if row.gold]):
        values = [score(share[row.name]) if row.name in share else NOTHING for share in shares.values()]
        gold = max(other["gold"] for table in every for other in table if other["name"] == row.name)
        rows.append([row.name, f"{gold:,}", *values])
    return Table(["arc length", "gold arcs", *shares], rows)


def nonprojective_table(settings: Sequence[Setting]) -> Table:
    """Return precision, recall and F1 of non-projective arcs, summed over seeds."""
    rows: list[TableRow] = []
    for setting in settings:
        for system, results in setting.results.items():
            (row,) = summed_rows([[result.nonprojective] for result in results])
            shares = row.as_dict()
            keys = [f"{measure}_{what}" for measure in ("las", "uas") for what in ("precision", "recall", "f1")]
            values = [score(shares[key]) if row.gold or row.system else NOTHING for key in keys]
            mean_system = f"{row.system / len(results):,.0f}"
            rows.append([setting.label, system, f"{row.gold // len(results):,}", mean_system, *values])
    head = ["treebank", "system", "gold arcs", "predicted", "labelled P", "R", "F1", "unlabelled P", "R", "F1"]
    return Table(head, rows, texts=2)
