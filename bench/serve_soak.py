"""Run `longarc serve` for minutes under good and hostile clients at once, then stop it under load.

Most clients send good requests of different kinds and check every answer. Hostile clients send white space, damaged
forms, endless headers, half-sent requests, uploads that they abort, long sentences, long words and large drawings. The
report contains the errors of good requests (429 and 503 are repeated, as a client would), their latencies, and the
resident memory of the server at the end of the first minute (or of the first quarter of a short run) and at the end,
each the median of thirty seconds, because what is under way changes it by some percent. Then SIGTERM is sent while all
clients have requests under way: every request that was accepted must be answered, within 10 s.

    python bench/serve_soak.py --model MODEL.longarc TEST.conllu --seconds 600
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

LONGARC = [sys.executable, "-c", "from longarc.cli.main import run; run()"]
MAX_GROWTH = 1.10
MAX_SHUTDOWN = 10.0
BUSY = (429, 503)
SAMPLES = 30


@dataclass
class Record:
    """What the clients have seen."""

    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    repeated: int = 0
    hostile: Counter[str] = field(default_factory=Counter)
    unanswered: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Client:
    """One connection that is opened again when the server has closed it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.socket: socket.socket | None = None

    def connect(self) -> socket.socket:
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=120)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.socket

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request; return the status and the body."""
        connection = self.connect()
        connection.sendall(request)
        return self.receive()

    def receive(self) -> tuple[int, bytes]:
        connection = self.connect()
        parts = connection.makefile("rb")
        status = int((parts.readline() or b"- 0").split()[1])
        if not status:
            raise ConnectionResetError("no answer")
        length, closes = 0, False
        while line := parts.readline().strip().lower():
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            closes |= line == b"connection: close"
        body = parts.read(length)
        if len(body) < length:
            raise ConnectionResetError("half an answer")
        if closes:
            self.close()
        return status, body


def post(path: str, body: bytes, kind: str = "application/json") -> bytes:
    """Return a complete request."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


def post_json(path: str, **fields: object) -> bytes:
    return post(path, json.dumps(fields).encode())


def post_form(**fields: str) -> bytes:
    return post("/process", urlencode(fields).encode(), "application/x-www-form-urlencoded")


Check = Callable[[bytes], bool]


