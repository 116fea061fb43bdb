"""Plays scenarios: a language's runner on a store whose servers live as long as the run."""

from collections.abc import Sequence
from dataclasses import dataclass

from judge import runner, transcript
from judge.languages import Runner, runner_of, version_of
from judge.room import Room
from judge.scenario import Scenario
from judge.servers import serving


@dataclass(frozen=True)
class Play:
    """One run on one store: the scenarios that belonged to it, what the runner printed, and that read."""

    language: str
    store: str
    scenarios: tuple[Scenario, ...]
    stdout: str
    transcript: transcript.Transcript


def play(room: Room, language: str, store: str, scenarios: Sequence[Scenario]) -> Play:
    """In: a language, a store, scenarios. Out: the play of those that run on the store, on servers of its own."""
    its = runner_of(language, room.root)
    with serving(store) as where:
        return play_at(room, language, its, store, where, scenarios)


def play_at(room: Room, language: str, its: Runner, store: str, where: Sequence[str], scenarios: Sequence[Scenario]) -> Play:
    """As `play`, with the language's runner and on servers that are there already."""
    mine = tuple(scenario for scenario in scenarios if store in scenario.stores)
    files = list(dict.fromkeys(scenario.file for scenario in scenarios))
    run = runner.run(its.command, store, where, files)
    expectation = transcript.Expectation(language, store, version_of(room.root), mine, its.library)
    read = transcript.read(run.stdout, expectation, room.line_schema())
    if run.failure:
        read.problems.insert(0, run.failure)
    return Play(language, store, mine, run.stdout, read)
