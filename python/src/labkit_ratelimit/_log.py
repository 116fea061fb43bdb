"""What a limiter tells its host's log: one line a failure, names of properties only, never a value."""

from __future__ import annotations

import contextlib
import logging
from typing import Any, TypedDict

LOGGER = logging.getLogger("labkit_ratelimit")


class LogFields(TypedDict):
    """The fields of a line, as `record.rate_limit` has them. Those that do not apply are `None`, or empty."""

    message: str
    error_type: str | None
    name: str
    rule: str | None
    count_distinct: str | None
    class_name: str | None
    error_message: str | None
    identifier_keys: list[str]


class Log:
    """A limiter's way to its logger. A logger that raises changes no result."""

    __slots__ = ("_logger", "_name")

    def __init__(self, name: str, logger: logging.Logger | logging.LoggerAdapter[Any] | None) -> None:
        self._name = name
        self._logger = LOGGER if logger is None else logger

    def tell(self, text: str, fields: LogFields) -> None:
        """Take a line of the core's."""
        with contextlib.suppress(Exception):
            self._logger.warning("%s", text, extra={"rate_limit": fields})

    def say(self, message: str, said: str) -> None:
        """Say what an operator should know once."""
        fields = LogFields(
            message=message,
            error_type=None,
            name=self._name,
            rule=None,
            count_distinct=None,
            class_name=None,
            error_message=said,
            identifier_keys=[],
        )
        self.tell(f"{message} name={self._name}: {said}", fields)
