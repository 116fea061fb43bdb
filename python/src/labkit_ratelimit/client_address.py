"""Who a request comes from."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["IPV6_PREFIX", "ClientAddress"]

IPV6_PREFIX = 64
"""Bits of an IPv6 address that one client is taken to have."""

_BRACKETED = re.compile(r"\[([^\]]*)\](?::[0-9]+)?")
_WITH_PORT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3}){3}):[0-9]+")


class ClientAddress:
    """Who a request comes from, for a counter's key.

    What a client wrote into `X-Forwarded-For` itself is never believed: only as many entries from the right as there
    are trusted proxies. IPv6 counts by network, since one client has a whole one; an IPv4-mapped address is its IPv4
    address.

    >>> address = ClientAddress(trusted_hops=1)  # one proxy of our own in front
    >>> address.resolve("10.0.0.1", "6.6.6.6, 198.51.100.7")
    '198.51.100.7'
    """

    __slots__ = ("_ipv6_prefix", "_trusted_hops")

    def __init__(self, trusted_hops: int = 0, ipv6_prefix: int = IPV6_PREFIX) -> None:
        """Build one, for the life of the process.

        Args:
            trusted_hops: proxies in front that add to `X-Forwarded-For`; 0 believes nothing of it.
            ipv6_prefix: bits, 1 to 128.

        Raises:
            ValueError: one of them is out of range.

        """
        if not _whole(trusted_hops) or trusted_hops < 0:
            raise ValueError(f"trusted_hops is 0 or more, not {trusted_hops!r}")
        if not _whole(ipv6_prefix) or not 1 <= ipv6_prefix <= 128:
            raise ValueError(f"ipv6_prefix is 1 to 128, not {ipv6_prefix!r}")
        self._trusted_hops = trusted_hops
        self._ipv6_prefix = ipv6_prefix

    def of_wsgi(self, environ: Mapping[str, Any]) -> str | None:
        """Give who sent a request of WSGI; `None` where the server names no peer, as behind a Unix socket."""
        return self.resolve(environ.get("REMOTE_ADDR"), environ.get("HTTP_X_FORWARDED_FOR"))

    def of_asgi(self, scope: Mapping[str, Any]) -> str | None:
        """Give who sent a request of ASGI; `None` where the server names no peer, as behind a Unix socket."""
        client = scope.get("client")
        lines = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
        return self.resolve(client[0] if client else None, ",".join(lines))

    def resolve(self, peer: str | None, forwarded_for: str | None = None) -> str | None:
        """Give who sent a request.

        Args:
            peer: the address of the connection.
            forwarded_for: the header `X-Forwarded-For`; lines of it joined by commas.

        """
        hop = self._hop(forwarded_for) if self._trusted_hops and forwarded_for else None
        return hop or self.normalize(peer)

    def normalize(self, text: str | None) -> str | None:
        """Give an address that a header or a server writes, with a port or brackets maybe, as it is counted by.

        `None` if it is none.
        """
        try:
            address = ipaddress.ip_address(_bare((text or "").strip(" \t")))
        except ValueError:
            return None
        if isinstance(address, ipaddress.IPv4Address):
            return str(address)
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(address), self._ipv6_prefix), strict=False).network_address)

    def __repr__(self) -> str:
        return f"ClientAddress(trusted_hops={self._trusted_hops}, ipv6_prefix={self._ipv6_prefix})"

    def _hop(self, header: str) -> str | None:
        # Each proxy adds who it was connected by. A list that is shorter went past some of them.
        entries = header.split(",")
        return self.normalize(entries[-min(self._trusted_hops, len(entries))])


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _bare(text: str) -> str:
    wrapped = _BRACKETED.fullmatch(text) or _WITH_PORT.fullmatch(text)
    return (wrapped[1] if wrapped else text).partition("%")[0]
