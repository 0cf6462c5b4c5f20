"""`longarc experiment`: each run is done once even after interruptions; the report shows what was measured."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result as Outcome

from longarc.cli.experiment import _Display
from longarc.data.conll import read_all
from longarc.data.sentence import LEMMA
from longarc.errors import LongarcError
from longarc.experiment import runner
from longarc.experiment.plan import read_plan
from longarc.experiment.results import changes, identity, read_results, unpack_mask
from longarc.experiment.tables import difference
from longarc.training.interruption import Interrupted
from tests.helpers.command import LONGARC, invoke
from tests.helpers.html_page import Page
from tests.helpers.toy_treebank import toy_conllu, write_toy_treebank

SMALL = (
    "set = { lstm_size = 10, lstm_layers = 1, word_dimensions = 6, merge_dimensions = 6, pair_dimensions = 5, "
    "min_count = 1, epochs = 1, learning_rate = 0.02, batch_sentences = 4 }"
)

TOY = f"""
systems = ["covington", "nl-covington"]
seeds = [3]
threads = 1
samples = 200
{SMALL}

[[treebank]]
name = "Toy one"
train = "data/train.conllu"
test = "data/test.conllu"
dev = "data/dev.conllu"
paper = "Danish"
paper_note = "nothing like it."

[[treebank]]
name = "Toy | two"
train = "data/dev.conllu"
test = "data/test.conllu"
punctuation = "ud"
set = {{ pair_dimensions = 4 }}
"""

NAMES = [f"Toy-{which}-paper-{system}-3" for which in ("one", "two") for system in ("covington", "nl-covington")]


def write_experiment(folder: Path, text: str = TOY) -> Path:
    (folder / "data").mkdir(exist_ok=True)
    for name, sentences, seed in (("train", 60, 1), ("dev", 12, 2), ("test", 25, 3)):
        write_toy_treebank(folder / "data" / f"{name}.conllu", sentences, seed)
    path = folder / "toy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def run_experiment(path: Path, out: Path, *options: str) -> Outcome:
    """`longarc experiment` in this process; a user's mistake raises LongarcError."""
    return invoke(["experiment", str(path), "--out", str(out), *options], catch_exceptions=False)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an experiment that ran to its end; tests change copies of it only."""
    folder = tmp_path_factory.mktemp("experiment")
    done = run_experiment(write_experiment(folder), folder / "out")
    assert done.exit_code == 0
    assert "run 4 of 4: Toy | two, preset paper, nl-covington, seed 3" in done.output
    assert done.output.count("epoch   1  loss") == 4
    return folder


def test_the_remaining_time_comes_from_finished_runs_of_the_same_treebank(whole: Path) -> None:
    runs = read_plan(whole / "toy.toml").runs
    seconds = {result["run"]: result["training"]["seconds"] for result in lines(whole / "out")}
    results = read_results(whole / "out")
    left = runner._remaining_time(runs[1:], [results[NAMES[0]]])
    assert left == runner.RemainingTime(seconds[NAMES[0]], unknown_runs=2)
    left = runner._remaining_time(runs[3:], results.values())
    assert left.seconds == pytest.approx((seconds[NAMES[2]] + seconds[NAMES[3]]) / 2)
    assert left.unknown_runs == 0


@pytest.mark.parametrize(("unknown", "text"), [(0, "finished runs: 50 min"), (2, "finished runs: more than 50 min")])
def test_a_run_begins_with_the_remaining_time(
    whole: Path, capsys: pytest.CaptureFixture[str], unknown: int, text: str
) -> None:
    run = read_plan(whole / "toy.toml").runs[1]
    _Display().run_begins(2, 4, run, "trained", runner.RemainingTime(3000, unknown))
    assert text in capsys.readouterr().out


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that are trained from now on."""
    names: list[str] = []
    original = runner.train_model  # type: ignore[attr-defined]

    def train_model(configuration: Any, treebanks: Any, out: Path, *args: Any, **options: Any) -> Any:
        names.append(out.name)
        return original(configuration, treebanks, out, *args, **options)

    monkeypatch.setattr(runner, "train_model", train_model)
    return names


# ---------------------------------------------------------------------------------------------------------------------
# The runs.


