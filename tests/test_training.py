"""Training: the loss is what it says, models are reproducible, stopping and resuming changes nothing, it learns."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from longarc import read_all  # noqa: E402
from longarc.cli.main import COMMANDS, make_app  # noqa: E402
from longarc.errors import LongarcError  # noqa: E402
from longarc.model.network import Inputs, Network  # noqa: E402
from longarc.model.scorers import FactoredScorer  # noqa: E402
from longarc.model.size import NetworkSize  # noqa: E402
from longarc.training.checkpoint import load_tensors  # noqa: E402
from longarc.training.configuration import Configuration  # noqa: E402
from longarc.training.examples import Batch, epoch_batches, make_batch, training_trees  # noqa: E402
from longarc.training.loss import batch_loss, transition_loss  # noqa: E402
from longarc.training.predict import Predictor  # noqa: E402
from longarc.training.prepare import Prepared, prepare  # noqa: E402
from longarc.training.trainer import learning_rate  # noqa: E402
from longarc.transitions import SYSTEMS, get_system  # noqa: E402
from longarc.transitions.static_oracle import pad_heads  # noqa: E402
from tests.toy_treebank import write_toy_treebank  # noqa: E402

SMALL = Configuration(
    lstm_size=12, lstm_layers=1, word_dimensions=8, merge_dimensions=8, pair_dimensions=6, min_count=1
)
FACTORED = {
    "spelling_size": 5,
    "character_dimensions": 4,
    "relation_dimensions": 6,
    "tagger_layers": 1,
    "fine_tags": True,
    "features": True,
    "lstm_dropout": 0.2,
    "batch_words": 60,
    "schedule": "cosine",
    "weight_decay": 0.01,
    "gradient_limit": 1.0,
    "averaging": 0.9,
}
"""What the preset `base` adds, in small."""
SMALL_SETTINGS = [
    f"--set={key}={getattr(SMALL, key)}"
    for key in ("lstm_size", "lstm_layers", "word_dimensions", "merge_dimensions", "pair_dimensions", "min_count")
]


def arguments(treebank: Path, out: Path, *options: str | Path) -> list[str]:
    common = map(str, (treebank, "--preset=paper", "--out", out, "--threads", 1))
    return ["train", *common, *SMALL_SETTINGS, *map(str, options)]


def train(treebank: Path, out: Path, *options: str | Path) -> None:
    """Runs `longarc train` in this process; a user's mistake raises LongarcError."""
    result = CliRunner().invoke(make_app(list(COMMANDS)), arguments(treebank, out, *options), catch_exceptions=False)
    assert result.exit_code == 0


def prepared(tmp_path: Path, system: str, **changes: Any) -> Prepared:
    treebank = read_all(write_toy_treebank(tmp_path / "toy.conllu", 9))
    return prepare(SMALL.updated({"system": system, **changes}, "test"), treebank, [], None)


def batch_of(ready: Prepared) -> Batch:
    return make_batch(ready.examples, ready.spellings, ready.configuration.system)


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_loss_is_the_softmax_over_legal_transitions_summed_over_the_oracle_path(
    tmp_path: Path, name: str, factored: bool
) -> None:
    ready = prepared(tmp_path, name, **(FACTORED if factored else {}))
    system = get_system(name)
    sentences = read_all(tmp_path / "toy.conllu")
    trees = training_trees(ready.configuration, sentences)
    ready.network.eval()
    batch = batch_of(ready)
    with torch.no_grad():
        scores = ready.network(batch.inputs).transitions
        loss = float(transition_loss(scores, batch))
    expected = 0.0
    for row, (heads, relations) in enumerate(trees):
        # One sentence at a time, one configuration at a time, one transition at a time.
        lengths, gold = pad_heads([heads])
        state = system.initial(lengths, single_root=True)
        nodes = len(heads)
        arcs = scores.arcs[row].numpy().astype(np.float64)
        while (choice := system.oracle(state, gold))[0] >= 0:
            slots, legal = system.slots(state)[0], system.legal(state)[0]
            terms: list[float] = []
            for index in np.flatnonzero(legal):
                group, column = divmod(int(slots[index]), nodes)
                if group < nodes:
                    values = arcs[group, :, column]
                    right = 0 if factored else ready.vocabularies.relations.numbers([relations[column]])[0]
                    chosen_value = values[right]
                elif group == nodes:
                    values = np.array([float(scores.shift[row, column])])
                    chosen_value = values[0]
                elif group == nodes + 1:
                    assert scores.reduce is not None
                    values = np.array([float(scores.reduce[row, column])])
                    chosen_value = values[0]
                else:
                    assert scores.no_arc is not None
                    values = np.array([float(scores.no_arc[row, group - nodes - 2, column])])
                    chosen_value = values[0]
                terms.extend(np.exp(values))
                if index == choice[0]:
                    expected -= chosen_value
            expected += float(np.log(np.sum(terms)))
            system.apply(state, choice)
    assert loss == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("changes", [{}, FACTORED])
