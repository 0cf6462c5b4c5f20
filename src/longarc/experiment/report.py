"""The report of an experiment: tables and plots of its results, beside the figures published in the paper."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from longarc.data.conll import read_all
from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.evaluation.conventions import LABELS_MEANINGS, PUNCTUATION_MEANINGS
from longarc.experiment import tables
from longarc.experiment.html_report import to_page
from longarc.experiment.measurement import transitions_per_sentence
from longarc.experiment.plan import ExperimentPlan, Run, label, system_of
from longarc.experiment.report_markdown import bullets, code, escape, heading, picture
from longarc.experiment.results import Result
from longarc.experiment.summary import ALPHA, Setting, mixed_commits, settings, summed_rows
from longarc.trees.structure import require_tree

PLOTS = "plots"
PAPER = "Fernández-González & Gómez-Rodríguez (NAACL 2018)"


def write_report(plan: ExperimentPlan, results: Mapping[str, Result], out: Path, command: str) -> list[Path]:
    """Write report.md, report.html and the plots to the folder, and return the paths of the two reports."""
    measured = settings(plan, results)
    if not measured:
        raise LongarcError(f"{out}: no results yet", "Run the experiment first.")
    title = f"Experiment {plan.path.stem}"
    blocks = [
        heading(title, 1),
        *_overview(plan, results, measured),
        *_comparisons(plan, measured),
        *_transitions(plan, measured),
        *_against_published(measured),
        *_spreads(measured),
        *_arc_lengths(plan, measured, out),
        *_nonprojective(measured),
        *_learning_curves(plan, measured, out),
        *_origins(plan, results, command),
    ]
    markdown = "\n\n".join(blocks) + "\n"
    reports = {out / "report.md": markdown, out / "report.html": to_page(title, markdown, out)}
    for path, text in reports.items():
        with open_output(path) as stream:
            stream.write(text.encode())
    return list(reports)


def _overview(plan: ExperimentPlan, results: Mapping[str, Result], measured: Sequence[Setting]) -> list[str]:
    missing = [run for run in plan.runs if run.name not in results]
    blocks = [escape(f"{len(plan.runs) - len(missing)} of {len(plan.runs)} runs are measured. {_size(plan)}")]
    if missing:
        blocks += ["Not run yet:", bullets(map(str, missing))]
    if outdated := [run for run in plan.runs if run.name in results and not _is_current(run, results[run.name])]:
        blocks += [escape(f"Measured with another configuration than {plan.path.name} has now:")]
        blocks += [bullets(map(str, outdated))]
    if mixed := mixed_commits(measured):
        blocks += ["Means over runs of different commits of the code:", bullets(mixed)]
    if others := set(results) - {run.name for run in plan.runs}:
        blocks += [escape(f"Omitted, because they are not in {plan.path.name}: {', '.join(sorted(others))}.")]
    notes = [
        f"{treebank.name} is compared with the paper's {treebank.paper}"
        + (f": {treebank.paper_note}" if treebank.paper_note else "")
        for treebank in plan.treebanks
        if treebank.paper is not None
    ]
    table = tables.treebank_table(measured)
    return [*blocks, heading("Treebanks"), str(table), bullets([*_conventions(measured), *notes])]


def _size(plan: ExperimentPlan) -> str:
    counts = {
        "treebank": sum(treebank.train is not None for treebank in plan.treebanks),
        "preset": len(plan.presets),
        **({"variant": len(plan.variants)} if plan.variants != ("",) else {}),
        "system": len(plan.systems),
        "seed": len(plan.seeds),
    }
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items()]
    return f"The experiment is {' × '.join(parts)}."


def _is_current(run: Run, result: Result) -> bool:
    """Return whether a result has the configuration of its run. The files, which may be gone, are not compared."""
    configuration = run.configuration.as_dict()
    return all(result.identity.get(key, value) == value for key, value in configuration.items())


def _conventions(measured: Sequence[Setting]) -> list[str]:
    conventions = [result.conventions for setting in measured for result in chain(*setting.results.values())]
    used = {f"{key} {name}" for convention in conventions for key, name in convention.items()}
    meanings = {
        **{f"punctuation {name}": text for name, text in PUNCTUATION_MEANINGS.items()},
        **{f"labels {name}": text for name, text in LABELS_MEANINGS.items()},
    }
    texts = [f"{name}: {text}" for name, text in meanings.items() if name in used]
    return [*texts, "tags: predicted by the model, never read from the test file"]


def _pairs(plan: ExperimentPlan) -> list[tuple[str, str]]:
    """Return the labels to compare: systems in each variant that both have, or else in the first variant of each, and
    the first variant of a system with its others."""
    systems = [("covington", "nl-covington"), ("arc-swift", "nl-covington")]
    systems += [("nl-covington", system) for system in plan.systems if all(system not in known for known in systems)]
    labels = {system: [name for name in plan.labels if system_of(name) == system] for system in plan.systems}
    pairs: list[tuple[str, str]] = []
    for first, second in systems:
        if first in labels and second in labels:
            shared = [(label(first, name), label(second, name)) for name in plan.variants]
            shared = [pair for pair in shared if set(pair) <= set(plan.labels)]
            pairs += shared or [(labels[first][0], labels[second][0])]
    for first_label, *others in labels.values():
        pairs += [(first_label, other) for other in others]
    return pairs


def _comparisons(plan: ExperimentPlan, measured: Sequence[Setting]) -> list[str]:
    blocks: list[str] = []
    for first, second in _pairs(plan):
        table = tables.comparison_table(measured, first, second, plan.samples)
        if table is None:
            continue
        text = (
            "UAS and LAS in percent, means over the seeds that both systems have. The better system is bold. A star "
            f"marks a significant difference (p < {ALPHA:g}, with several seeds): p is two-sided, from {plan.samples:,}"
            " bootstrap samples of test sentences and seeds. The authors' p is that of the paper's own code: words are "
            "drawn, seeds are averaged for each word, one-sided. In the rows of the paper, bold figures and stars are "
            "the paper's."
        )
        title = f"{tables.system_name(first)} against {tables.system_name(second)}"
        blocks += [heading(title), escape(text), str(table)]
    return blocks


def _transitions(plan: ExperimentPlan, measured: Sequence[Setting]) -> list[str]:
    counted = {
        setting.treebank.name: result.test["transitions_per_sentence"]
        for setting in measured
        for result in chain(*setting.results.values())
    }
    for treebank in plan.treebanks:
        if treebank.name not in counted and treebank.test.exists():
            sentences = read_all(treebank.test, encoding=treebank.encoding, check=require_tree)
            counted[treebank.name] = transitions_per_sentence(sentences)
    counts = [(treebank, counted[treebank.name]) for treebank in plan.treebanks if treebank.name in counted]
    text = (
        "Transitions of the gold oracles on the test sets, including the arcs of the root. Ratio is NL-Covington ÷ "
        "Covington. The paper's figures are those of its Table 4."
    )
    return [heading("Transitions per sentence"), text, str(tables.transitions_table(counts))]


def _against_published(measured: Sequence[Setting]) -> list[str]:
    table = tables.pt_sd_table(measured)
    if table is None:
        return []
    text = "Published figures are quoted from Table 2 of the paper; ours are means over seeds."
    return [heading("PT-SD: against published parsers"), text, str(table)]


def _spreads(measured: Sequence[Setting]) -> list[str]:
    text = (
        "Means over seeds, with minimum and maximum if there are several. Tags are UPOS, or the coarse tags of "
        "CoNLL-X; whole sentences are those with every head and relation right; both in percent. Minutes are the mean "
        "training time."
    )
    return [heading("All systems and their spread"), text, str(tables.spread_table(measured))]


def _nonprojective(measured: Sequence[Setting]) -> list[str]:
    text = (
        "Recall (R) refers to the non-projective arcs of the gold trees, precision (P) to those of the predicted "
        "trees, in percent, with counts summed over seeds. Predicted is the mean number of such arcs in the predicted "
        "trees."
    )
    return [heading("Non-projective arcs"), text, str(tables.nonprojective_table(measured))]


def _arc_lengths(plan: ExperimentPlan, measured: Sequence[Setting], out: Path) -> list[str]:
    text = (
        "F1 of labelled arcs by length, with counts summed over seeds. Left means that the dependent precedes its "
        "head; root arcs have no length. Lengths without gold arcs are omitted."
    )
    blocks = [heading("LAS by arc length"), text]
    for setting in measured:
        blocks.append(heading(setting.label, 3))
        if _can_draw(out):
            from longarc.evaluation.plots import plot_arc_lengths

            target = Path(PLOTS) / f"{setting.slug}-arc-length.svg"
            rows = {
                system: summed_rows([result.arc_length for result in setting.results.get(system, [])])
                for system in plan.labels
            }
            plot_arc_lengths(rows, out / target)
            blocks.append(picture(target, f"{setting.label}: LAS by arc length"))
        blocks.append(str(tables.arc_length_table(setting.results)))
    return blocks


def _learning_curves(plan: ExperimentPlan, measured: Sequence[Setting], out: Path) -> list[str]:
    blocks = [heading("Learning curves")]
    if not _can_draw(out):
        return [*blocks, escape("There are no plots because matplotlib is missing (pip install 'longarc[plot]').")]
    from longarc.evaluation.plots import plot_learning_curves

    for setting in measured:
        target = Path(PLOTS) / f"{setting.slug}-learning-curves.svg"
        curves = {
            system: [result.training["curve"] for result in setting.results.get(system, [])] for system in plan.labels
        }
        plot_learning_curves(curves, out / target)
        blocks.append(picture(target, f"{setting.label}: learning curves, one line per seed"))
    return blocks


def _can_draw(out: Path) -> bool:
    """Return whether matplotlib is installed, and create the folder for plots if so."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    (out / PLOTS).mkdir(parents=True, exist_ok=True)
    return True


def _origins(plan: ExperimentPlan, results: Mapping[str, Result], command: str) -> list[str]:
    runs = [results[run.name] for run in plan.runs if run.name in results]
    versions = Counter(", ".join(f"{name} {number}" for name, number in run.versions.items()) for run in runs)
    texts = [f"{text}: {count} runs" if len(versions) > 1 else text for text, count in versions.items()]
    threads = sorted({run.training["threads"] for run in runs})
    dates = sorted(run.date for run in runs)
    return [
        heading("How to reproduce it"),
        code(command, "shell"),
        bullets([*texts, f"threads: {', '.join(map(str, threads))}", f"measured: {dates[0]} to {dates[-1]}"]),
        escape(
            f"The paper is {PAPER}. The file results.jsonl contains the scores, counts per sentence and learning curve "
            f"of every run; the folder runs contains its model and its output. {plan.path.name}:"
        ),
        code(plan.text, "toml"),
    ]
