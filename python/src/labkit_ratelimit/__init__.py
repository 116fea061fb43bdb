"""Decides, per request, whether it may go on.

>>> from labkit_ratelimit import Limiter, Rule
>>> limiter = Limiter("sign_in", [Rule(name="per_ip", limit=2, period_s=60, characteristics=["ip"])])
>>> [limiter.check({"ip": "198.18.0.1"}).action for _ in range(3)]
['allow', 'allow', 'block']

The same answer in every language of the library and on every store, in one round trip to the host's Redis. A check
never raises for a store that fails: it answers as the limiter's `on_error` says.
"""

from labkit_ratelimit._native import VERSION, Evaluation, Info, ManualClock, MemoryStore, Result
from labkit_ratelimit.documents import Documents, Source
from labkit_ratelimit.errors import Finding, InternalError, Invalid, InvalidDocuments, InvalidRules, RateLimitExceeded
from labkit_ratelimit.limiter import Limiter
from labkit_ratelimit.matchers import Marker, cidr, eq, ne, none_of, not_, nre, one_of, prefix, regex
from labkit_ratelimit.metrics import Sample
from labkit_ratelimit.rule import Override, Rule

__version__ = "0.1.0"

if __version__ != VERSION:
    raise ImportError(
        f"labkit_ratelimit {__version__} found a native library of version {VERSION}: install the package again"
    )

__all__ = [
    "Documents",
    "Evaluation",
    "Finding",
    "Info",
    "InternalError",
    "Invalid",
    "InvalidDocuments",
    "InvalidRules",
    "Limiter",
    "ManualClock",
    "Marker",
    "MemoryStore",
    "Override",
    "RateLimitExceeded",
    "Result",
    "Rule",
    "Sample",
    "Source",
    "__version__",
    "cidr",
    "eq",
    "ne",
    "none_of",
    "not_",
    "nre",
    "one_of",
    "prefix",
    "regex",
]