def test_padding_does_not_change_the_scores_of_a_sentence(tmp_path: Path, changes: dict[str, Any]) -> None:
    ready = prepared(tmp_path, "nl-covington", **changes)
    ready.network.eval()
    with torch.no_grad():
        together = ready.network(batch_of(ready).inputs)
        for row, example in enumerate(ready.examples):
            length = len(example.words)
            alone = ready.network(make_batch([example], ready.spellings, "nl-covington").inputs)
            pairs = [
                (together.transitions.arcs[row, :length, :, :length], alone.transitions.arcs[0]),
                (together.transitions.shift[row, :length], alone.transitions.shift[0]),
                *((logits[row, :length], alone.tags[name][0]) for name, logits in together.tags.items()),
            ]
            for first, second in pairs:
                torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)


def test_what_a_network_with_everything_learns_adds_up(tmp_path: Path) -> None:
    ready = prepared(tmp_path, "nl-covington", **FACTORED)
    ready.network.eval()
    batch = batch_of(ready)
    with torch.no_grad():
        scores = ready.network(batch.inputs)
        expected = float(transition_loss(scores.transitions, batch))
        for row, example in enumerate(ready.examples):
            for name, logits in scores.tags.items():
                chosen = torch.log_softmax(logits[row], dim=-1)[
                    np.arange(1, len(example.words)), example.tags[name][1:]
                ]
                expected -= float(chosen.sum())
        scorer = ready.network.scorer
        assert isinstance(scorer, FactoredScorer)
        heads, dependents = scores.transitions.relation_heads, scores.transitions.relation_dependents
        for sentence, head, dependent, relation in zip(
            batch.arc_sentences, batch.arc_heads, batch.arc_dependents, batch.arc_relations, strict=True
        ):
            own = scorer.relation_logits(heads[sentence, head], dependents[sentence, dependent])
            expected -= float(torch.log_softmax(own, dim=-1)[relation])
        assert float(batch_loss(ready.network, batch)) == pytest.approx(expected, rel=1e-4)
    assert len(batch.arc_relations) == batch.tokens


def test_the_parser_can_read_words_instead_of_the_taggers_output() -> None:
    size = NetworkSize(
        words=9,
        trained_words=9,
        tags={"tags": 4, "fine_tags": 3},
        relations=5,
        has_no_arc=False,
        has_reduce=False,
        parser_reads_words=True,
        lstm_size=7,
    )
    network = Network(size)
    width = size.word_dimensions + 2 * size.tag_dimensions
    assert network.parser_lstm.forwards[0].input_size == width
    scores = network(Inputs(torch.ones(2, 4, dtype=torch.long), torch.tensor([4, 3])))
    assert scores.tags["fine_tags"].shape == (2, 4, 3)


