"""Errors of clients, as the core takes them."""

from __future__ import annotations


def is_unknown_script(error: Exception) -> bool:
    """Say whether the server does not know the digest: nothing ran, and the script may be sent whole."""
    return type(error).__name__ == "NoScriptError" or str(error).startswith("NOSCRIPT")


def fault_of(error: Exception) -> tuple[str, str]:
    """Give the class and the message of what came in the place of a reply."""
    return type(error).__name__, str(error)
