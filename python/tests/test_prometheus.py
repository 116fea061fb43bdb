"""Metrics, as Prometheus reads them."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from rules import in_memory, per_ip

from labkit_ratelimit import Rule
from labkit_ratelimit.prometheus import Collector

PREFIX = "gitlab_labkit_rate_limiter_"


def test_shows_the_five_families_as_they_stand_when_it_is_asked() -> None:
    skip = Rule(name="ours", match={"user": "root"}, action="skip")
    limiter = in_memory(skip, per_ip(1))
    registry = CollectorRegistry()
    registry.register(Collector(limiter))
    empty = generate_latest(registry).decode()
    assert [line for line in empty.splitlines() if line.startswith("# TYPE ")] == [
        f"# TYPE {PREFIX}checks_total counter",
        f"# TYPE {PREFIX}rule_evaluations_total counter",
        f"# TYPE {PREFIX}peeks_total counter",
        f"# TYPE {PREFIX}limit gauge",
        f"# TYPE {PREFIX}period_seconds gauge",
    ]

    for _ in range(3):
        limiter.check({"ip": "1"})
    limiter.check({"ip": "1", "user": "root"})
    limiter.peek({"ip": "1"})
    shown = {line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")}
    assert shown == {
        PREFIX + text
        for text in (
            'checks_total{action="allow",error="false",matched="true",rate_limiter="tested"} 2.0',
            'checks_total{action="block",error="false",matched="true",rate_limiter="tested"} 2.0',
            'rule_evaluations_total{action="limit",rate_limiter="tested",result="allow",rule="per_ip"} 1.0',
            'rule_evaluations_total{action="limit",rate_limiter="tested",result="block",rule="per_ip"} 2.0',
            'rule_evaluations_total{action="skip",rate_limiter="tested",result="skip",rule="ours"} 1.0',
            'peeks_total{error="false",rate_limiter="tested"} 1.0',
            'limit{rate_limiter="tested",rule="per_ip"} 1.0',
            'period_seconds{rate_limiter="tested",rule="per_ip"} 60.0',
        )
    }


def test_limiters_of_one_name_are_one() -> None:
    one, other = in_memory(per_ip(3)), in_memory(per_ip(5))
    for limiter in (one, other, other):
        limiter.check({"ip": "1"})
    registry = CollectorRegistry()
    registry.register(Collector(one, other))
    labels = {"rate_limiter": "tested", "action": "allow", "matched": "true", "error": "false"}
    assert registry.get_sample_value(f"{PREFIX}checks_total", labels) == 3
    assert registry.get_sample_value(f"{PREFIX}limit", {"rate_limiter": "tested", "rule": "per_ip"}) == 5


def test_a_registry_takes_the_families_once() -> None:
    registry = CollectorRegistry()
    registry.register(Collector(in_memory(per_ip())))
    with pytest.raises(ValueError, match="Duplicated"):
        registry.register(Collector(in_memory(per_ip())))
