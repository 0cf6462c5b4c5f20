"""The tables of the report, from results and from what the paper published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from longarc.evaluation.plots import from_left_to_right
from longarc.experiment import paper_results as paper
from longarc.experiment.plan import Treebank
from longarc.experiment.report_blocks import Cell, Table
from longarc.experiment.results import Result
from longarc.experiment.summary import MEASURES, Pairing, Setting, Spread, pair, summed_rows

NOTHING = "–"
NAMES = {"covington": "Covington", "nl-covington": "NL-Covington", "arc-swift": "arc-swift"}

Row = list[Cell | str]


def score(value: float) -> str:
    return f"{value:.2f}"


def difference(value: float) -> str:
    """With a sign; what rounds to nothing has none."""
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")


def p_value(value: float, samples: int) -> str:
    return f"< {1 / samples:.2g}" if value == 0 else f"{value:.4f}"


def treebank_table(settings: Sequence[Setting]) -> Table:
    """What was trained and measured on."""
    rows: list[Row] = []
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
    found: dict[str, list[Result]] = {}
    for setting in settings:
        found.setdefault(setting.treebank.name, []).extend(
            result for results in setting.results.values() for result in results
        )
    return found


def comparison_table(settings: Sequence[Setting], first: str, second: str, samples: int) -> Table | None:
    """Two systems side by side, as in the paper's Tables 1 and 3; None if neither was measured."""
    rows: list[Row] = []
    averaged: list[list[float]] = []
    for setting in settings:
        sides = setting.results.get(first, []), setting.results.get(second, [])
        if not any(sides):
            continue
        found = pair(*sides, samples) if all(sides) else None
        if found is None:
            ours = [mean(one.scores[key] for one in side) if side else None for side in sides for key in MEASURES]
            seeds = " and ".join(dict.fromkeys(_seeds([one.seed for one in side]) for side in sides if side))
            cells = [NOTHING if value is None else score(value) for value in ours]
            rows.append([setting.label, f"measured, {seeds}", *cells, NOTHING, NOTHING])
        else:
            ours = [side[key] for side in (found.first, found.second) for key in MEASURES]
            averaged.append([value for value in ours if value is not None])
            rows.append([setting.label, f"measured, {_seeds(found.seeds)}", *_paired_cells(found, samples)])
        if setting.treebank.paper is not None:
            rows += _paper_rows(setting.treebank.paper, ours, (first, second))
    if not rows:
        return None
    if len(averaged) > 1:
        means = [mean(column) for column in zip(*averaged, strict=True)]
        rows.append(["average", f"of {len(averaged)} above", *_best_of_two(means), "", ""])
    head = [f"{NAMES[system]} {measure.upper()}" for system in (first, second) for measure in MEASURES]
    return Table(["treebank", "", *head, "p UAS", "p LAS"], rows, texts=2)


def _paired_cells(found: Pairing, samples: int) -> Row:
    """UAS and LAS of both systems, and the two p-values."""
    cells: Row = [
        Cell(score(means[key]), found.is_best(key, is_second), found.is_significant(key, is_second))
        for is_second, means in ((False, found.first), (True, found.second))
        for key in MEASURES
    ]
    return [*cells, *("equal" if found.equal[key] else p_value(found.p[key], samples) for key in MEASURES)]


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def _paper_rows(dataset: str, ours: Sequence[float | None], systems: tuple[str, str]) -> list[Row]:
    """The paper's figures for the same systems, and what ours are above them."""
    published = [paper.SCORES[dataset].get(system) for system in systems]
    theirs: list[float | None] = [getattr(one, key) if one else None for one in published for key in MEASURES]
    cells: Row = []
    for place, value in enumerate(theirs):
        other = theirs[(place + 2) % 4]
        best = value is not None and other is not None and value >= other
        starred = best and value != other and paper.is_significant(dataset, *systems, MEASURES[place % 2])
        cells.append(NOTHING if value is None else Cell(score(value), best, starred))
    above = [
        NOTHING if own is None or other is None else difference(own - other)
        for own, other in zip(ours, theirs, strict=True)
    ]
    return [["", f"the paper, {dataset}", *cells, "", ""], ["", "difference", *above, "", ""]]


