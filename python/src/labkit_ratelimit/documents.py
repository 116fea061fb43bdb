"""Documents: rules in files, which operators may deploy apart from the application."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Document", "Documents", "Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A document whose text is at hand: `name` is what findings call it, `text` is YAML or JSON."""

    name: str
    text: str | bytes


Document = str | os.PathLike[str] | Source
"""The path of a file, or a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """From where a limiter takes its rules. Paths are read when they are loaded, each time."""

    available_limiters: Document | None = None
    """The contract: which limiters there are, and what identifiers hold."""
    rate_limits: Iterable[Document] = ()
    """Files of rules; the earlier one wins. All documents are paths, or all are sources."""
    properties: Iterable[str] = ()
    """What identifiers hold, where there is no contract."""
    allowed_skip_rules: Iterable[str] = ()
    """Which skip rules files may bring, where there is no contract."""
    strict: bool = field(default=True)
    """Whether a first load that fails raises. Else it is logged, and the default rules run."""

    def native(self) -> dict[str, Any]:
        """Give them as the native half takes them."""
        available = self.available_limiters
        return {
            "available": None if available is None else _native(available),
            "rate_limits": [_native(document) for document in self.rate_limits],
            "properties": list(self.properties),
            "allowed_skip_rules": list(self.allowed_skip_rules),
            "strict": self.strict,
        }


def _native(document: Document) -> Any:
    if isinstance(document, Source):
        text = document.text
        return document.name, text.encode() if isinstance(text, str) else text
    return os.fspath(document)
