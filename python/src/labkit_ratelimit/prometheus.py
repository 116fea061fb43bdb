"""Metrics for Prometheus, by prometheus_client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import registry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from labkit_ratelimit.limiter import Limiter

__all__ = ["Collector"]

_PREFIX = "gitlab_labkit_rate_limiter_"
_COUNTERS = {
    "checks_total": ("Checks", ("rate_limiter", "action", "matched", "error")),
    "rule_evaluations_total": ("Rules that were evaluated", ("rate_limiter", "rule", "action", "result")),
    "peeks_total": ("Peeks", ("rate_limiter", "error")),
}
_GAUGES = {
    "limit": ("The limit of a rule, as it was last", ("rate_limiter", "rule")),
    "period_seconds": ("The window of a rule, as it was last", ("rate_limiter", "rule")),
}


class Collector(registry.Collector):
    """Reads the metrics of limiters when Prometheus asks; between, it costs nothing.

    Two limiters of one name are one: their counters are added, and of gauges the largest is shown. It speaks of its own
    process: of several workers each is scraped by itself; prometheus_client's multiprocess mode has no collectors.

    >>> REGISTRY.register(Collector(limiter))
    """

    def __init__(self, *limiters: Limiter) -> None:
        """Take the limiters whose metrics are shown."""
        self._limiters = limiters

    def describe(self) -> Iterator[Metric]:
        """Name the five families, of which no other collector of a registry may have one."""
        yield from self._families().values()

    def collect(self) -> Iterator[Metric]:
        """Give the five families, as they stand."""
        families = self._families()
        values: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        for limiter in self._limiters:
            for sample in limiter.metrics():
                series = sample.name, tuple(sorted(sample.labels.items()))
                before = values.get(series)
                if before is None:
                    values[series] = sample.value
                else:
                    values[series] = before + sample.value if sample.kind == "counter" else max(before, sample.value)
        for (name, labels), value in values.items():
            families[name].add_sample(name, dict(labels), value)
        yield from families.values()

    def _families(self) -> dict[str, Metric]:
        counters = {
            _PREFIX + name: CounterMetricFamily(_PREFIX + name, text, labels=labels)
            for name, (text, labels) in _COUNTERS.items()
        }
        gauges = {
            _PREFIX + name: GaugeMetricFamily(_PREFIX + name, text, labels=labels)
            for name, (text, labels) in _GAUGES.items()
        }
        return {**counters, **gauges}
