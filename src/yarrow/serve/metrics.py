"""Metrics for Prometheus: requests, the writer, and how each model does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

if TYPE_CHECKING:
    from yarrow.serve.service import Service

_MOST_MODELS = 500  # with figures of their own
_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metrics:
    """The figures of one service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "yarrow_requests", "Requests.", ["endpoint", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "yarrow_request_seconds", "Time of a request.", ["endpoint"],
            buckets=_BUCKETS, registry=self.registry,
        )  # fmt: skip
        self._predicted = Counter("yarrow_predicted_rows", "Rows.", registry=self.registry)
        self._learned = Counter("yarrow_learned_rows", "Rows.", registry=self.registry)
        self.registry.register(self)
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._children.get((endpoint, status))
        if found is None:
            found = self._requests.labels(endpoint, str(status)), self._seconds.labels(endpoint)
            self._children[endpoint, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def predicted(self, rows: int) -> None:
        """Count rows that were predicted."""
        self._predicted.inc(rows)

    def learned(self, rows: int) -> None:
        """Count rows that were learned."""
        self._learned.inc(rows)

    def page(self) -> tuple[bytes, str]:
        """What Prometheus reads, and its type."""
        return generate_latest(self.registry), "text/plain; version=0.0.4; charset=utf-8"

    def collect(self) -> Iterator[Metric]:
        """Figures that are looked up when they are asked for."""
        service = self.service
        plain = {
            "models": ("Models.", len(service.models)),
            "events": ("The number of the last event.", service.log.committed),
            "memory_bytes": ("What models take in memory.", service.used_memory),
            "writer_healthy": ("Whether the log can be written.", not service.writer.failure),
            "waiting_bytes": ("What waits for the writer.", service.writer.waiting),
        }
        for name, (text, value) in plain.items():
            yield GaugeMetricFamily(f"yarrow_{name}", text, value=float(value))
        rows = GaugeMetricFamily("yarrow_rows", "Rows learned.", labels=["model", "version"])
        loss = GaugeMetricFamily(
            "yarrow_loss", "Mistakes, or squared errors, before learning.",
            labels=["model", "version"],
        )  # fmt: skip
        for model in list(service.models.values())[:_MOST_MODELS]:
            for version in list(model.versions.values()):
                labels = [model.name, str(version.number)]
                rows.add_metric(labels, version.rows)
                loss.add_metric(labels, version.loss)
        yield rows
        yield loss