def test_the_learning_rate_follows_the_paper() -> None:
    ten = [learning_rate(SMALL, epoch / 10) / SMALL.learning_rate for epoch in range(10)]
    assert ten == [1, 1, 1, 1, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    thirty = [learning_rate(SMALL, epoch / 30) / SMALL.learning_rate for epoch in range(30)]
    assert thirty == [factor for factor in ten for _ in range(3)]


def test_the_learning_rate_can_follow_a_cosine() -> None:
    configuration = SMALL.updated({"schedule": "cosine"}, "test")
    rates = [learning_rate(configuration, done / 100) / SMALL.learning_rate for done in range(101)]
    assert 0 < rates[0] < 0.1 and max(rates) > 0.99 and rates[-1] < 1e-9
    assert rates[5:] == sorted(rates[5:], reverse=True)


def test_batches_of_an_epoch_hold_every_sentence_once_and_differ_between_epochs() -> None:
    nodes = np.random.default_rng(1).integers(2, 60, size=500)
    first, again, second = (epoch_batches(nodes, SMALL, epoch) for epoch in (1, 1, 2))
    assert sorted(np.concatenate(first).tolist()) == list(range(500))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert all(nodes[batch].max() - nodes[batch].min() <= 8 for batch in first)


def test_batches_can_be_of_so_many_words() -> None:
    nodes = np.random.default_rng(1).integers(2, 60, size=500)
    batches = epoch_batches(nodes, SMALL.updated({"batch_words": 200}, "test"), 1)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert max(len(batch) * (nodes[batch].max() - 1) for batch in batches) <= 200
    assert np.median([(nodes[batch] - 1).sum() for batch in batches]) > 150


@pytest.mark.parametrize("name", ["nl-covington", "arc-swift"])
def test_it_learns_a_small_language_with_its_non_projective_trees(tmp_path: Path, name: str) -> None:
    treebank = write_toy_treebank(tmp_path / "train.conllu", 160)
    test = write_toy_treebank(tmp_path / "test.conllu", 40, seed=2)
    wider = ["--set=lstm_size=32", "--set=merge_dimensions=32", "--set=pair_dimensions=24"]
    settings = [*wider, "--set=learning_rate=0.01", "--set=batch_sentences=8", "--epochs=8"]
    train(treebank, tmp_path / "out", "--test", test, "--system", name, *settings)
    last = json.loads((tmp_path / "out" / "log.jsonl").read_text().splitlines()[-1])
    assert last["test_uas"] > 95
    assert last["test_las"] > 95
    assert last["test_tags"] > 97


def test_the_same_seed_gives_the_same_model_and_another_seed_another(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 40)
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        train(treebank, tmp_path / name, "--epochs=2", f"--seed={seed}")
    one, same, other = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("one", "same", "other"))
    assert all(torch.equal(one[key], same[key]) for key in one)
    assert not torch.equal(one["scorer.head.weight"], other["scorer.head.weight"])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_model(tmp_path: Path, how: signal.Signals) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 150)
    dev = write_toy_treebank(tmp_path / "dev.conllu", 20, seed=3)
    options = ["--epochs=4", "--dev", str(dev), "--set=batch_sentences=2"]
    train(treebank, tmp_path / "whole", *options)
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()"]
    command += arguments(treebank, tmp_path / "parts", *options)
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "parts" / "checkpoint.safetensors").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(how)
        _, message = process.communicate()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "--resume" in message
    with pytest.raises(LongarcError, match="--resume"):
        train(treebank, tmp_path / "parts", *options)
    train(treebank, tmp_path / "parts", *options, "--resume")
    whole, parts = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    logs = [[json.loads(line) for line in (tmp_path / name / "log.jsonl").open()] for name in ("whole", "parts")]
    assert [entry["loss"] for entry in logs[0]] == [entry["loss"] for entry in logs[1]]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "curve.svg",
        "log.jsonl",
        "model.json",
        "parts.longarc",
        "weights.safetensors",
    ]


def test_it_can_be_stopped_while_the_last_epoch_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    options = ["--epochs=1", "--dev", str(treebank)]
    train(treebank, tmp_path / "whole", *options)
    evaluate = Predictor.evaluate

    def stopped(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return evaluate(*given)

    with monkeypatch.context() as patched:
        patched.setattr(Predictor, "evaluate", stopped)
        done = CliRunner().invoke(make_app(list(COMMANDS)), arguments(treebank, tmp_path / "parts", *options))
    assert done.exit_code == 130
    assert not (tmp_path / "parts" / "parts.longarc").exists()
    train(treebank, tmp_path / "parts", *options, "--resume")
    whole, parts = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[key], parts[key]) for key in whole)


