"""Distillation: what teachers tell a student, and that it learns from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy, softmax

from longarc import LongarcError, read_all
from longarc.runtime.model_file import write_model_file
from longarc.training.loss import batch_loss, soft_label_loss, soft_transition_loss
from longarc.training.prepare import Distillation, prepare
from longarc.training.teacher import Teacher
from longarc.training.training_data import make_batch
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.static_oracle import pad_heads
from longarc.transitions.system import ScoreTable
from tests.helpers.command import invoke
from tests.helpers.prepared_training import FACTORED, SMALL
from tests.helpers.small_models import packaged
from tests.helpers.text_treebank import treebank_with_text
from tests.helpers.toy_treebank import write_toy_treebank


def untrained_teacher(folder: Path, treebank: Path, system: str, seed: int = 7) -> Path:
    configuration = SMALL.updated({"system": system, "seed": seed, **FACTORED}, "test")
    model, _ = prepare(configuration, read_all(treebank), [])
    path = folder / f"{system}-{seed}.longarc"
    write_model_file(path, packaged(model))
    return path


def _of_sentence(table: ScoreTable, row: int, nodes: int) -> ScoreTable:
    arrays: dict[str, Any] = {
        name: array[(slice(row, row + 1), *(slice(nodes),) * (array.ndim - 1))] for name, array in table.arrays.items()
    }
    return ScoreTable(**arrays)


@pytest.mark.parametrize("system", SYSTEMS)
def test_soft_losses_are_cross_entropies_with_the_teachers_probabilities(tmp_path: Path, system: str) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 9)
    sentences = read_all(treebank)
    teacher = Teacher([untrained_teacher(tmp_path, treebank, system)], threads=1)
    configuration = SMALL.updated({"system": system, **FACTORED}, "test")
    model, data = prepare(configuration, sentences, [], (), Distillation(teacher))
    model.network.eval()
    batch = make_batch(data.examples, model.description)
    with torch.no_grad():
        output = model.network(batch.arrays)
    scores = teacher.parser.session.run([sentence.forms for sentence in sentences], totals=False, logits=True)

    expected = 0.0
    student = output.transitions.table()
    for row, example in enumerate(data.examples):
        lengths, gold = pad_heads([example.heads])
        state = get_system(system).initial(lengths, single_root=True)
        tables = [_of_sentence(table, row, len(example)) for table in (student, scores.scores)]
        while (choice := get_system(system).oracle(state, gold))[0] >= 0:
            legal = get_system(system).legal(state)[0]
            ours, theirs = (
                torch.from_numpy(get_system(system).gather(state, table)[0][legal]).double() for table in tables
            )
            expected += float(cross_entropy(ours, softmax(theirs, dim=0)))
            get_system(system).apply(state, choice)
    assert float(soft_transition_loss(output.transitions, batch)) == pytest.approx(expected, rel=5e-3)

    # The teacher has fewer labels than are kept, so that its whole distribution is the target.
    logits = torch.from_numpy(scores.logits["upos"])
    upos = sum(
        float(cross_entropy(output.columns["upos"][row, node], softmax(logits[row, node], dim=0)))
        for row, example in enumerate(data.examples)
        for node in range(1, len(example))
    )
    assert float(soft_label_loss(output.columns["upos"], batch, "upos")) == pytest.approx(upos, rel=5e-3)


def test_the_weight_of_teachers_divides_the_loss(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 9)
    teacher = Teacher([untrained_teacher(tmp_path, treebank, "pointer")], threads=1)
    losses = []
    for weight in (0.0, 0.25, 1.0):
        configuration = SMALL.updated({"system": "pointer", **FACTORED, "teacher_weight": weight}, "test")
        model, data = prepare(configuration, read_all(treebank), [], (), Distillation(teacher))
        model.network.eval()
        with torch.no_grad():
            loss = batch_loss(model.network, make_batch(data.examples, model.description), configuration)
        losses.append(float(loss))
    hard, mixed, soft = losses
    assert hard != soft
    assert mixed == pytest.approx(0.75 * hard + 0.25 * soft)


def test_a_student_of_another_system_is_refused(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 5)
    teacher = untrained_teacher(tmp_path, treebank, "pointer")
    options = ["--train", str(treebank), "--out", str(tmp_path / "out"), "--system=mst", "--threads=1"]
    with pytest.raises(LongarcError, match="the student uses mst, its teacher pointer"):
        invoke(["distill", str(teacher), *options], catch_exceptions=False)


SMALL_STUDENT = [
    "--set=lstm_size=24",
    "--set=tokenizer_steps=0",
    "--set=min_updates=0",
    "--set=min_count=1",
    "--set=batch_words=60",
    "--set=averaging=0",
    "--set=learning_rate=0.01",
    "--threads=1",
]


@pytest.mark.slow
def test_a_student_learns_from_teachers_and_raw_text_and_resumes(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "train.conllu", 120)
    test = write_toy_treebank(tmp_path / "test.conllu", 30, seed=9)
    for seed in (1, 2):
        options = [f"--seed={seed}", "--epochs=5", *SMALL_STUDENT, "--out", str(tmp_path / f"teacher{seed}")]
        assert invoke(["train", str(treebank), "--preset=fast", *options], catch_exceptions=False).exit_code == 0
    teachers = [str(tmp_path / f"teacher{seed}" / f"teacher{seed}.longarc") for seed in (1, 2)]
    # Subjects and objects are interchanged: what the student knows of them comes from its teachers.
    wrong = tmp_path / "wrong.conllu"
    other = {"nsubj": "obj", "obj": "nsubj"}
    rows = [line.split("\t") for line in treebank.read_text().splitlines()]
    wrong.write_text("".join("\t".join(other.get(cell, cell) for cell in row) + "\n" for row in rows))
    text = tmp_path / "raw.txt"
    text.write_text("the red dog sees the cat . the old bird likes the tree today .\n")
    command = ["distill", *teachers, "--train", str(wrong), "--text", str(text), "--test", str(test)]
    command += [*SMALL_STUDENT, "--epochs=5", "--set=teacher_weight=0.9", "--out", str(tmp_path / "student")]
    result = invoke(command, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stdout.startswith("training data: 12")  # 120 sentences and those of the text
    last = json.loads((tmp_path / "student" / "log.jsonl").read_text().splitlines()[-1])
    assert last["test_las"] > 80
    card = invoke(["info", str(tmp_path / "student" / "student.longarc"), "--json"])
    assert card.exit_code == 0
    again = invoke([*command, "--resume"], catch_exceptions=False)
    assert again.exit_code == 0
    assert "the training is finished" in again.stderr


def test_lemmas_and_other_columns_are_taught_only_if_the_teacher_predicts_them(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu"
    path.write_text(treebank_with_text(6))
    teacher = Teacher([untrained_teacher(tmp_path, path, "pointer")], threads=1)
    columns = ["upos", "xpos", "feats", "lemma"]
    configuration = SMALL.updated({"system": "pointer", **FACTORED, "columns": columns}, "test")
    model, data = prepare(configuration, read_all(path), [], (), Distillation(teacher))
    batch = make_batch(data.examples, model.description)
    assert "upos_numbers" in batch.soft
    assert "lemma_numbers" not in batch.soft
    assert torch.isfinite(batch_loss(model.network, batch, configuration))


def test_what_a_teacher_of_another_treebank_does_not_know_is_reported(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "train.conllu", 12)
    teacher = str(untrained_teacher(tmp_path, treebank, "pointer"))
    other = tmp_path / "other.conllu"
    other.write_text(treebank.read_text().replace("\tnsubj\t", "\tsubj\t"))
    text = tmp_path / "raw.txt"
    text.write_text("the dog sees the cat .\n")
    options = [*SMALL_STUDENT, "--epochs=1", "--set=tokenizer_steps=0"]
    command = ["distill", teacher, "--train", str(other), *options]
    result = invoke([*command, "--out", str(tmp_path / "student")], catch_exceptions=False)
    assert result.exit_code == 0
    assert "relations of the treebank that the teacher does not know: subj" in result.stderr
    for wrong, message in (["--text", str(other)], "expected raw text"), (["--set=system=mst"], "its teacher pointer"):
        result = invoke([*command, "--out", str(tmp_path / "wrong"), *wrong])
        assert message in str(result.exception)
