"""Draws what each algorithm lets through, from real decisions.

In: a folder to draw into. Contract: the same library draws the same bytes; ci/check_guides.py compares them with what is checked in.
LABKIT_RATELIMIT names the command, which decides by `replay`; LABKIT_SPEC_RUNNER_RUST the runner of spec-tests, for costs: logs have none.
"""

import html
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

START = 1_800_000_000
WIDTH, LEFT, RIGHT, TOP, TALL, GAP = 760, 44, 24, 46, 84, 74
"""The picture's width; within it the room beside the plots, above the first, their height, and what is between two."""
STYLE = """
svg{color-scheme:light dark;--ink:#1f2328;--faint:#57606a;--line:#d8dee4;--paper:#ffffff;--go:#1a7f64;--stop:#cf222e}
@media (prefers-color-scheme:dark){svg{--ink:#f0f6fc;--faint:#9198a1;--line:#30363d;--paper:#0d1117;--go:#3fb98f;--stop:#ff7b72}}
text{font:12px system-ui,sans-serif;fill:var(--faint)}
.name{font-weight:600;fill:var(--ink)}
.paper{fill:var(--paper)}
.line{stroke:var(--line)}
.mark{stroke:var(--faint);stroke-dasharray:3 3}
.go{fill:var(--go)}
.stop{fill:url(#hatch);stroke:var(--stop);stroke-width:1}
.hatch{stroke:var(--stop);stroke-width:2}
"""

Call = tuple[float, float, str]
"""When, in seconds; what it costs; and the value of `page`."""
Rule = dict[str, object]


