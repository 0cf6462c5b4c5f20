"""Compare the throughput of `longarc serve` under many clients with that of `longarc parse` on the same input.

Each client is a connection that sends requests of a few sentences to `/process`, as UDPipe clients do. The clients use
the same cores as the server; encoding requests and decoding answers is not timed. The time to start
`longarc parse`, measured with one sentence, is subtracted. The two alternate, and the ratio is the median over rounds,
because the speed of a shared machine changes with time. The target is a ratio of at least 0.8 without errors.

The answers must equal the output of the command line. With an 8-bit model a few lines may differ, because its scores
depend slightly on which sentences share a batch.

    python bench/serve_load.py --model MODEL.longarc TEST.conllu
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from urllib.parse import urlencode

LONGARC = [sys.executable, "-c", "from longarc.cli.main import run; run()"]
HEADER = re.compile(r"\A(# (generator|udpipe_model\w*) = .*\n)+")
"""The comments that the server adds before the first sentence."""


@dataclass
class Load:
    """The measurements of the clients in one round."""

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
    with tempfile.TemporaryDirectory(prefix="longarc-serve-load-") as folder, start_server(arguments) as port:
        source, one, output = (Path(folder) / name for name in ("input.conllu", "one.conllu", "out.conllu"))
        source.write_text("".join(requests), "utf-8")
        one.write_text(sentences[0].to_conll(), "utf-8")
        run_load(port, requests[:32], arguments.clients)  # warm up
        for number in range(1, arguments.rounds + 1):
            start_up = time_parse(arguments, one, output)
            parsing.append(time_parse(arguments, source, output) - start_up)
            loads.append(run_load(port, requests, arguments.clients))
            note = f"parse {parsing[-1]:.2f} s (start-up {start_up:.2f} s), serve {loads[-1].seconds:.2f} s"
            print(f"round {number}: {note}", file=sys.stderr)
        expected = output.read_text("utf-8")
    same = min(share_of_same_lines("".join(load.answers[n] for n in sorted(load.answers)), expected) for load in loads)
    report(arguments, len(requests), words, parsing, loads, same)


def report(
    arguments: argparse.Namespace, requests: int, words: int, parsing: list[float], loads: list[Load], same: float
) -> None:
    """Print throughputs (medians over rounds) and latencies (over all requests); exit with 1 if answers are wrong."""
    import longarc

    parse_speed = words / statistics.median(parsing)
    serve_speed = words / statistics.median(load.seconds for load in loads)
    ratio = statistics.median(seconds / load.seconds for seconds, load in zip(parsing, loads, strict=True))
    latencies = sorted(latency for load in loads for latency in load.latencies)
    errors = [error for load in loads for error in load.errors]
    figures = {
        "words": words,
        "requests": requests,
        "clients": arguments.clients,
        "rounds": arguments.rounds,
        "errors": len(errors),
        "lines equal to longarc parse, %": round(100 * same, 2),
        "longarc parse, words/s": round(parse_speed),
        "longarc serve, words/s": round(serve_speed),
        "ratio": round(ratio, 3),
        "p50, ms": round(1000 * latencies[len(latencies) // 2], 1),
        "p99, ms": round(1000 * latencies[min(len(latencies) - 1, int(0.99 * len(latencies)))], 1),
    }
    print(f"{arguments.input.name}: {arguments.sentences} sentences per request, {arguments.threads} threads,")
    print(f"{os.cpu_count()} cores; medians of {arguments.rounds} rounds; Python {platform.python_version()}\n")
    for name, value in figures.items():
        print(f"{name:32} {value:,}")
    for error in errors[:5]:
        print(error, file=sys.stderr)
    if errors or same < (1 if longarc.load(arguments.model).card["precision"] == "float32" else 0.97):
        sys.exit(1)


def share_of_same_lines(answer: str, expected: str) -> float:
    """Return the share of equal lines; 1 if the texts are equal."""
    pairs = list(zip_longest(answer.split("\n"), expected.split("\n")))
    return sum(1 for line, expected_line in pairs if line == expected_line) / len(pairs)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("input", type=Path, help="sentences in CoNLL-U or CoNLL-X")
    parser.add_argument("--model", required=True, type=Path, help="a .longarc file")
    parser.add_argument("--encoding", default="utf-8", help="encoding of the input (default: utf-8)")
    parser.add_argument("--clients", type=int, default=16, help="number of concurrent clients (default: 16)")
    parser.add_argument("--sentences", type=int, default=10, help="sentences per request (default: 10)")
    parser.add_argument("--repeat", type=int, default=10, help="copies of the input to send (default: 10)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds, alternating (default: 5)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of both (default: all cores)")
    return parser.parse_args()


@contextmanager
def start_server(arguments: argparse.Namespace) -> Iterator[int]:
    """Run a server; yield its port."""
    command = [*LONGARC, "serve", str(arguments.model), "--port", "0", "--no-browser"]
    command += ["--threads", str(arguments.threads), "--max-seconds", "600"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next((line for line in process.stderr if " is at http" in line), None)
        if line is None:
            sys.exit("the server did not start")
        yield int(line.split(" is at ")[1].split("/")[2].rpartition(":")[2])
        process.terminate()


def time_parse(arguments: argparse.Namespace, source: Path, output: Path) -> float:
    """Return the time of `longarc parse` in seconds."""
    start = time.perf_counter()
    command = [*LONGARC, "parse", str(source), "-m", str(arguments.model), "-o", str(output)]
    subprocess.run([*command, "--threads", str(arguments.threads)], check=True)
    return time.perf_counter() - start


def run_load(port: int, requests: list[str], clients: int) -> Load:
    """Send all requests from concurrent clients; one thread serves all their connections."""
    load = Load(0.0)
    waiting = list(enumerate(map(http_request, requests)))[::-1]
    contents: dict[int, bytes] = {}
    connections = [socket.create_connection(("127.0.0.1", port), timeout=600) for _ in range(clients)]
    active: dict[int, Exchange] = {}
    poll = select.poll()
    start = time.perf_counter()
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(connection, select.POLLIN)
        send_next(connection, waiting, active)
    while active:
        for descriptor, _ in poll.poll():
            exchange = active[descriptor]
            try:
                is_complete = exchange.receive()
            except (OSError, ValueError) as error:
                load.errors.append(f"request {exchange.number}: {error}")
                poll.unregister(descriptor)
                del active[descriptor]
                continue
            if is_complete:
                load.latencies.append(time.perf_counter() - exchange.start)
                contents[exchange.number] = exchange.body
                del active[descriptor]
                send_next(exchange.connection, waiting, active)
    load.seconds = time.perf_counter() - start
    for connection in connections:
        connection.close()
    for number, content in contents.items():
        load.answers[number] = HEADER.sub("", json.loads(content)["result"])
    return load


@dataclass
class Exchange:
    """A request that was sent on a connection, and what has arrived of its answer."""

    connection: socket.socket
    number: int
    start: float
    received: bytes = b""
    body_start: int = 0
    """Where the body begins; 0 until the head is complete"""
    end: int = 0

    def receive(self) -> bool:
        """Read what has arrived; return whether the answer is complete."""
        if not (part := self.connection.recv(1 << 20)):
            raise OSError("the server closed the connection")
        self.received += part
        if not self.body_start and b"\r\n\r\n" in self.received:
            head = self.received.partition(b"\r\n\r\n")[0]
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            if length is None or not head.startswith(b"HTTP/1.1 200"):
                raise ValueError(f"answered {head[:200]!r}")
            self.body_start = len(head) + 4
            self.end = self.body_start + int(length[1])
        return self.body_start > 0 and len(self.received) >= self.end

    @property
    def body(self) -> bytes:
        return self.received[self.body_start :]


def send_next(connection: socket.socket, waiting: list[tuple[int, bytes]], active: dict[int, Exchange]) -> None:
    """Send the next request, if there is one left."""
    if waiting:
        number, request = waiting.pop()
        active[connection.fileno()] = Exchange(connection, number, time.perf_counter())
        connection.sendall(request)


def http_request(text: str) -> bytes:
    """Return a complete HTTP request."""
    body = urlencode({"data": text, "tagger": "", "parser": ""})
    head = ["POST /process HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/x-www-form-urlencoded"]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", body]).encode()


if __name__ == "__main__":
    main()
