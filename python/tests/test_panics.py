"""No panic reaches Python: with a native half that panics when it is asked to.

`LABKIT_PYTHON_PROBE` names the folder of a package built with the feature `panic-probe`.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROBE = """
import logging, pytest
from labkit_ratelimit import InternalError, Limiter, MemoryStore, Rule, _native

class Client:
    def execute_command(self, *words):
        return b""

lines = []
class Handler(logging.Handler):
    def emit(self, record):
        lines.append(record.rate_limit)
logging.getLogger("labkit_ratelimit").addHandler(Handler())
rule = Rule(name="r", limit=1, period_s=60, characteristics=["ip"])
for on_error, action in (("allow", "allow"), ("block", "block"), ("local", "allow")):
    limiter = Limiter("probed", [rule], store=MemoryStore(), on_error=on_error)
    for call in (limiter.check, limiter.peek):
        _native.panic_next()
        result = call({"ip": "1", "user": 2})
        assert (result.action, result.error) == (action, True), result
        line = lines.pop()
        assert line["class_name"] == "panic" and "asked for" in line["error_message"], line
        assert line["identifier_keys"] == ["ip", "user"], line
    # Nothing was counted, and the limiter goes on.
    assert limiter.check({"ip": "1"}).info.count == 1
planned = Limiter("planned", [rule], Client())
lines.clear()
call = planned._core.check({"ip": "1"})
_native.panic_next()
assert call.settle(b"").error
assert lines.pop()["class_name"] == "panic"
_native.panic_next()
with pytest.raises(InternalError, match="asked for"):
    limiter.clear({"ip": "1"})
_native.panic_next()
with pytest.raises(InternalError, match="asked for"):
    Limiter("probed", [rule], store=MemoryStore())
assert not lines
print("all stopped")
"""


@pytest.mark.skipif("LABKIT_PYTHON_PROBE" not in os.environ, reason="the check sdk-python builds the probe")
def test_panics_stop_at_the_boundary() -> None:
    environment = {**os.environ, "PYTHONPATH": os.environ["LABKIT_PYTHON_PROBE"]}
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, env=environment, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "all stopped\n", "")