def _best_of_two(means: Sequence[float]) -> list[Cell]:
    """UAS and LAS of one system, then of the other."""
    return [Cell(score(value), best=value >= means[(place + 2) % 4]) for place, value in enumerate(means)]


def transitions_table(counts: Sequence[tuple[Treebank, Mapping[str, float]]]) -> Table:
    """Transitions per sentence of the gold oracles over the test sets, beside the paper's Table 4."""
    rows: list[Row] = []
    for treebank, per_sentence in counts:
        ours = per_sentence["covington"], per_sentence["nl-covington"]
        published = paper.TRANSITIONS.get(treebank.paper or "")
        row: Row = [treebank.name, *map(score, ours), score(ours[1] / ours[0])]
        if published is None:
            row += [NOTHING] * 5
        else:
            theirs = published.covington, published.nl_covington
            row += [*map(score, theirs), score(theirs[1] / theirs[0])]
            row += [difference(own - other) for own, other in zip(ours, theirs, strict=True)]
        rows.append(row)
    head = ["treebank", "Covington", "NL-Covington", "ratio", "paper: Covington", "NL-Covington", "ratio"]
    return Table([*head, "difference: Covington", "NL-Covington"], rows)


def pt_sd_table(settings: Sequence[Setting]) -> Table | None:
    """The paper's comparison with our rows after the greedy parsers; None if PT-SD was not measured."""
    own: list[Row] = [
        [f"{NAMES.get(system, system)} (this experiment: {setting.label})", "greedy, static", *_means(results)]
        for setting in settings
        if setting.treebank.paper == paper.PT_SD
        for system, results in setting.results.items()
    ]
    if not own:
        return None
    rows: list[Row] = []
    for parser in paper.PARSERS_ON_PT_SD:
        if own and not parser.kind.startswith("greedy"):
            rows += own
            own = []
        las = NOTHING if parser.las is None else f"{parser.las:.1f}"
        rows.append([parser.name, parser.kind, f"{parser.uas:.1f}", las])
    return Table(["parser", "type", "UAS", "LAS"], rows, texts=2)


def _means(results: Sequence[Result]) -> list[str]:
    return [score(mean(result.scores[measure] for result in results)) for measure in MEASURES]


def spread_table(settings: Sequence[Setting]) -> Table:
    """Every system with the mean, the least and the greatest over its seeds."""
    rows: list[Row] = []
    for setting in settings:
        for system, results in setting.results.items():
            cells: Row = []
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
    """LAS (F1) of the arc lengths that gold has, a column per system, all seeds together."""
    every = [one.arc_length for found in results.values() for one in found]
    shares = {
        system: {row.name: row.as_dict()["las_f1"] for row in summed_rows([one.arc_length for one in found])}
        for system, found in results.items()
    }
    rows: list[Row] = []
    for row in from_left_to_right([row for row in summed_rows(every) if row.gold]):
        values = [score(found[row.name]) if row.name in found else NOTHING for found in shares.values()]
        gold = max(one["gold"] for table in every for one in table if one["name"] == row.name)
        rows.append([row.name, f"{gold:,}", *values])
    return Table(["arc length", "gold arcs", *shares], rows)


def nonprojective_table(settings: Sequence[Setting]) -> Table:
    """Precision, recall and F1 of non-projective arcs, all seeds together."""
    rows: list[Row] = []
    for setting in settings:
        for system, results in setting.results.items():
            (row,) = summed_rows([[result.nonprojective] for result in results])
            shares = row.as_dict()
            keys = [f"{measure}_{what}" for measure in ("las", "uas") for what in ("precision", "recall", "f1")]
            found = [score(shares[key]) if row.gold or row.system else NOTHING for key in keys]
            mean_system = f"{row.system / len(results):,.0f}"
            rows.append([setting.label, system, f"{row.gold // len(results):,}", mean_system, *found])
    head = ["treebank", "system", "gold arcs", "found", "labelled P", "R", "F1", "unlabelled P", "R", "F1"]
    return Table(head, rows, texts=2)
