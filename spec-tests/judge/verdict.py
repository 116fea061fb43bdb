"""Verdicts: one per scenario and store, and one for the run as a whole where it is not sound."""

from dataclasses import dataclass

from judge.compare import Comparison, build_mismatches
from judge.scenario import Scenario, op_of
from judge.transcript import Played, Transcript

SHOWN_FAILURES = 4
RUNNER = "(runner)"


@dataclass(frozen=True)
class Verdict:
    """`name` is a scenario's, or `(runner)` for the run itself. `breaches` are of the protocol, `mismatches` of expectations."""

    name: str
    language: str
    store: str
    breaches: tuple[str, ...] = ()
    mismatches: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.breaches and not self.mismatches

    def __str__(self) -> str:
        failures = self.breaches + self.mismatches
        more = f"; and {len(failures) - SHOWN_FAILURES} more" if len(failures) > SHOWN_FAILURES else ""
        detail = f": {'; '.join(failures[:SHOWN_FAILURES])}{more}" if failures else ""
        return f"{'FAIL' if failures else 'ok  '} {self.language} {self.store:<7} {self.name}{detail}"


def judge(scenarios: tuple[Scenario, ...], transcript: Transcript, language: str, store: str) -> list[Verdict]:
    """In: the scenarios of one store and the transcript of their run. Out: a verdict for each, `(runner)` last if the run was unsound."""
    verdicts = [_scenario(scenario, transcript.played.get(scenario.name), language, store) for scenario in scenarios]
    if transcript.problems:
        verdicts.append(Verdict(RUNNER, language, store, breaches=tuple(transcript.problems)))
    return verdicts


def closing_line(verdicts: list[Verdict]) -> str:
    """In: verdicts. Out: `N passed, N failed`."""
    passed = sum(verdict.passed for verdict in verdicts)
    return f"{passed} passed, {len(verdicts) - passed} failed"


def _scenario(scenario: Scenario, played: Played | None, language: str, store: str) -> Verdict:
    if played is None:
        return Verdict(scenario.name, language, store, breaches=("was not run",))
    mismatches = [f"build: {mismatch}" for mismatch in build_mismatches(scenario.data.get("expect_build_error"), played.build)]
    comparison = Comparison(on_memory=store == "memory", gcra=scenario.gcra_rules)
    for index, (step, actual) in enumerate(zip(scenario.steps, played.steps, strict=False)):
        mismatches += [f"step {index} ({op_of(step)}) {mismatch}" for mismatch in comparison.step(step, actual)]
    return Verdict(scenario.name, language, store, tuple(played.problems), tuple(mismatches))
