"""Atomic writing: temporary files are private, unique, and removed; odd paths give messages."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from longarc.data import files
from longarc.data.files import (
    PEEK_BLANK_BYTES,
    PEEK_BYTES,
    open_and_peek,
    open_input,
    open_output,
    remove_stale_temporaries,
)
from longarc.errors import LongarcError


def temporary_in(folder: Path) -> Path:
    (path,) = folder.glob(".*.part")
    return path


def test_a_private_file_is_private_while_it_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "private.txt"
    target.write_text("old")
    target.chmod(0o600)
    with open_output(target) as stream:
        assert stat.S_IMODE(temporary_in(tmp_path).stat().st_mode) == 0o600
        stream.write(b"new")
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o600)


def test_new_files_respect_the_umask_and_old_ones_keep_what_it_forbids(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("")
    (tmp_path / "old").chmod(0o666)
    before = os.umask(0o077)
    try:
        for name in ("new", "old"):
            with open_output(tmp_path / name):
                pass
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "old")] == [0o600, 0o666]


def test_a_link_under_the_temporary_name_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "00000000")
    (tmp_path / "victim").write_text("untouched")
    with open_output(tmp_path / "out.txt"):
        name = temporary_in(tmp_path)
    name.symlink_to(tmp_path / "victim")
    with pytest.raises(LongarcError, match="File exists"), open_output(tmp_path / "out.txt") as stream:
        stream.write(b"changed")
    assert (tmp_path / "victim").read_text() == "untouched"


def test_threads_that_write_the_same_file_do_not_collide(tmp_path: Path) -> None:
    target, both_open = tmp_path / "out.txt", threading.Barrier(4)
    errors: list[BaseException] = []

    def write(letter: bytes) -> None:
        try:
            with open_output(target) as stream:
                both_open.wait(10)
                stream.write(letter * 100_000)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(set(target.read_bytes())) == 1
    assert target.stat().st_size == 100_000
    assert list(tmp_path.iterdir()) == [target]


KILLED = """
import os, signal, sys
from longarc.data.files import open_output
with open_output(sys.argv[1]) as stream:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_files_of_dead_processes_are_removed_and_no_others(tmp_path: Path) -> None:
    for name in ("out.txt", "other.txt"):
        subprocess.run([sys.executable, "-c", KILLED, tmp_path / name])
    assert len(list(tmp_path.iterdir())) == 2
    foreign = tmp_path / ".out.txt.part"
    elsewhere = tmp_path / f".out.txt.{'0' * 8}-999999999-00000000.part"
    for path in (foreign, elsewhere):
        path.write_text("")
    with open_output(tmp_path / "out.txt"), open_output(tmp_path / "out.txt"):
        assert len(list(tmp_path.glob(".out.txt*"))) == 4  # both of this process stay
    assert len(list(tmp_path.glob(".other.txt*"))) == 1
    remove_stale_temporaries(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([foreign, elsewhere, tmp_path / "out.txt"])


def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path: Path) -> None:
    with open_output(tmp_path / ("ä" * 127)) as stream:
        stream.write(b"x")
    assert (tmp_path / ("ä" * 127)).read_bytes() == b"x"


@pytest.mark.parametrize("case", ["loop", "file/below", "x" * 300, "nowhere/file"])
def test_paths_that_cannot_be_used_give_messages(tmp_path: Path, case: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    with pytest.raises(LongarcError, match="cannot be written"), open_output(tmp_path / case):
        pass
    with pytest.raises(LongarcError, match="cannot be read"), open_input(tmp_path / case):
        pass


def test_an_unreadable_folder_gives_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr(Path, "stat", denied)
    with pytest.raises(LongarcError, match="cannot be written: Permission denied"), open_output(tmp_path / "out.txt"):
        pass


def test_a_process_is_running_or_not() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert files.is_running(os.getpid())
    assert not files.is_running(ended.pid)
    assert not files.is_running(10**30)


def test_the_start_of_an_input_reaches_beyond_blank_lines() -> None:
    content = b"\n" * 200_000 + b"1\tone"
    with open_and_peek(io.BytesIO(content)) as (start, stream):
        assert start.endswith(b"1\tone")
        assert stream.read() == content
    with open_and_peek(io.BytesIO(b" " * (PEEK_BLANK_BYTES + 200_000))) as (start, _):
        assert len(start) <= PEEK_BLANK_BYTES + PEEK_BYTES
