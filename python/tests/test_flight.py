"""Calls of asyncio under way, without a store."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from labkit_ratelimit import _flight
from labkit_ratelimit._flight import Flight

if TYPE_CHECKING:
    import pytest


async def forgetful() -> None:
    # As `asyncio.wait_for` of before Python 3.12 may be.
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(10)
    await asyncio.sleep(10)


async def test_a_cancellation_that_is_lost_comes_again() -> None:
    start = time.monotonic()
    flight = Flight(0.05)
    task = flight.begin(forgetful())
    await flight.wait()
    await flight.stop()
    assert task.cancelled()
    assert time.monotonic() - start < 2


async def test_what_connected_too_late_is_cancelled() -> None:
    async def connects(flight: Flight) -> None:
        flight.is_connecting = True
        await asyncio.sleep(0.05)
        flight.sending()

    flight = Flight(0.01)
    task = flight.begin(connects(flight))
    await flight.wait()
    await flight.stop()
    assert not task.done()
    await asyncio.wait((task,))
    # A loop that ends reports exceptions of tasks, and no cancellations.
    assert task.cancelled()
    assert not flight.ends.is_sent


async def test_a_connect_that_nobody_waits_for_does_not_go_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_flight, "_CONNECTS_S", 0.1)
    flight = Flight(0.01)
    flight.is_connecting = True
    task = flight.begin(asyncio.sleep(10, None))
    await flight.wait()
    await flight.stop()
    assert not task.done()
    await asyncio.wait((task,), timeout=5)
    assert task.cancelled()


async def test_a_deadline_cancels_its_own_call_alone() -> None:
    flight = Flight(0.01)
    flight.begin(asyncio.sleep(10, None))
    await flight.wait()
    await flight.stop()
    later = Flight(5)
    task = asyncio.create_task(later.wait())
    later.begin(asyncio.sleep(10, None))
    await asyncio.sleep(0.01)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert not later.task.done()
    later.task.cancel()
