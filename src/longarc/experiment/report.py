"""The report of an experiment: tables and pictures of what was measured, beside what the paper published."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

from longarc.data.conll import read_all
from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.evaluation.conventions import LABELS_MEANINGS, PUNCTUATION_MEANINGS
from longarc.experiment import tables
from longarc.experiment.html_report import to_page
from longarc.experiment.measurement import transitions_per_sentence
from longarc.experiment.plan import Plan, Run
from longarc.experiment.report_blocks import Block, Code, Heading, Items, Paragraph, Picture, to_markdown
from longarc.experiment.results import Result
from longarc.experiment.summary import ALPHA, Setting, settings, summed_rows
from longarc.trees.structure import require_tree

PLOTS = "plots"
PAPER = "Fernández-González & Gómez-Rodríguez (NAACL 2018)"


def write_report(plan: Plan, results: Mapping[str, Result], out: Path, command: str) -> list[Path]:
    """Writes report.md, report.html and the pictures to the folder; gives the names of the two reports."""
    measured = settings(plan, results)
    if not measured:
        raise LongarcError(f"{out}: no results yet", "Leave --report-only out to begin the experiment.")
    title = f"Experiment {plan.path.stem}"
    blocks: list[Block] = [
        Heading(title, 1),
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
    written = {"report.md": to_markdown(blocks), "report.html": to_page(title, blocks, out)}
    for name, text in written.items():
        with open_output(out / name) as stream:
            stream.write(text.encode())
    return [out / name for name in written]


def _overview(plan: Plan, results: Mapping[str, Result], measured: Sequence[Setting]) -> list[Block]:
    missing = [run for run in plan.runs if run.name not in results]
    done = len(plan.runs) - len(missing)
    blocks: list[Block] = [Paragraph(f"{done} of {len(plan.runs)} runs are measured. {_whole(plan)}")]
    if missing:
        blocks += [Paragraph("Missing are, and nothing is said of:"), Items([str(run) for run in missing])]
    if outdated := [run for run in plan.runs if run.name in results and not _is_current(run, results[run.name])]:
        blocks.append(Paragraph(f"Measured with another configuration than {plan.path.name} has now:"))
        blocks.append(Items([str(run) for run in outdated]))
    if others := set(results) - {run.name for run in plan.runs}:
        blocks.append(Paragraph(f"Left out, since {plan.path.name} does not name them: {', '.join(sorted(others))}."))
    notes = [
        f"{treebank.name} is put beside the paper's {treebank.paper}" + (f": {note}" if note else "")
        for treebank in plan.treebanks
        if treebank.paper is not None
        for note in [treebank.paper_note]
    ]
    return [*blocks, Heading("Treebanks"), tables.treebank_table(measured), Items([*_conventions(measured), *notes])]


def _whole(plan: Plan) -> str:
    counts = {
        "treebank": sum(treebank.train is not None for treebank in plan.treebanks),
        "preset": len(plan.presets),
        "system": len(plan.systems),
        "seed": len(plan.seeds),
    }
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items()]
    return f"The experiment is {' × '.join(parts)}."


def _is_current(run: Run, result: Result) -> bool:
    """Whether a result has the configuration of its run; files are not looked at, which need not be there any more."""
    wanted = run.configuration.as_dict()
    return all(result.identity.get(key, value) == value for key, value in wanted.items())


def _conventions(measured: Sequence[Setting]) -> list[str]:
    used = [result.conventions for setting in measured for found in setting.results.values() for result in found]
    texts = [f"punctuation {name}: {text}" for name, text in PUNCTUATION_MEANINGS.items()]
    texts = [text for text in texts if any(text.startswith(f"punctuation {one['punctuation']}:") for one in used)]
    labels = {one["labels"] for one in used}
    texts += [f"labels {name}: {text}" for name, text in LABELS_MEANINGS.items() if name in labels]
    return [*texts, "tags: predicted by the model itself, never read from the test file"]


def _comparisons(plan: Plan, measured: Sequence[Setting]) -> list[Block]:
    blocks: list[Block] = []
    for first, second in (("covington", "nl-covington"), ("arc-swift", "nl-covington")):
        if not {first, second} <= set(plan.systems):
            continue
        table = tables.comparison_table(measured, first, second, plan.samples)
        if table is None:
            continue
        blocks += [
            Heading(f"{tables.NAMES[first]} against {tables.NAMES[second]}"),
            Paragraph(
                "UAS and LAS in percent, means over the seeds that both systems have. The better one is bold. A star "
                f"says that it is significantly better (α = {ALPHA:g}): p is the share of {plan.samples:,} bootstrap "
                "samples of the test sentences, counts of all seeds added up, in which it is not better. The paper's "
                "bold figures and stars are its own."
            ),
            table,
        ]
    return blocks


def _transitions(plan: Plan, measured: Sequence[Setting]) -> list[Block]:
    counted = {
        setting.treebank.name: result.test["transitions_per_sentence"]
        for setting in measured
        for results in setting.results.values()
        for result in results
    }
    for treebank in plan.treebanks:
        if treebank.name not in counted and treebank.test.exists():
            sentences = read_all(treebank.test, encoding=treebank.encoding, check=require_tree)
            counted[treebank.name] = transitions_per_sentence(sentences)
    counts = [(treebank, counted[treebank.name]) for treebank in plan.treebanks if treebank.name in counted]
    return [
        Heading("Transitions per sentence"),
        Paragraph(
            "What the gold oracles take to build the trees of the test sets, the arcs of the root included. Ratio is "
            "NL-Covington ÷ Covington. The paper's figures are those of its Table 4."
        ),
        tables.transitions_table(counts),
    ]


def _against_published(measured: Sequence[Setting]) -> list[Block]:
    table = tables.pt_sd_table(measured)
    if table is None:
        return []
    text = "Published figures are quoted from the paper, whose Table 2 this is; ours are means over seeds."
    return [Heading("PT-SD: against published parsers"), Paragraph(text), table]


def _spreads(measured: Sequence[Setting]) -> list[Block]:
    text = (
        "Means over seeds, and the least and greatest of them where there are several. Tags are UPOS, or the coarse "
        "tags of CoNLL-X, whole sentences those with every head and relation right, both in percent. Minutes are those "
        "of training, on average."
    )
    return [Heading("All systems and their spread"), Paragraph(text), tables.spread_table(measured)]


def _nonprojective(measured: Sequence[Setting]) -> list[Block]:
    text = (
        "Recall (R) is about the gold trees' non-projective arcs, precision (P) about those of the parser's trees; all "
        "in percent, the counts of all seeds added up. Found is how many there are in the parser's trees, on average."
    )
    return [Heading("Non-projective arcs"), Paragraph(text), tables.nonprojective_table(measured)]


def _arc_lengths(plan: Plan, measured: Sequence[Setting], out: Path) -> list[Block]:
    text = (
        "F1 of labelled arcs of each length, the counts of all seeds added up. Left means that the dependent stands "
        "before its head; root arcs have no length. Lengths that no gold arc has are left out."
    )
    blocks: list[Block] = [Heading("LAS by arc length"), Paragraph(text)]
    for setting in measured:
        blocks.append(Heading(setting.label, 3))
        if _can_draw(out):
            from longarc.evaluation.plots import plot_arc_lengths

            target = Path(PLOTS) / f"{setting.slug}-arc-length.svg"
            found = {system: setting.results.get(system, []) for system in plan.systems}
            rows = {system: summed_rows([one.arc_length for one in results]) for system, results in found.items()}
            plot_arc_lengths(rows, out / target)
            blocks.append(Picture(target, f"{setting.label}: LAS by arc length"))
        blocks.append(tables.arc_length_table(setting.results))
    return blocks


def _learning_curves(plan: Plan, measured: Sequence[Setting], out: Path) -> list[Block]:
    blocks: list[Block] = [Heading("Learning curves")]
    if not _can_draw(out):
        return [*blocks, Paragraph("Pictures are left out: they need matplotlib (pip install 'longarc[plot]').")]
    from longarc.evaluation.plots import plot_learning_curves

    for setting in measured:
        target = Path(PLOTS) / f"{setting.slug}-learning-curves.svg"
        found = {system: setting.results.get(system, []) for system in plan.systems}
        curves = {system: [one.training["curve"] for one in results] for system, results in found.items()}
        plot_learning_curves(curves, out / target)
        blocks.append(Picture(target, f"{setting.label}: learning curves, a line per seed"))
    return blocks


def _can_draw(out: Path) -> bool:
    """Whether there is something to draw with; makes the folder for it."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    (out / PLOTS).mkdir(parents=True, exist_ok=True)
    return True


def _origins(plan: Plan, results: Mapping[str, Result], command: str) -> list[Block]:
    used: dict[str, list[str]] = {}
    shown = [results[run.name] for run in plan.runs if run.name in results]
    for result in shown:
        text = ", ".join(f"{name} {number}" for name, number in result.versions.items())
        used.setdefault(text, []).append(result.run)
    dates = sorted(result.date for result in shown)
    threads = sorted({result.training["threads"] for result in shown})
    texts = [f"{text}: {len(runs)} runs" if len(used) > 1 else text for text, runs in used.items()]
    return [
        Heading("How to get the same"),
        Code(command, "shell"),
        Items([*texts, f"threads: {', '.join(map(str, threads))}", f"measured: {dates[0]} to {dates[-1]}"]),
        Paragraph(
            f"The paper is {PAPER}. Every run's scores, counts per sentence and learning curve are in results.jsonl; "
            f"its model and its output are in runs. {plan.path.name}:"
        ),
        Code(plan.text, "toml"),
    ]