def test_resuming_with_other_data_is_refused(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 30)
    train(treebank, tmp_path / "out", "--epochs=1")
    (tmp_path / "out" / "weights.safetensors").rename(tmp_path / "out" / "checkpoint.safetensors")
    with pytest.raises(LongarcError, match="checkpoint is of another training"):
        train(treebank, tmp_path / "out", "--epochs=1", "--resume")


ODD = {
    "no tags": "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n",
    "no relations": "1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n2\tb\t_\tX\t_\t_\t1\t_\t_\t_\n\n",
    "one word": "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
    "only punctuation": "1\t.\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n",
    "several roots": "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
}


@pytest.mark.parametrize("changes", [{}, FACTORED])
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("kind", ODD)
def test_odd_treebanks_train_with_every_system(tmp_path: Path, kind: str, name: str, changes: dict[str, Any]) -> None:
    (tmp_path / "odd.conllu").write_text(ODD[kind])
    sentences = read_all(tmp_path / "odd.conllu")
    ready = prepare(SMALL.updated({"system": name, **changes}, "test"), sentences, [], None)
    loss = batch_loss(ready.network, batch_of(ready))
    assert torch.isfinite(loss)
    scores = ready.predictor().evaluate(sentences)
    assert scores.keys() == {"uas", "las", "tags"}
    if kind == "several roots":
        assert not ready.single_root


def test_a_very_long_sentence_can_be_trained_on(tmp_path: Path) -> None:
    rows = [f"{i}\tw{i % 7}\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(1, 1001)]
    (tmp_path / "long.conllu").write_text("\n".join(rows) + "\n\n")
    ready = prepare(SMALL, read_all(tmp_path / "long.conllu"), [], None)
    loss = batch_loss(ready.network, batch_of(ready))
    loss.backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)


def test_labels_that_only_the_development_data_has_do_no_harm(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    (tmp_path / "dev.conllu").write_text("1\tnew\t_\tNEW\t_\t_\t0\tunheard-of\t_\t_\n\n")
    train(treebank, tmp_path / "out", "--epochs=1", "--dev", tmp_path / "dev.conllu")
    entry = json.loads((tmp_path / "out" / "log.jsonl").read_text())
    assert (entry["dev_uas"], entry["dev_las"], entry["dev_tags"]) == (100, 0, 0)


def test_a_treebank_without_trees_is_refused_before_the_first_epoch(tmp_path: Path) -> None:
    (tmp_path / "blind.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    (tmp_path / "empty.conllu").write_text("")
    for name, message in (("blind", r"blind\.conllu:1: HEAD is _"), ("empty", "no sentences")):
        with pytest.raises(LongarcError, match=message):
            train(tmp_path / f"{name}.conllu", tmp_path / "out")


def test_dev_fraction_sets_the_last_sentences_aside(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    train(treebank, tmp_path / "out", "--epochs=1", "--dev-fraction", "0.2")
    assert "dev_las" in json.loads((tmp_path / "out" / "log.jsonl").read_text())


def test_early_stopping_ends_a_training_that_gets_no_better(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    options = ["--epochs=30", "--dev", str(treebank), "--set=early_stopping=2", "--set=learning_rate=1e-9"]
    train(treebank, tmp_path / "out", *options)
    assert len((tmp_path / "out" / "log.jsonl").read_text().splitlines()) == 3


def test_the_description_holds_the_configuration_that_was_used(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 10)
    train(treebank, tmp_path / "out", "--epochs=1", "--system=covington", "--seed=5")
    used = json.loads((tmp_path / "out" / "model.json").read_text())["configuration"]
    assert (used["system"], used["seed"], used["lstm_size"]) == ("covington", 5, SMALL.lstm_size)


def test_loss_that_is_not_a_number_is_reported(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 40)
    with pytest.raises(LongarcError, match="learning_rate"):
        train(treebank, tmp_path / "out", "--epochs=9", "--set=learning_rate=1e30")
