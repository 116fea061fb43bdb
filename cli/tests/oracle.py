"""Decides the example log by the example rules, in a way of its own: no code is shared with the core.

Prints what `labkit-ratelimit replay --decisions` writes for examples/access.log.gz and
examples/rack.rate_limits.yaml. The rules are written out below; change them together with the file.

    python3 cli/tests/oracle.py > expected.jsonl
"""

import datetime
import gzip
import json
import pathlib
import re
from fractions import Fraction

LOG = pathlib.Path(__file__).parents[2] / "examples" / "access.log.gz"
LINE = re.compile(
    r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" \d+ (?:\d+|-) "[^"]*" "([^"\n]*)"?\n'
)
SCANNED = re.compile(
    r"/wp-(admin|login)|^/administrator|^/admin\.php|^/user/register|^/node/add"
)
CRAWLER = re.compile(r"bot|crawl|spider|slurp", re.IGNORECASE)
FEED = re.compile(r"feed|rss", re.IGNORECASE)


class Window:
    """A fixed window that starts with its first request; over beyond the limit; perhaps a ban."""

    def __init__(self, period_s, ban_for_s=0):
        self.period_s, self.ban_for_s = period_s, ban_for_s
        self.windows, self.bans = {}, {}

    def is_over(self, key, now, limit):
        if now < self.bans.get(key, 0):
            return True
        ends, count = self.windows.get(key, (0, 0))
        if now >= ends:
            ends, count = now + self.period_s, 0
        self.windows[key] = (ends, count + 1)
        if count + 1 > limit and self.ban_for_s:
            self.bans[key] = now + self.ban_for_s
        return count + 1 > limit


class Bucket:
    """A leaky bucket that drains `limit` drops in a period and holds `burst`: the same as GCRA."""

    def __init__(self, limit, period_s, burst):
        self.drain, self.burst = Fraction(limit, period_s), burst
        self.levels = {}

    def is_over(self, key, now):
        level, then = self.levels.get(key, (Fraction(0), now))
        level = max(Fraction(0), level - (now - then) * self.drain)
        if level + 1 > self.burst:
            return True
        self.levels[key] = (level + 1, now)
        return False


def is_download(method, path):
    return path.startswith("/files/") and method in ("GET", "POST")


def requests():
    with gzip.open(LOG, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            ip, when, method, target, agent = LINE.fullmatch(line).groups()
            at = datetime.datetime.strptime(when, "%d/%b/%Y:%H:%M:%S %z")
            yield int(at.timestamp()), number, ip, method, target.split("?")[0], agent


def main():
    scanners, per_ip = Window(3600, ban_for_s=86400), Window(60)
    feeds, rush = Window(3600), Window(60)
    downloads = Bucket(6, 3600, 4)
    for now, number, ip, method, path, agent in sorted(requests()):
        agent = "" if agent == "-" else agent
        refused_by, over = None, []
        if ip not in ("198.18.0.5", "198.18.0.9"):
            if SCANNED.search(path) and scanners.is_over(ip, now, 1):
                refused_by = "scanners"
            elif is_download(method, path) and downloads.is_over(ip, now):
                refused_by = "downloads"
            elif per_ip.is_over(ip, now, 10 if CRAWLER.search(agent) else 50):
                refused_by = "per_ip"
            else:
                if FEED.search(agent) and feeds.is_over((ip, path), now, 2):
                    over.append("feeds_dry_run")
                if rush.is_over((), now, 120):
                    over.append("rush")
        if refused_by:
            over = [refused_by]
        action = "block" if refused_by else "allow"
        print(json.dumps({"line": number, "action": action, "exceeded": over}))


if __name__ == "__main__":
    main()
