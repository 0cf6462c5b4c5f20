"""How a server bears many clients at once: `longarc serve` beside `longarc parse` on the same input, in turn.

The input is cut into requests of some sentences each; the clients, threads of this process with a connection each, send
one after the other to `/process` as UDPipe's clients do, and all answers together must be what the command line writes
(with a 32-bit model; the scores of an 8-bit one depend a little on which sentences share a batch). What is measured of
the command line is without its start-up, which is that of parsing one sentence: the server has its start-up behind it.
The clients take their share of the processor from the server; requests are written and answers are read outside the
measured time. Errors must be 0, and the ratio of the throughputs at least 0.8: the median of the rounds' ratios, since
a machine that others use too changes its speed from round to round.

    python bench/serve_load.py --model my-model.longarc test.conllu
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from urllib.parse import urlencode

LONGARC = [sys.executable, "-c", "from longarc.cli.main import run; run()"]
ABOUT = re.compile(r"\A(# (generator|udpipe_model\w*) = .*\n)+")
"""What the server says of itself before the first sentence."""


@dataclass
class Load:
    """What the clients saw in one round."""

    seconds: float
    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    answers: dict[int, str] = field(default_factory=dict)


def main() -> None:
    arguments = parse_arguments()
    from longarc import read_all
    from longarc.data.conllx import to_conllu

    treebank = read_all(arguments.input, encoding=arguments.encoding)
    sentences = [to_conllu(sentence) for sentence in treebank] * arguments.repeat
    words = sum(map(len, sentences))
    size = arguments.sentences
    requests = [
        "".join(sentence.to_conll() for sentence in sentences[start : start + size])
        for start in range(0, len(sentences), size)
    ]
    parsing: list[float] = []
    loads: list[Load] = []
    with tempfile.TemporaryDirectory(prefix="longarc-serve-load-") as folder, serving(arguments) as port:
        whole, one, output = (Path(folder) / name for name in ("whole.conllu", "one.conllu", "out.conllu"))
        whole.write_text("".join(requests), "utf-8")
        one.write_text(sentences[0].to_conll(), "utf-8")
        run_load(port, requests[:32], arguments.clients)  # warms up
        for number in range(1, arguments.rounds + 1):
            start_up = time_parse(arguments, one, output)
            parsing.append(time_parse(arguments, whole, output) - start_up)
            loads.append(run_load(port, requests, arguments.clients))
            note = f"parse {parsing[-1]:.2f} s (start-up {start_up:.2f} s), serve {loads[-1].seconds:.2f} s"
            print(f"round {number}: {note}", file=sys.stderr)
        expected = output.read_text("utf-8")
    same = min(share_of_same_lines("".join(load.answers[n] for n in sorted(load.answers)), expected) for load in loads)
    report(arguments, len(requests), words, parsing, loads, same)


def report(
    arguments: argparse.Namespace, requests: int, words: int, parsing: list[float], loads: list[Load], same: float
) -> None:
    """Prints the figures: medians over the rounds, latencies over all requests of all rounds."""
    import longarc

    by_parse = words / statistics.median(parsing)
    by_serve = words / statistics.median(load.seconds for load in loads)
    ratio = statistics.median(alone / load.seconds for alone, load in zip(parsing, loads, strict=True))
    latencies = sorted(latency for load in loads for latency in load.latencies)
    errors = [error for load in loads for error in load.errors]
    figures = {
        "words": words,
        "requests": requests,
        "clients": arguments.clients,
        "rounds": arguments.rounds,
        "errors": len(errors),
        "lines as of the command line, %": round(100 * same, 2),
        "longarc parse, words/s": round(by_parse),
        "longarc serve, words/s": round(by_serve),
        "ratio": round(ratio, 3),
        "p50, ms": round(1000 * latencies[len(latencies) // 2], 1),
        "p99, ms": round(1000 * latencies[min(len(latencies) - 1, int(0.99 * len(latencies)))], 1),
    }
    print(f"{arguments.input.name}: {arguments.sentences} sentences a request, {arguments.threads} threads,")
    print(f"{os.cpu_count()} cores; medians of {arguments.rounds} rounds; Python {platform.python_version()}\n")
    for name, value in figures.items():
        print(f"{name:32} {value:,}")
    for error in errors[:5]:
        print(error, file=sys.stderr)
    if errors or same < (1 if longarc.load(arguments.model).card["precision"] == "float32" else 0.97):
        sys.exit(1)


def share_of_same_lines(answer: str, expected: str) -> float:
    """1 where the two are the same."""
    pairs = list(zip_longest(answer.split("\n"), expected.split("\n")))
    return sum(1 for own, other in pairs if own == other) / len(pairs)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("input", type=Path, help="sentences in CoNLL-U or CoNLL-X")
    parser.add_argument("--model", required=True, type=Path, help="a .longarc file")
    parser.add_argument("--encoding", default="utf-8", help="of the input (default: utf-8)")
    parser.add_argument("--clients", type=int, default=16, help="at once (default: 16)")
    parser.add_argument("--sentences", type=int, default=10, help="in a request (default: 10)")
    parser.add_argument("--repeat", type=int, default=5, help="the input comes so many times (default: 5)")
    parser.add_argument("--rounds", type=int, default=5, help="of both, in turn (default: 5)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of both (default: all cores)")
    return parser.parse_args()


@contextmanager
def serving(arguments: argparse.Namespace) -> Iterator[int]:
    """A server; gives its port."""
    command = [*LONGARC, "serve", str(arguments.model), "--port", "0", "--no-browser"]
    command += ["--threads", str(arguments.threads), "--max-seconds", "600"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next((line for line in process.stderr if " is at http" in line), None)
        if line is None:
            sys.exit("the server does not start")
        yield int(line.split(" is at ")[1].split("/")[2].rpartition(":")[2])
        process.terminate()


def time_parse(arguments: argparse.Namespace, source: Path, output: Path) -> float:
    """The seconds that the command line takes."""
    begun = time.perf_counter()
    command = [*LONGARC, "parse", str(source), "-m", str(arguments.model), "-o", str(output)]
    subprocess.run([*command, "--threads", str(arguments.threads)], check=True)
    return time.perf_counter() - begun


def run_load(port: int, requests: list[str], clients: int) -> Load:
    """Sends all requests by so many clients at once."""
    load = Load(0.0)
    waiting = list(enumerate(map(http_request, requests)))[::-1]
    contents: dict[int, bytes] = {}

    def client() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while waiting:
                try:
                    number, request = waiting.pop()
                except IndexError:  # someone else was faster
                    return
                begun = time.perf_counter()
                try:
                    connection.sendall(request)
                    contents[number] = receive_answer(connection)
                except (OSError, ValueError) as error:
                    load.errors.append(f"request {number}: {error}")
                    return
                load.latencies.append(time.perf_counter() - begun)

    workers = [threading.Thread(target=client) for _ in range(clients)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    load.seconds = time.perf_counter() - begun
    for number, content in contents.items():
        load.answers[number] = ABOUT.sub("", json.loads(content)["result"])
    return load


def http_request(text: str) -> bytes:
    """What a client sends, as a whole."""
    body = urlencode({"data": text, "tagger": "", "parser": ""})
    head = ["POST /process HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/x-www-form-urlencoded"]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", body]).encode()


def receive_answer(connection: socket.socket) -> bytes:
    """The body of an answer; with little work, which would be taken from the server."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += receive(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    if length is None or not head.startswith(b"HTTP/1.1 200"):
        raise ValueError(f"answered {head[:200]!r}")
    while len(body) < int(length[1]):
        body += receive(connection)
    return body


def receive(connection: socket.socket) -> bytes:
    if not (part := connection.recv(1 << 20)):
        raise OSError("the server closed the connection")
    return part


if __name__ == "__main__":
    main()
