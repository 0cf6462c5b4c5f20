"""Server metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The metrics of one application, in a registry of their own so that two applications can share a process."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter("longarc_requests", "Requests answered", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            "longarc_request_seconds", "Time to answer a request", ["route"], buckets=SECONDS, registry=registry
        )
        self.sentences = Counter("longarc_sentences", "Sentences parsed", ["model"], registry=registry)
        self.words = Counter("longarc_words", "Words parsed", ["model"], registry=registry)
        self.batch_sentences = Histogram(
            "longarc_batch_sentences", "Sentences per batch", buckets=SIZES, registry=registry
        )
        self.batch_requests = Histogram(
            "longarc_batch_requests", "Requests per batch", buckets=SIZES, registry=registry
        )
        self.queue_requests = Gauge("longarc_queue_requests", "Requests waiting for the parser", registry=registry)
        self.queue_words = Gauge("longarc_queue_words", "Words waiting for the parser", registry=registry)

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry)
