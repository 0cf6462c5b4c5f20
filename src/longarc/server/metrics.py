"""What the server counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The counters of one application; each has a registry of its own, so that two can live in one process."""

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
        self.requests = Counter("longarc_requests", "Requests answered", ["route", "status"], registry=own)
        self.seconds = Histogram(
            "longarc_request_seconds",
            "From a request's arrival to its answer",
            ["route"],
            buckets=SECONDS,
            registry=own,
        )
        self.sentences = Counter("longarc_sentences", "Sentences parsed", ["model"], registry=own)
        self.words = Counter("longarc_words", "Words parsed", ["model"], registry=own)
        self.batch_sentences = Histogram(
            "longarc_batch_sentences", "Sentences parsed together", buckets=SIZES, registry=own
        )
        self.batch_requests = Histogram("longarc_batch_requests", "Requests in a batch", buckets=SIZES, registry=own)
        self.queue_requests = Gauge("longarc_queue_requests", "Requests that wait for the parser", registry=own)
        self.queue_words = Gauge("longarc_queue_words", "Words that wait for the parser", registry=own)

    def text(self) -> bytes:
        """All of it in Prometheus' own format."""
        return generate_latest(self.registry)
