"""A private Redis, where a test asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from private_redis import PrivateCluster, PrivateRedis

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server() -> Iterator[PrivateRedis]:
    """One for all tests that leave it as it is."""
    private = PrivateRedis()
    yield private
    private.stop()


@pytest.fixture
def own_server() -> Iterator[PrivateRedis]:
    """One of the test's own, to stop and to kill."""
    private = PrivateRedis()
    yield private
    private.stop()


@pytest.fixture
def cluster() -> Iterator[PrivateCluster]:
    """One of the test's own."""
    private = PrivateCluster()
    yield private
    private.stop()