def test_every_run_has_one_line_with_all_that_the_report_needs(whole: Path) -> None:
    found = lines(whole / "out")
    assert [line["run"] for line in found] == NAMES
    for line in found:
        counts, test = line["sentence_counts"], line["test"]
        assert len(counts["words"]) == test["sentences"] == 25
        assert sum(counts["words"]) == test["counted_words"] <= test["words"]
        assert line["scores"]["uas"] == pytest.approx(100 * sum(counts["uas"]) / test["counted_words"], abs=1e-4)
        assert line["scores"]["las"] == pytest.approx(100 * sum(counts["las"]) / test["counted_words"], abs=1e-4)
        assert sum(row["gold"] for row in line["arc_length"]) == test["counted_words"]
        assert {"las_precision", "las_recall", "las_f1", "gold", "system"} <= line["nonprojective"].keys()
        assert test["transitions_per_sentence"]["nl-covington"] == pytest.approx(2 * test["words"] / 25)
        assert [entry["epoch"] for entry in line["training"]["curve"]] == [1]
        assert line["training"]["seconds"] >= 0
        assert {"longarc", "torch", "onnxruntime", "numpy", "python"} <= line["versions"].keys()
        assert line["date"].startswith("20")
    assert found[0]["conventions"] == {"punctuation": "count", "labels": "universal", "tags": "predicted"}
    assert found[2]["test"]["counted_words"] < found[2]["test"]["words"]
    assert found[2]["identity"]["pair_dimensions"] == 4


VARIANTS = f"""
systems = ["nl-covington"]
seeds = [1, 2]
threads = 1
samples = 200
{SMALL}

[[variant]]
name = "plain"

[[variant]]
name = "wide pairs"
set = {{ pair_dimensions = 7 }}
systems = ["nl-covington", "covington"]
seeds = [1]

[[treebank]]
name = "Toy"
train = "data/dev.conllu"
test = "data/test.conllu"
"""


def test_variants_of_the_configuration_are_run_and_compared(tmp_path: Path) -> None:
    assert run_experiment(write_experiment(tmp_path, VARIANTS), tmp_path / "out").exit_code == 0
    found = {line["run"]: line for line in lines(tmp_path / "out")}
    assert list(found) == [
        "Toy-paper-nl-covington-plain-1",
        "Toy-paper-nl-covington-plain-2",
        "Toy-paper-nl-covington-wide-pairs-1",
        "Toy-paper-covington-wide-pairs-1",
    ]
    assert [line["variant"] for line in found.values()] == ["plain", "plain", "wide pairs", "wide pairs"]
    assert [line["identity"]["pair_dimensions"] for line in found.values()] == [5, 5, 7, 7]
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "1 treebank × 1 preset × 2 variants × 2 systems × 2 seeds" in report
    assert "NL-Covington: plain against NL-Covington: wide pairs" in report
    assert "Covington: wide pairs against NL-Covington: wide pairs" in report
    assert report.count(" against ") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VARIANTS.replace('"wide pairs"', '"plain"'), "names of variants is ..plain., .plain.., expected"),
        (VARIANTS.replace("pair_dimensions = 7", "pairs = 7"), "variant wide pairs: set.*pairs"),
        (VARIANTS.replace("pair_dimensions = 7", "seed = 7"), "seed cannot be set here"),
        (VARIANTS.replace('"nl-covington", "covington"]', '"arc-toy"]'), "expected a list of some of"),
    ],
)
def test_a_mistake_in_a_variant_is_reported(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LongarcError, match=message):
        read_plan(write_experiment(tmp_path, text))


def test_the_scores_are_those_of_evaluate(whole: Path) -> None:
    for line, punctuation in zip(lines(whole / "out"), ("count", "count", "ud", "ud"), strict=True):
        parsed = whole / "out" / "runs" / line["run"] / "test.parsed.conllu"
        arguments = ["evaluate", str(whole / "data" / "test.conllu"), str(parsed), "--json"]
        done = invoke([*arguments, "--punctuation", punctuation], catch_exceptions=False)
        scores = json.loads(done.output)["scores"]
        assert line["scores"] == pytest.approx({name: scores[name] for name in line["scores"]}, abs=1e-4)
        assert "upos" in line["scores"], "predicted"
        assert not {"xpos", "features", "lemmas", "mlas", "blex"} & line["scores"].keys(), "not predicted"
        for sentence in read_all(parsed):
            assert {word[LEMMA] for word in sentence.word_rows} == {"_"}, "nothing gold reaches a prediction"
        words = line["test"]["counted_words"]
        for measure, digits in line["right_words"].items():
            right = int(unpack_mask(digits, words).sum())
            assert right == sum(line["sentence_counts"][measure]), "the same words, one by one"