@dataclass(frozen=True)
class Panel:
    """One rule, and the calls that it meets."""

    title: str
    rule: Rule
    calls: list[Call]
    marks: dict[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """Panels on one axis."""

    name: str
    title: str
    seconds: int
    bar: int
    panels: list[Panel]


def every(step: float, first: float, last: float, page: str = "") -> list[Call]:
    """Out: a call each `step` seconds, from `first` to before `last`."""
    return [(first + at * step, 1, page) for at in range(round((last - first) / step))]


STEADY = every(3, 0, 180)
EDGE = [*every(30, 0, 30), *every(1, 50, 60), *every(1, 60, 70), *every(30, 150, 180)]
TEN: Rule = {"limit": 10, "period_s": 60}
WINDOWS = {60.0: "window ends", 120.0: "window ends"}
SAME = [(float(at), 1.0, f"page {at // 4 % 4}") for at in range(0, 120, 4)]
OTHER = [(float(at), 1.0, f"page {at}") for at in range(0, 120, 4)]
TWENTY: Rule = {"limit": 20, "period_s": 60}
MIXED = [(float(at * 4), 5.0 if at % 5 == 2 else 1.0, "") for at in range(30)]

PICTURES = [
    Picture("fixed-window", "A fixed window: 10 in 60 seconds", 180, 3, [
        Panel("A call every 3 s: 10 pass, then none until the window ends", TEN, STEADY, WINDOWS),
        Panel("A rush across the edge: 19 pass within 20 s", TEN, EDGE, {60.0: "window ends"}),
    ]),
    Picture("gcra", "GCRA: 10 in 60 seconds, at most 3 at once", 180, 3, [
        Panel("A call every 3 s: 3 of the bucket, then one every 6 s", TEN | {"algorithm": "gcra", "burst": 3}, STEADY),
        Panel("The same rush: there is no edge to cross", TEN | {"algorithm": "gcra", "burst": 3}, EDGE),
    ]),
    Picture("ban", "A ban: 5 in 10 seconds, and 30 seconds for whoever crosses that", 90, 2, [
        Panel("Without a ban", {"limit": 5, "period_s": 10}, [*every(1, 0, 24), *every(4, 24, 90)]),
        Panel("With one: quiet callers wait for its end too", {"limit": 5, "period_s": 10, "ban_for_s": 30}, [*every(1, 0, 24), *every(4, 24, 90)],
              {5.0: "ban", 35.0: "ban ends"}),
    ]),
    Picture("distinct", "Distinct values: 5 pages in 60 seconds", 120, 4, [
        Panel("The same 4 pages again and again: all pass", {"count_distinct": "page", "limit": 5, "period_s": 60}, SAME),
        Panel("Another page each time: 5 pass in a window", {"count_distinct": "page", "limit": 5, "period_s": 60}, OTHER, {60.0: "window ends"}),
    ]),
    Picture("cost", "Costs: 20 in 60 seconds, each fifth call costs 5", 120, 4, [
        Panel("A fixed window: what is refused is counted too", TWENTY, MIXED, {60.0: "window ends"}),
        Panel("GCRA, 6 at once: a dear call is refused, cheap ones behind it pass", TWENTY | {"algorithm": "gcra", "burst": 6}, MIXED),
    ]),
]  # fmt: skip


def decided(panel: Panel) -> list[bool]:
    """Out: for each call, whether it passes."""
    return by_runner(panel) if any(cost != 1 for _, cost, _ in panel.calls) else by_replay(panel)


def by_replay(panel: Panel) -> list[bool]:
    """Calls of cost 1: an access log, and a file of rules. JSON is YAML."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, rules, decisions = folder / "log.jsonl", folder / "rate_limits.yaml", folder / "decisions.jsonl"
        log.write_text("".join(json.dumps({"time": START + at, "page": page}) + "\n" for at, _, page in panel.calls), encoding="utf-8")
        rules.write_text(json.dumps({"rate_limits": {"picture": [{"name": "drawn", "action": "limit"} | panel.rule]}}), encoding="utf-8")
        command = [os.environ["LABKIT_RATELIMIT"], "replay", "--rules", str(rules), "--log-format", "json", "--decisions", str(decisions), str(log)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = decisions.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["action"] == "allow" for line in lines]


def by_runner(panel: Panel) -> list[bool]:
    """Calls of any cost: a scenario without expectations."""
    steps: list[dict[str, object]] = []
    clock = 0.0
    for at, cost, _ in panel.calls:
        steps += [{"advance": at - clock}] if at > clock else []
        steps.append({"check": {}, "cost": cost})
        clock = at
    scenario = {"name": "picture", "why": "drawn", "limiter": "picture", "rules": [{"name": "drawn"} | panel.rule], "steps": steps}
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "scenario.json"
        file.write_text(json.dumps([scenario]), encoding="utf-8")
        command = [os.environ["LABKIT_SPEC_RUNNER_RUST"], "--store", "memory", str(file)]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [json.loads(line) for line in said.splitlines()]
    return [line["actual"]["action"] == "allow" for line in lines if line.get("op") == "check"]


def drawn(picture: Picture) -> str:
    """Out: the picture, as SVG."""
    height = TOP + len(picture.panels) * (TALL + GAP) - 14
    parts: list[str] = []
    told: list[str] = []
    for number, panel in enumerate(picture.panels):
        passed = decided(panel)
        told.append(f"{panel.title}. {sum(passed)} of {len(passed)} calls pass.")
        parts += plot(picture, panel, passed, TOP + number * (TALL + GAP) + 18)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title desc">'
    hatch = '<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse"><path class="hatch" d="M0,5 L5,0"/></pattern>'
    legend = [
        f'<text class="name" x="{LEFT}" y="20">{html.escape(picture.title)}</text>',
        f'<rect class="go" x="{WIDTH - 196}" y="10" width="12" height="12"/><text x="{WIDTH - 178}" y="20">passes</text>',
        f'<rect class="stop" x="{WIDTH - 116}" y="10" width="12" height="12"/><text x="{WIDTH - 98}" y="20">is refused</text>',
    ]
    title, desc = html.escape(picture.title), html.escape(" ".join(told))
    lines = [head, f'<title id="title">{title}</title>', f'<desc id="desc">{desc}</desc>', f"<style>{STYLE}</style>", f"<defs>{hatch}</defs>"]
    return "\n".join([*lines, f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>', *legend, *parts, "</svg>", ""])


def plot(picture: Picture, panel: Panel, passed: list[bool], top: int) -> Iterable[str]:
    """Out: a panel: bars of calls over time, those that pass below those that are refused, each by its cost."""
    bars = [[0.0, 0.0] for _ in range(picture.seconds // picture.bar)]
    for (at, cost, _), passes in zip(panel.calls, passed, strict=True):
        bars[int(at // picture.bar)][0 if passes else 1] += cost
    wide, most, floor = (WIDTH - LEFT - RIGHT) / picture.seconds, max(sum(bar) for bar in bars), top + TALL
    yield f'<text class="name" x="{LEFT}" y="{top - 8}">{html.escape(panel.title)}</text>'
    for high in (0.0, most / 2, most) if most % 2 == 0 else (0.0, most):
        y = floor - TALL * high / most
        yield f'<path class="line" d="M{LEFT},{y:g} H{WIDTH - RIGHT}"/><text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{high:g}</text>'
    for at in range(0, picture.seconds + 1, 30):
        yield f'<text x="{LEFT + at * wide:.1f}" y="{floor + 18}" text-anchor="middle">{at} s</text>'
    for place, (go, stop) in enumerate(bars):
        x, y, width = LEFT + place * picture.bar * wide + 1, float(floor), picture.bar * wide - 2
        for kind, many in (("go", go), ("stop", stop)):
            if many:
                y -= TALL * many / most
                yield f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{TALL * many / most:.1f}"/>'
    for at, text in panel.marks.items():
        x = LEFT + at * wide
        yield f'<path class="mark" d="M{x:.1f},{top - 4} V{floor}"/><text x="{x + 4:.1f}" y="{floor + 32}">{html.escape(text)}</text>'


def main() -> None:
    """Draws all of them."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        (folder / f"{picture.name}.svg").write_text(drawn(picture), encoding="utf-8")


if __name__ == "__main__":
    main()
