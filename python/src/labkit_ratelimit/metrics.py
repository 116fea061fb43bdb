"""Metrics of a limiter, as they stand: counters and gauges that the core keeps."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Sample"]


class Sample(NamedTuple):
    """One series and its value."""

    name: str
    """`gitlab_labkit_rate_limiter_checks_total`, say."""
    kind: Literal["counter", "gauge"]
    """A gauge of several processes is the largest of theirs."""
    labels: dict[str, str]
    value: int

    @property
    def series(self) -> str:
        """The series as Prometheus' text format writes it, without its value; labels are sorted."""
        labels = ",".join(f'{name}="{_escaped(text)}"' for name, text in sorted(self.labels.items()))
        return f"{self.name}{{{labels}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
