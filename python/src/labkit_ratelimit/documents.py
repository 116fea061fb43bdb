"""Documents: rules in files, which operators may deploy apart from the application."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

__all__ = ["Document", "Documents", "Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A document whose text is at hand: `name` is what findings call it, `text` is YAML or JSON."""

    name: str
    text: str | bytes

    def __post_init__(self) -> None:
        """Look at both.

        Raises:
            TypeError: one of them is of another class.

        """
        if not isinstance(cast("object", self.name), str):
            raise TypeError(f"a source's name is a str, not {_called(self.name)}")
        if not isinstance(cast("object", self.text), (str, bytes)):
            raise TypeError(f"a source's text is a str or bytes, not {_called(self.text)}")


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

    def __post_init__(self) -> None:
        """Keep what is given: a generator gives it once.

        Raises:
            TypeError: a list is none; one path or name is none either. What is in it is no document, or no name.

        """
        if not isinstance(cast("object", self.strict), bool):
            raise TypeError(f"strict is True or False, not {self.strict!r}")
        _look_at("available_limiters", self.available_limiters)
        for name in ("rate_limits", "properties", "allowed_skip_rules"):
            given: Any = getattr(self, name)
            if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
                raise TypeError(f"{name} takes a list, not a {type(given).__qualname__}")
            entries: tuple[Any, ...] = tuple(cast("Any", given))
            for at, entry in enumerate(entries):
                where = f"{name}[{at}]"
                if name != "rate_limits" and not isinstance(entry, str):
                    raise TypeError(f"{where} is a str, not {_called(entry)}")
                if name == "rate_limits":
                    _look_at(where, entry, optional=False)
            object.__setattr__(self, name, entries)

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


def _look_at(where: str, document: Any, *, optional: bool = True) -> None:
    """Raise where it is no document."""
    if isinstance(document, (str, Source)) or (document is None and optional):
        return
    asked = getattr(document, "__fspath__", None)
    path: object = asked() if asked else document
    if isinstance(path, bytes):
        raise TypeError(f"{where} is the path of a file as a str, not as bytes: os.fsdecode makes one of it")
    if not isinstance(path, str):
        raise TypeError(f"{where} is the path of a file, or a Source, not {_called(document)}")


def _called(value: object) -> str:
    return "None" if value is None else f"a {type(value).__qualname__}"


def _native(document: Document) -> Any:
    if isinstance(document, Source):
        text = document.text
        return document.name, text.encode() if isinstance(text, str) else text
    return os.fspath(document)