def test_a_finished_experiment_is_not_repeated(copied: Path, trained: list[str]) -> None:
    before = (copied / "out" / "results.jsonl").read_bytes()
    done = run_experiment(copied / "toy.toml", copied / "out")
    assert done.exit_code == 0
    assert trained == []
    assert "run " not in done.output
    assert (copied / "out" / "results.jsonl").read_bytes() == before


def test_an_experiment_that_was_killed_between_runs_goes_on(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: list[str]
) -> None:
    path = write_experiment(tmp_path)
    original = runner.measure  # type: ignore[attr-defined]
    measured: list[Any] = []

    def measure_once(*args: Any) -> Any:
        if measured:
            raise KeyboardInterrupt
        measured.append(args)
        return original(*args)

    monkeypatch.setattr(runner, "measure", measure_once)
    done = run_experiment(path, tmp_path / "out")
    assert done.exit_code == 130
    assert f"Resume with: longarc experiment {path} --out {tmp_path / 'out'}" in done.output
    assert [line["run"] for line in lines(tmp_path / "out")] == NAMES[:1]
    monkeypatch.setattr(runner, "measure", original)
    done = run_experiment(path, tmp_path / "out")
    assert done.exit_code == 0
    assert "run 2 of 4: Toy one, preset paper, nl-covington, seed 3 (already trained)" in done.output
    assert trained == NAMES, "each was trained once"
    expected = {line["run"]: line["scores"] for line in lines(whole / "out")}
    assert {line["run"]: line["scores"] for line in lines(tmp_path / "out")} == expected


