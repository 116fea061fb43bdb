"""Rules in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rules import in_memory, per_ip

from labkit_ratelimit import Documents, InvalidDocuments, Limiter, MemoryStore, Source

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = """
available_limiters:
  sign_in:
    description: Signing in
    available_properties: [ip, user]
    default_rules:
      - {name: per_ip, action: limit, limit: 5, period_s: 60, characteristics: [ip]}
"""
STRICTER = "rate_limits: {sign_in: [{name: per_ip, action: limit, limit: 1, period_s: 60, characteristics: [ip]}]}"


def files(folder: Path, rates: str = STRICTER) -> tuple[Path, Path]:
    available, rate_limits = folder / "available_limiters.yaml", folder / "rate_limits.yaml"
    available.write_text(CONTRACT, encoding="utf-8")
    rate_limits.write_text(rates, encoding="utf-8")
    return available, rate_limits


def test_files_stand_before_defaults_and_are_read_again(tmp_path: Path) -> None:
    available, rate_limits = files(tmp_path)
    limiter = Limiter.from_files("sign_in", available, [str(rate_limits)], store=MemoryStore())
    assert [rule.limit for rule in limiter.rules] == [1]
    assert [limiter.check({"ip": "1"}).action for _ in range(2)] == ["allow", "block"]
    rate_limits.write_text(STRICTER.replace("limit: 1", "limit: 3"), encoding="utf-8")
    limiter.reload()
    assert limiter.check({"ip": "1"}).info.count == 3  # type: ignore[union-attr]
    assert [rule.limit for rule in limiter.rules] == [3]


def test_every_mistake_has_its_place(tmp_path: Path) -> None:
    available, rate_limits = files(
        tmp_path, "sign_in:\n  - name: per_ip\n    action: limit\n    limit: 0\n    perod_s: 60\n"
    )
    with pytest.raises(InvalidDocuments) as raised:
        Limiter.from_files("sign_in", available, [rate_limits])
    found = {finding.code: finding for finding in raised.value.findings}
    below = found["limit_below_one"]
    assert (below.file, below.line, below.severity) == (str(rate_limits), 4, "error")
    assert "unknown_field" in found
    assert "period_s" in found["unknown_field"].mend + found["unknown_field"].message


def test_a_bad_reload_changes_nothing_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    available, rate_limits = files(tmp_path)
    limiter = Limiter.from_files("sign_in", available, [rate_limits], store=MemoryStore())
    rate_limits.write_text("sign_in: 5", encoding="utf-8")
    with pytest.raises(InvalidDocuments):
        limiter.reload()
    assert [rule.limit for rule in limiter.rules] == [1]
    assert [record.__dict__["rate_limit"]["message"] for record in caplog.records] == ["rate_limit_invalid_documents"]
    rate_limits.unlink()
    with pytest.raises(InvalidDocuments, match=r"rate_limits\.yaml") as raised:
        limiter.reload()
    assert raised.value.findings == ()


def test_not_strict_the_defaults_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    available, rate_limits = files(tmp_path, "sign_in: 5")
    limiter = Limiter.from_files("sign_in", available, [rate_limits], strict=False, store=MemoryStore())
    assert [rule.limit for rule in limiter.rules] == [5]
    assert caplog.records


def test_rules_of_code_are_defaults() -> None:
    given = per_ip(7)
    source = Source("rates", "sign_in: [{name: first, action: log, limit: 1, period_s: 60}]")
    limiter = Limiter.from_files("sign_in", rate_limits=[source], rules=[given], store=MemoryStore())
    assert [rule.name for rule in limiter.rules] == ["first", "per_ip"]
    assert limiter.rules[1] is given
    limiter.reload(Documents(rate_limits=[Source("rates", b"sign_in: []")]))
    assert limiter.rules == (given,)


def test_paths_and_sources_are_not_mixed(tmp_path: Path) -> None:
    available, _ = files(tmp_path)
    with pytest.raises(TypeError, match="all paths"):
        Limiter.from_files("sign_in", available, [Source("rates", "{}")])
    with pytest.raises(ValueError, match="no documents"):
        in_memory(per_ip()).reload()


def test_a_list_is_kept_however_it_comes(tmp_path: Path) -> None:
    available, rate_limits = files(tmp_path)
    documents = Documents(available_limiters=available, rate_limits=(path for path in [rate_limits]))
    limiter = Limiter("sign_in", documents=documents, store=MemoryStore())
    limiter.reload()
    assert [rule.limit for rule in limiter.rules] == [1]
    assert hash(documents) == hash(Documents(available_limiters=available, rate_limits=[rate_limits]))


@pytest.mark.parametrize("name", ["rate_limits", "properties", "allowed_skip_rules"])
@pytest.mark.parametrize("given", ["ip", b"ip", None, Source("rates", "")])
def test_one_of_them_is_no_list(name: str, given: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} takes a list, not a "):
        Documents(**{name: given})
    with pytest.raises(TypeError, match=f"{name} takes a list, not a "):
        Limiter.from_files("x", **{name: given})


def test_what_are_no_documents() -> None:
    wrong: Any = "a.yaml"
    with pytest.raises(InvalidDocuments, match=r"documents takes Documents .*from_files.*, not a str") as raised:
        Limiter("x", documents=wrong)
    assert [(finding.code, finding.path) for finding in raised.value.findings] == [("option_invalid", "documents")]
    limiter = Limiter.from_files("sign_in", rate_limits=[Source("rates", "sign_in: []")], store=MemoryStore())
    given: Any
    for given in (wrong, ""):
        with pytest.raises(TypeError, match="reload takes Documents, not a str"):
            limiter.reload(given)


class _OfBytes:
    def __fspath__(self) -> bytes:
        return b"a.yaml"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"strict": "no"}, "strict is True or False, not 'no'"),
        ({"properties": ["ip", 1]}, r"properties\[1\] is a str, not a int"),
        ({"allowed_skip_rules": [None]}, r"allowed_skip_rules\[0\] is a str, not None"),
        ({"rate_limits": [5]}, r"rate_limits\[0\] is the path of a file, or a Source, not a int"),
        ({"rate_limits": [None]}, r"rate_limits\[0\] is the path of a file, or a Source, not None"),
        ({"rate_limits": [b"a.yaml"]}, r"rate_limits\[0\] .* not as bytes: os\.fsdecode"),
        ({"available_limiters": _OfBytes()}, r"available_limiters .* not as bytes: os\.fsdecode"),
        ({"available_limiters": 5}, "available_limiters is the path of a file, or a Source, not a int"),
    ],
)
def test_what_is_in_documents_is_looked_at(given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Documents(**given)


@pytest.mark.parametrize(("name", "text", "said"), [("a", 5, "text is a str or bytes"), (5, "a", "name is a str")])
def test_a_source_is_a_name_and_a_text(name: Any, text: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"a source's {said}, not a int"):
        Source(name, text)
