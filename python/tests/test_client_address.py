"""Who a request comes from."""

from __future__ import annotations

from typing import Any

import pytest
from rules import in_memory, per_ip

from labkit_ratelimit.client_address import ClientAddress


def test_field_case_19_counts_ipv6_by_network_and_a_mapped_address_as_ipv4() -> None:
    limiter, address = in_memory(per_ip(2)), ClientAddress()
    ipv6 = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:2::3", "2001:db8:1:3::1"]
    peers = [*ipv6, "192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"]
    actions = [limiter.check({"ip": address.of_wsgi({"REMOTE_ADDR": peer})}).action for peer in peers]
    assert actions == ["allow", "allow", "block", "allow", "allow", "allow", "block"]


def test_field_case_20_believes_a_header_as_far_as_hops_are_trusted() -> None:
    def seen(address: ClientAddress, forwarded_for: str) -> set[str | None]:
        environ = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": forwarded_for}
        headers = [(b"host", b"localhost"), (b"x-forwarded-for", forwarded_for.encode())]
        return {address.of_wsgi(environ), address.of_asgi({"client": ("10.0.0.1", 4711), "headers": headers})}

    for forged in ("6.6.6.6", "7.7.7.7"):
        assert seen(ClientAddress(trusted_hops=1), f"{forged}, 198.51.100.7") == {"198.51.100.7"}
    assert seen(ClientAddress(), "6.6.6.6, 198.51.100.7") == {"10.0.0.1"}


@pytest.mark.parametrize(("hops", "seen"), [(1, "10.0.0.2"), (2, "198.51.100.7"), (3, "6.6.6.6"), (4, "6.6.6.6")])
def test_goes_as_many_hops_back_as_are_trusted_and_no_further_than_the_list(hops: int, seen: str) -> None:
    assert ClientAddress(trusted_hops=hops).resolve("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2") == seen


def test_several_lines_of_the_header_are_one_list() -> None:
    headers = [(b"x-forwarded-for", b"6.6.6.6"), (b"x-forwarded-for", b"198.51.100.7, 10.0.0.2")]
    scope = {"client": ("10.0.0.1", 1), "headers": headers}
    assert [ClientAddress(hops).of_asgi(scope) for hops in (1, 2, 3)] == ["10.0.0.2", "198.51.100.7", "6.6.6.6"]


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        ("192.0.2.1:8080", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::"),
        ("[2001:db8::1]", "2001:db8::"),
        ("fe80::1%eth0", "fe80::"),
        ("fe80::1%", "fe80::"),
        ("192.0.2.1%eth0", "192.0.2.1"),
        ("::FFFF:192.0.2.1", "192.0.2.1"),
        ("\t192.0.2.1 ", "192.0.2.1"),
        *(
            (none, "10.0.0.1")
            for none in ("unknown", "", " ", "1.2.3.4/8", "::/0", "256.1.1.1", "1.2.3", "[::1", "\xff", "٣.1.1.1")
        ),
    ],
)
def test_reads_ports_brackets_and_zones_and_takes_the_peer_where_an_entry_is_no_address(entry: str, seen: str) -> None:
    assert ClientAddress(trusted_hops=1).resolve("10.0.0.1", entry) == seen


def test_has_nobody_where_the_server_names_nobody() -> None:
    address = ClientAddress(trusted_hops=1)
    assert address.of_wsgi({}) is None
    assert address.of_wsgi({"REMOTE_ADDR": ""}) is None
    assert address.of_asgi({"client": None, "headers": []}) is None
    assert address.of_asgi({"client": ("/run/app.sock", None), "headers": []}) is None


def test_takes_another_prefix_within_bounds() -> None:
    assert ClientAddress(ipv6_prefix=48).normalize("2001:db8:1:2::1") == "2001:db8:1::"
    assert ClientAddress(ipv6_prefix=128).normalize("2001:db8:1:2::1") == "2001:db8:1:2::1"
    wrong: Any
    for wrong in (0, 129, True, 64.0):
        with pytest.raises(ValueError, match="ipv6_prefix is 1 to 128"):
            ClientAddress(ipv6_prefix=wrong)
    for wrong in (-1, True, None):
        with pytest.raises(ValueError, match="trusted_hops is 0 or more"):
            ClientAddress(trusted_hops=wrong)