@pytest.mark.slow
def test_ctrl_c_in_a_training_saves_it_and_the_same_command_goes_on(tmp_path: Path) -> None:
    text = TOY.replace('["covington", "nl-covington"]', '["nl-covington"]').replace("epochs = 1", "epochs = 5")
    path = write_experiment(tmp_path, text.partition('[[treebank]]\nname = "Toy | two"')[0])
    command = [*LONGARC, "experiment", str(path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        while not (tmp_path / "out" / "runs" / NAMES[1] / "checkpoint.safetensors").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate()
    assert process.returncode == 130
    assert "Resume with" in message and "Traceback" not in message
    assert not (tmp_path / "out" / "results.jsonl").exists()
    done = run_experiment(path, tmp_path / "out")
    assert "(resumed from its checkpoint)" in done.output
    (line,) = lines(tmp_path / "out")
    assert [entry["epoch"] for entry in line["training"]["curve"]] == [1, 2, 3, 4, 5]


def test_a_training_that_was_asked_to_stop_ends_with_status_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise Interrupted

    monkeypatch.setattr(runner, "train_model", stopped)
    assert run_experiment(write_experiment(tmp_path), tmp_path / "out").exit_code == 130


def test_a_run_that_was_measured_otherwise_is_an_error_unless_it_may_be_repeated(
    copied: Path, trained: list[str]
) -> None:
    path = copied / "toy.toml"
    path.write_text(TOY.replace("pair_dimensions = 4", "pair_dimensions = 3"))
    with pytest.raises(LongarcError, match="pair_dimensions was 4, is 3") as caught:
        run_experiment(path, copied / "out")
    assert "another output folder" in caught.value.hint and "again" in caught.value.hint
    assert NAMES[2] in caught.value.message and NAMES[0] not in caught.value.message
    assert [line["run"] for line in lines(copied / "out")] == NAMES, "nothing is taken away"
    done = run_experiment(path, copied / "out", "--again")
    assert done.exit_code == 0
    assert trained == NAMES[2:]
    assert sorted(line["run"] for line in lines(copied / "out")) == sorted(NAMES)
    assert [line["identity"]["pair_dimensions"] for line in lines(copied / "out")] == [5, 5, 3, 3]


def test_a_file_that_has_changed_makes_a_result_outdated(copied: Path) -> None:
    write_toy_treebank(copied / "data" / "test.conllu", 24, seed=3)
    with pytest.raises(LongarcError, match="the file `test`"):
        run_experiment(copied / "toy.toml", copied / "out")


def test_a_training_begun_with_other_settings_is_not_gone_on_with(copied: Path) -> None:
    (copied / "out" / "results.jsonl").unlink()
    folder = copied / "out" / "runs" / NAMES[0]
    (folder / "weights.safetensors").rename(folder / "checkpoint.safetensors")
    path = copied / "toy.toml"
    path.write_text(TOY.replace("epochs = 1,", "epochs = 2,"))
    with pytest.raises(LongarcError, match="epochs was 1, is 2"):
        run_experiment(path, copied / "out")


def test_a_key_that_is_newer_than_a_result_had_its_default_value(whole: Path) -> None:
    now = identity(read_plan(whole / "toy.toml").runs[0])
    older = {key: value for key, value in now.items() if key != "early_stopping"}
    assert changes(older, now) == []
    assert changes(older, {**now, "early_stopping": 3}) == ["early_stopping was 0, is 3"]


def test_an_identity_with_old_names_of_keys_is_compared_with_the_new_ones(whole: Path) -> None:
    now = identity(read_plan(whole / "toy.toml").runs[0])
    older = {key: value for key, value in now.items() if key != "columns"}
    assert changes({**older, "fine_tags": False, "features": False}, now) == []
    (change,) = changes({**older, "fine_tags": True, "features": False}, now)
    assert change == "columns was ['upos', 'xpos'], is ['upos']"
    (change,) = changes({**now, "gone": 1}, now)
    assert "unknown key 'gone'" in change


def test_of_a_treebank_without_training_data_the_transitions_are_counted(copied: Path, trained: list[str]) -> None:
    path = copied / "toy.toml"
    path.write_text(path.read_text() + '\n[[treebank]]\nname = "Counted"\ntest = "data/test.conllu"\npaper = "Dutch"\n')
    done = run_experiment(path, copied / "out")
    assert done.exit_code == 0
    assert not trained
    _, _, transitions = (copied / "out" / "report.md").read_text().partition("## Transitions per sentence")
    table = transitions.partition("##")[0]
    rows = {line.split("|")[1].strip(): line.split("|")[2:] for line in table.splitlines() if "|" in line}
    assert rows["Counted"][:3] == rows["Toy one"][:3], "the same file"
    assert "42.78" in rows["Counted"][3]


def test_old_files_are_written_in_their_own_format_and_encoding(tmp_path: Path) -> None:
    text = toy_conllu(20).replace("dog", "hé").replace("\tDET\t", "\tDet\t")
    for name in ("train", "test"):
        (tmp_path / f"{name}.conll").write_text(text, encoding="latin-1")
    path = tmp_path / "old.toml"
    path.write_text(f"""
systems = ["arc-swift"]
threads = 1
{SMALL}
[[treebank]]
name = "old"
train = "train.conll"
test = "test.conll"
encoding = "latin-1"
""")
    assert run_experiment(path, tmp_path / "out").exit_code == 0
    parsed = tmp_path / "out" / "runs" / "old-paper-arc-swift-1" / "test.parsed.conll"
    assert "hé" in parsed.read_text("latin-1")
    (line,) = lines(tmp_path / "out")
    assert line["conventions"]["labels"] == "whole"
    assert "clas" not in line["scores"]


# ---------------------------------------------------------------------------------------------------------------------
# Users' mistakes.

MISTAKES = {
    "unknown key": (lambda text: "seed = [1]\n" + text, "unknown key 'seed'", "systems, presets, seeds, set, threads"),
    "unknown system": (lambda text: text.replace('"covington"', '"arc-lazy"'), "systems is", "nl-covington"),
    "systems no list": (lambda text: text.replace('["covington", "nl-covington"]', '"covington"'), "systems is", ""),
    "no systems": (lambda text: text.replace('systems = ["covington", "nl-covington"]', ""), "systems is missing", ""),
    "seed twice": (lambda text: text.replace("[3]", "[3, 3]"), "seeds is", "different"),
    "seed no number": (lambda text: text.replace("[3]", "[true]"), "seeds is", "whole numbers"),
    "no treebank": (lambda text: text.partition("[[treebank]]")[0], "treebank is missing", ""),
    "treebank no list": (lambda text: text.replace("[[", "[", 1).replace("]]", "]", 1).partition("[[")[0], "", "[[t"),
    "unknown preset": (lambda text: 'presets = ["papier"]\n' + text, "unknown preset 'papier'", "paper"),
    "unknown setting": (lambda text: text.replace("lstm_size", "lstm_sise"), "unknown key 'lstm_sise'", "lstm_size"),
    "ill-typed setting": (lambda text: text.replace("lstm_size = 10", 'lstm_size = "x"'), "lstm_size is 'x'", ""),
    "a treebank's setting": (lambda text: text.replace("pair_dimensions = 4", "pear = 4"), "treebank Toy | two", ""),
    "system in set": (lambda text: text.replace("epochs = 1", 'system = "covington"'), "system cannot be set", ""),
    "seed in set": (lambda text: text.replace("pair_dimensions = 4", "seed = 4"), "seed cannot be set", "seeds"),
    "unknown treebank key": (lambda text: text.replace("dev =", "devel ="), "treebank 1: unknown key", "name, train"),
    "nothing to train": (lambda text: re.sub("train = .*", "", text), "no treebank has a `train` file", "stats"),
    "no test": (lambda text: text.replace("test =", "dev =", 1).replace("dev =", "#", 1), "test is missing", ""),
    "punctuation": (lambda text: text.replace('"ud"', '"all"'), "punctuation is 'all'", "conllx, count, penn, ud"),
    "paper": (lambda text: text.replace('"Danish"', '"Klingon"'), "paper is 'Klingon'", "Danish"),
    "same name": (lambda text: text.replace("Toy | two", "toy-one"), "two runs are called", "name of its own"),
    "nameless": (lambda text: text.replace("Toy | two", "|"), "expected text with a letter", ""),
    "samples": (lambda text: text.replace("samples = 200", "samples = 0"), "samples is 0", ""),
    "no TOML": (lambda text: "systems = [", "not valid TOML", ""),
}


@pytest.mark.parametrize(("change", "message", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_file_is_explained(
    tmp_path: Path, change: Callable[[str], str], message: str, hint: str
) -> None:
    path = write_experiment(tmp_path, change(TOY))
    with pytest.raises(LongarcError) as caught:
        run_experiment(path, tmp_path / "out")
    assert message in caught.value.message
    assert hint in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_all_missing_files_are_named_before_the_first_training(tmp_path: Path, trained: list[str]) -> None:
    path = write_experiment(tmp_path, TOY.replace("data/dev", "data/gone").replace('"ud"', '"ud"\nvectors = "v.vec"'))
    with pytest.raises(LongarcError, match="3 files are missing") as caught:
        run_experiment(path, tmp_path / "out")
    for what in (
        "Toy one: dev: ",
        "Toy | two: train: ",
        "Toy | two: vectors: ",
        str(tmp_path / "data" / "gone.conllu"),
    ):
        assert what in caught.value.message
    assert trained == [] and not (tmp_path / "out").exists()


def test_a_broken_treebank_is_reported_before_the_first_training(tmp_path: Path, trained: list[str]) -> None:
    path = write_experiment(tmp_path, TOY.replace("data/dev", "data/last"))
    (tmp_path / "data" / "last.conllu").write_text("1\ta\t_\tX\t_\t_\t1\tdep\t_\t_\n\n")
    with pytest.raises(LongarcError, match=r"last\.conllu:1: the heads form a cycle"):
        run_experiment(path, tmp_path / "out")
    (tmp_path / "data" / "last.conllu").write_text("")
    with pytest.raises(LongarcError, match="no sentences"):
        run_experiment(path, tmp_path / "out")
    assert trained == []


def test_a_damaged_line_of_results_is_pointed_at(copied: Path) -> None:
    results = copied / "out" / "results.jsonl"
    results.write_text(results.read_text() + '{"run": 1\n')
    with pytest.raises(LongarcError, match=r"results\.jsonl:5: not valid JSON"):
        run_experiment(copied / "toy.toml", copied / "out", "--report-only")
    results.write_text('{"run": "a"}\n')
    with pytest.raises(LongarcError, match=r"results\.jsonl:1: not the result of a run"):
        run_experiment(copied / "toy.toml", copied / "out", "--report-only")


# ---------------------------------------------------------------------------------------------------------------------
# The report.


def test_the_report_has_the_measured_figures_and_those_of_the_paper(whole: Path) -> None:
    report = (whole / "out" / "report.md").read_text("utf-8")
    page = " ".join(Page((whole / "out" / "report.html").read_text("utf-8")).text)
    found = lines(whole / "out")
    for line in found:
        for measure in ("uas", "las"):
            assert f"{line['scores'][measure]:.2f}" in report
            assert f"{line['scores'][measure]:.2f}" in page
    assert "| Covington UAS | Covington LAS | NL-Covington UAS | NL-Covington LAS | p UAS | p LAS |" in report
    assert "arc-swift against" not in report, "it was not measured"
    assert "PT-SD" not in report
    assert "|  | the paper, Danish | 86.56 | 81.18 | **88.40**\\* | **82.77**\\* |  |  |" in report
    above = [
        difference(line["scores"][measure] - published)
        for line, row in zip(found[:2], ((86.56, 81.18), (88.40, 82.77)), strict=True)
        for measure, published in zip(("uas", "las"), row, strict=True)
    ]
    assert f"|  | difference | {' | '.join(above)} |  |  |" in report
    assert "Toy one is compared with the paper's Danish: nothing like it." in report
    ours = found[0]["test"]["transitions_per_sentence"]
    first, second = ours["covington"], ours["nl-covington"]
    cells = f"| Toy one | {first:.2f} | {second:.2f} | {second / first:.2f} | 66.77 | 36.34 | 0.54 |"
    assert f"{cells} {difference(first - 66.77)} | {difference(second - 36.34)} |" in report
    assert r"| Toy \| two | covington | 3 |" in report
    assert "4 of 4 runs are measured" in report and "Not run yet" not in report
    assert f"longarc experiment {whole / 'toy.toml'} --out {whole / 'out'}" in report
    assert f"torch {found[0]['versions']['torch']}" in report


def test_the_page_needs_nothing_but_itself(whole: Path) -> None:
    text = (whole / "out" / "report.html").read_text("utf-8")
    page = Page(text)
    assert "http" not in text.replace("http-equiv", "")
    assert "@import" not in text
    assert page.references and all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.identifiers)
    assert len(set(page.identifiers)) == len(page.identifiers), "pictures do not share names"
    assert page.tags.count("svg") == 4, "arc lengths and learning curves of two treebanks"
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text
    pictures = sorted(path.name for path in (whole / "out" / "plots").iterdir())
    assert pictures == [
        f"Toy-{which}-paper-{what}.svg" for which in ("one", "two") for what in ("arc-length", "learning-curves")
    ]
    report = (whole / "out" / "report.md").read_text("utf-8")
    assert all(f"(plots/{name})" in report for name in pictures)


def test_report_only_trains_nothing_and_says_what_is_missing(copied: Path, trained: list[str]) -> None:
    results = copied / "out" / "results.jsonl"
    kept = results.read_text().splitlines()[:3]
    results.write_text("\n".join(kept) + "\n")
    (copied / "toy.toml").write_text(TOY.replace("pair_dimensions = 4", "pair_dimensions = 2"))
    shutil.rmtree(copied / "data")
    done = run_experiment(copied / "toy.toml", copied / "out", "--report-only")
    assert done.exit_code == 0 and trained == []
    report = (copied / "out" / "report.md").read_text("utf-8")
    assert "3 of 4 runs are measured" in report
    missing, _, otherwise = report.partition("Measured with another configuration than toy.toml has now:")
    assert r"- Toy \| two, preset paper, nl-covington, seed 3" in missing
    assert r"- Toy \| two, preset paper, covington, seed 3" in otherwise
    row = next(line for line in report.splitlines() if line.startswith(r"| Toy \| two | measured, seed 3 |"))
    assert row.endswith("| – | – | – | – |"), "one system's figures, and no p-values"
    assert "**" not in row
    (copied / "toy.toml").write_text(TOY.replace("seeds = [3]", "seeds = [4]"))
    with pytest.raises(LongarcError, match="no results yet"):
        run_experiment(copied / "toy.toml", copied / "out", "--report-only")


def test_the_report_needs_no_torch(copied: Path) -> None:
    code = "import sys; sys.modules['torch'] = None; from longarc.cli.main import run; run()"
    arguments = ["experiment", str(copied / "toy.toml"), "--out", str(copied / "out"), "--report-only"]
    (copied / "out" / "report.html").unlink()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)
    assert (copied / "out" / "report.html").exists()