def good_requests(path: Path) -> list[tuple[bytes, Check]]:
    """Return requests of all kinds, each with a check of its answer."""
    from longarc import read_all

    sentences = [sentence for sentence in read_all(path)[:400] if len(sentence) <= 60]
    requests: list[tuple[bytes, Check]] = []
    for start in range(0, len(sentences), 4):
        part = sentences[start : start + 4]
        conllu = "".join(sentence.to_conll() for sentence in part)
        forms = [sentence.forms for sentence in part]
        text = " ".join(word for sentence in forms for word in sentence)

        def same_forms(body: bytes, forms: list[list[str]] = forms) -> bool:
            trees: list[dict[str, list[dict[str, str]]]] = json.loads(body)["sentences"]
            return [[token["form"] for token in tree["tokens"]] for tree in trees] == forms

        def same_rows(body: bytes, count: int = sum(map(len, forms))) -> bool:
            result: str = json.loads(body)["result"]
            return sum(line.partition("\t")[0].isdecimal() for line in result.split("\n")) == count

        def has_sentences(body: bytes) -> bool:
            return len(json.loads(body)["sentences"]) > 0

        def has_steps(body: bytes, words: list[str] = forms[0][:30]) -> bool:
            return bool(json.loads(body)["words"] == words)

        requests += [
            (post_json("/api/parse", tokens=forms), same_forms),
            (post_json("/api/parse", conllu=conllu, pictures=["svg"]), same_forms),
            (post_json("/api/parse", text=text, probabilities=True), has_sentences),
            (post_form(data=conllu, tagger="", parser=""), same_rows),
            (post_json("/api/draw", conllu=conllu), has_sentences),
            (post_json("/api/steps", tokens=[forms[0][:30]]), has_steps),
            (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", lambda body: b"ok" in body),
            (b"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", lambda body: b"models" in body),
        ]
    return requests


def hostile_requests() -> dict[str, bytes]:
    """Return requests that are sent completely."""
    rows = "".join(f"{number}\tw\t_\tX\t_\t_\t{number - 1}\tdep\t_\t_\n" for number in range(1, 301)) + "\n"
    charset = "form-data; charset=punycode; boundary=b"
    form = b'--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n' + b"x-" * 50_000 + b"\r\n--b--\r\n"
    return {
        "spaces": post_form(data=" " * 1_000_000, tokenizer="presegmented"),
        "blank lines": post_json("/api/draw", conllu=" \n" * 500_000),
        "white space as text": post_json("/api/parse", text="\n " * 500_000),
        "many mistakes": post("/api/parse", b'{"tokens": [' + b"1," * 500_000 + b"1]}"),
        "long words": post_json("/api/parse", tokens=[[f"{random.random()}" * 50_000 for _ in range(3)]]),
        "long sentences": post_json("/api/parse", tokens=[["word"] * length for length in (380, 640, 1000)]),
        "too long": post_json("/api/parse", tokens=[["word"] * 1001]),
        "large drawing": post_json("/api/draw", conllu=rows * 40, pictures=["svg", "text", "tikz"]),
        "charset": post("/process", form, f"multipart/{charset}"),
        "escapes": post("/process", b"data=" + b"%" * 500_000, "application/x-www-form-urlencoded"),
        "deep": post("/api/parse", b"[" * 500_000),
        "too large": post("/api/parse", b" " * 4_300_000),
        "not HTTP": b"\x16\x03\x01\x00" * 100 + b"\r\n\r\n",
        "other site": b"GET /process?data= HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\n\r\n",
    }


def half_requests() -> dict[str, bytes]:
    """Return requests after which the client leaves."""
    return {
        "aborted upload": post_json("/api/parse", text="word " * 100_000)[:200_000],
        "aborted form": post_form(data="word " * 100_000)[:200_000],
        "half a header": b"GET /health HTTP/1.1\r\nHost: 127",
        "endless header": b"GET /health HTTP/1.1\r\nX: " + b"x" * 500_000,
        "left waiting": post_json("/api/parse", tokens=[["word"] * 300] * 60),
        "left drawing": post_json("/api/draw", conllu="1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 20_000),
    }


def run_good(port: int, requests: list[tuple[bytes, Check]], record: Record, stop: threading.Event, seed: int) -> None:
    """Send good requests until told to stop, one more after that, and record how they are answered."""
    choose = random.Random(seed)
    client = Client(port)
    while not stop.is_set():
        request, check = choose.choice(requests)
        start = time.perf_counter()
        sent = False
        try:
            client.connect().sendall(request)
            sent = True
            status, body = client.receive()
        except OSError as error:
            client.close()
            with record.lock:
                # A connection that was idle may be closed just as it is used, and during a shutdown none is accepted.
                if stop.is_set():
                    if sent:
                        record.unanswered.append(f"{error!r}")
                else:
                    record.errors.append(f"{request[:40]!r}: {error!r}")
            continue
        with record.lock:
            if status in BUSY:
                record.repeated += 1
            elif status != 200 or not check(body):
                record.errors.append(f"{request[:40]!r}: {status} {body[:200]!r}")
            else:
                record.latencies.append(time.perf_counter() - start)
        if status in BUSY:
            time.sleep(0.2)
    client.close()


def run_hostile(port: int, record: Record, stop: threading.Event, seed: int) -> None:
    choose = random.Random(seed)
    complete, half = hostile_requests(), half_requests()
    while not stop.is_set():
        name = choose.choice([*complete, *half])
        client = Client(port)
        try:
            if name in complete:
                outcome = str(client.ask(complete[name])[0])
            else:
                client.connect().sendall(half[name])
                time.sleep(choose.random())
                outcome = "left"
        except (OSError, IndexError, ValueError) as error:
            outcome = type(error).__name__
        client.close()
        with record.lock:
            record.hostile[f"{name}: {outcome}"] += 1
        time.sleep(choose.random() / 2)


def resident(process: int) -> float:
    """Return the resident memory of a process in megabytes: the median of SAMPLES seconds."""
    samples = []
    for _ in range(SAMPLES):
        time.sleep(1)
        status = Path(f"/proc/{process}/status").read_text()
        samples.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
    return statistics.median(samples)


def main() -> None:
    arguments = parse_arguments()
    command = [*LONGARC, "serve", str(arguments.model), "--port", "0", "--no-browser", "--max-seconds", "30"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(line for line in process.stderr if " is at http" in line)
        port = int(address.split(" is at ")[1].split("/")[2].rpartition(":")[2])
        messages: list[str] = []
        threading.Thread(target=lambda: messages.extend(process.stderr or []), daemon=True).start()
        record, stop = Record(), threading.Event()
        good = good_requests(arguments.input)
        hostile = max(1, arguments.clients // 8)
        threads = [
            threading.Thread(target=run_good, args=(port, good, record, stop, seed), daemon=True)
            for seed in range(arguments.clients - hostile)
        ] + [
            threading.Thread(target=run_hostile, args=(port, record, stop, seed), daemon=True)
            for seed in range(hostile)
        ]
        for thread in threads:
            thread.start()
        first = min(60.0, arguments.seconds / 4)
        time.sleep(max(0.0, first - SAMPLES))
        early = resident(process.pid)
        time.sleep(arguments.seconds - first - SAMPLES)
        late = resident(process.pid)
        answered, errors = len(record.latencies), list(record.errors)
        start = time.monotonic()
        stop.set()
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
        shutdown = time.monotonic() - start
        for thread in threads:
            thread.join(5)
    report(arguments, record, answered, errors, (first, early, late), shutdown, messages)


def report(
    arguments: argparse.Namespace,
    record: Record,
    answered: int,
    errors: list[str],
    memory: tuple[float, float, float],
    shutdown: float,
    messages: list[str],
) -> None:
    """Print the figures; exit with 1 if a target is missed."""
    first, early, late = memory
    latencies = sorted(record.latencies)
    figures = {
        "seconds": arguments.seconds,
        "clients": arguments.clients,
        "good requests answered": answered,
        "good requests repeated (429, 503)": record.repeated,
        "errors of good requests": len(errors),
        "hostile requests": sum(record.hostile.values()),
        "p50, ms": round(1000 * latencies[len(latencies) // 2], 1),
        "p99, ms": round(1000 * latencies[int(0.99 * (len(latencies) - 1))], 1),
        f"resident memory after {first:.0f} s, MB": round(early, 1),
        "resident memory at the end, MB": round(late, 1),
        "growth": round(late / early, 3),
        "seconds from SIGTERM to the end": round(shutdown, 2),
        "accepted requests without an answer": len(record.unanswered),
        "lines on stderr": len(messages),
    }
    for name, value in figures.items():
        print(f"{name:40} {value:,}")
    for name, count in sorted(record.hostile.items()):
        print(f"    {name:40} {count}")
    for line in [*errors[:5], *record.unanswered[:5], *messages[:20]]:
        print(line.rstrip(), file=sys.stderr)
    if errors or late > MAX_GROWTH * early or shutdown > MAX_SHUTDOWN or record.unanswered:
        sys.exit(1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("input", type=Path, help="sentences in CoNLL-U")
    parser.add_argument("--model", required=True, type=Path, help="a .longarc file")
    parser.add_argument("--seconds", type=float, default=600, help="duration (default: 600)")
    parser.add_argument("--clients", type=int, default=64, help="number of clients, 1 in 8 hostile (default: 64)")
    return parser.parse_args()


if __name__ == "__main__":
    os.environ.pop("LONGARC_TOKEN", None)
    main()
