"""Requests and a slow parser for the server tests."""

from __future__ import annotations

import json
import threading
import time
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.policy import HTTP
from typing import Any
from urllib.request import Request, urlopen

from longarc import Sentence
from longarc.transitions import get_system

WORDS = ["the", "dog", "sees", "the", "cat", "today", "which", "sleeps", "."]

HEADS = [2, 3, 0, 5, 3, 3, 8, 5, 3]

CONLLU = "".join(f"{number}\t{word}\t_\tX\t_\t_\t_\t_\t_\tm={number}\n" for number, word in enumerate(WORDS, 1)) + "\n"


def columns(conllu: str, column: int) -> list[str]:
    return [line.split("\t")[column] for line in conllu.split("\n") if line[:1].isdigit()]


def udpipe_client(address: str, method: str, fields: dict[str, str]) -> dict[str, Any]:
    """What UDPipe's own client sends: a form that the standard library's email package writes."""
    message = MIMEMultipart("form-data", policy=HTTP)
    for name, value in fields.items():
        payload = MIMENonMultipart("text", "plain")
        payload.add_header("Content-Disposition", f'form-data; name="{name}"')
        payload.add_header("Content-Transfer-Encoding", "8bit")
        payload.set_payload(value, charset="utf-8")
        message.attach(payload)
    data = message.as_bytes().split(b"\r\n\r\n", maxsplit=1)[1] if fields else None
    headers = {"Content-Type": message["Content-Type"]} if fields else {}
    with urlopen(Request(f"{address}{method}", data, headers)) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


class SlowParser:
    """Stands for a parser: takes its time, and notes what it was given together."""

    def __init__(self, seconds: float = 0.05) -> None:
        self.seconds = seconds
        self.rounds: list[int] = []
        self.card: dict[str, str] = {}
        self.system = get_system("nl-covington")
        self.threads = 2
        self.begun = threading.Event()

    def parse_batch(self, sentences: list[Sentence], **options: bool) -> list[Sentence]:
        self.rounds.append(len(sentences))
        self.begun.set()
        time.sleep(self.seconds)
        if any(sentence.forms == ["bad"] for sentence in sentences):
            raise ZeroDivisionError
        return sentences
