"""age.lua on a real Redis, and the servers themselves: that they come, form a cluster, and are gone afterwards."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from judge.resp import Connection, RedisError
from judge.servers import serving

HOME = Path(__file__).resolve().parent
SCRIPT = (HOME / "age.lua").read_text(encoding="utf-8")
COUNTER = "labkit:rl:{notes:per_user:user:a:gcra}"
CELL = "labkit:rl:{notes:per_user:user:1}:gcra"
BAN = "labkit:rl:{notes:per_user:user:1}:ban"


class Age(unittest.TestCase):
    stack: ExitStack
    redis: Connection

    @classmethod
    def setUpClass(cls) -> None:
        cls.stack = ExitStack()
        where = cls.stack.enter_context(serving("redis"))
        cls.redis = cls.stack.enter_context(Connection(int(where[1].split(":")[1])))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.stack.close()

    def setUp(self) -> None:
        self.redis.call("FLUSHALL")

    def age(self, key: str, microseconds: Any) -> Any:
        return self.redis.call("EVAL", SCRIPT, 1, key, microseconds)

    def assert_left(self, milliseconds: int, left: int) -> None:
        self.assertTrue(milliseconds - 500 <= left <= milliseconds, f"{left} ms left, not about {milliseconds}")

    def test_every_kind_of_key_loses_as_much(self) -> None:
        self.redis.call("SET", COUNTER, "5", "PX", 60000)
        self.redis.call("SET", BAN, "1", "PX", 60000)
        self.redis.call("SADD", "labkit:rl:{notes:distinct}", "a", "b")
        self.redis.call("PEXPIRE", "labkit:rl:{notes:distinct}", 60000)
        for key in (COUNTER, BAN, "labkit:rl:{notes:distinct}"):
            before = self.redis.call("DUMP", key)
            self.assert_left(50000, self.age(key, 10_000_000))
            self.assert_left(50000, self.redis.call("PTTL", key))
            self.assertEqual(before, self.redis.call("DUMP", key))

    def test_rounds_to_milliseconds(self) -> None:
        for microseconds, lost in ((499, 0), (500, 1), (1499, 1), (59_999_499, 59_999)):
            self.redis.call("SET", COUNTER, "5", "PX", 60000)
            self.assert_left(60000 - lost, self.age(COUNTER, microseconds))

    def test_time_that_is_over_deletes(self) -> None:
        for microseconds in (60_000_000, 60_000_001, 31_622_400_000_000):
            for key, value in ((COUNTER, "5"), (CELL, "1764458000123456:0:5:1764457990000001")):
                self.redis.call("SET", key, value, "PX", 60000)
                self.assertEqual(0, self.age(key, microseconds))
                self.assertEqual(0, self.redis.call("EXISTS", key))

    def test_cell_moves_back_to_the_microsecond(self) -> None:
        for microseconds, tat, changed in (
            (0, 1764458000123456, 1764457990000001),
            (1, 1764458000123455, 1764457990000000),
            (59_000_001, 1764457941123455, 1764457931000000),
        ):
            self.redis.call("SET", CELL, "1764458000123456:17:60:1764457990000001", "PX", 60000)
            self.age(CELL, microseconds)
            self.assertEqual(f"{tat}:17:60:{changed}", self.redis.call("GET", CELL))
            self.assert_left(60000 - (microseconds + 500) // 1000, self.redis.call("PTTL", CELL))

    def test_large_instants_stay_exact(self) -> None:
        self.redis.call("SET", CELL, f"{2**53 - 1}:0:18446744073709551615:{2**53 - 3}", "PX", 60000)
        self.age(CELL, 2)
        self.assertEqual(f"{2**53 - 3}:0:18446744073709551615:{2**53 - 5}", self.redis.call("GET", CELL))

    def test_keys_without_expiry_and_missing_ones_are_left(self) -> None:
        self.redis.call("SET", CELL, "1764458000123456:17:60:1764457990000001")
        self.assertEqual(-1, self.age(CELL, 1000))
        self.assertEqual("1764458000123456:17:60:1764457990000001", self.redis.call("GET", CELL))
        self.assertEqual(-2, self.age("nobody", 1000))

    def test_below_zero_sets_the_clock_back(self) -> None:
        self.redis.call("SET", CELL, "1764458000123456:17:60:1764457990000001", "PX", 60000)
        self.age(CELL, -2_000_000)
        self.assertEqual("1764458002123456:17:60:1764457992000001", self.redis.call("GET", CELL))
        self.assert_left(62000, self.redis.call("PTTL", CELL))

    def test_what_it_cannot_read_is_an_error_and_changes_nothing(self) -> None:
        self.redis.call("SET", CELL, "hello", "PX", 60000)
        for microseconds in ("", "x", "1.5", "nan"):
            with self.subTest(microseconds), self.assertRaisesRegex(RedisError, "age.lua"):
                self.age(COUNTER, microseconds)
        with self.assertRaisesRegex(RedisError, "not a cell"):
            self.age(CELL, 1000)
        self.assert_left(60000, self.redis.call("PTTL", CELL))


class Servers(unittest.TestCase):
    def test_cluster_serves_every_slot_and_is_gone_afterwards(self) -> None:
        with serving("cluster") as where:
            ports = [int(address.split(":")[1]) for address in where[1].split(",")]
            with ExitStack() as stack:
                nodes = [stack.enter_context(Connection(port)) for port in ports]
                served = sum(_serves(node, f"key:{number}") for number in range(30) for node in nodes)
            self.assertEqual(30, served)
        for port in ports:
            self.assert_closed(port)

    def test_signal_stops_servers_and_runner(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                told = Path(folder) / "told"
                runner = Path(folder) / "runner"
                runner.write_text(f'#!/bin/sh\necho "$$ $*" > {told}.new\nmv {told}.new {told}\nsleep 600\n')
                runner.chmod(0o755)
                env = {**os.environ, "LABKIT_SPEC_RUNNER_RUST": str(runner)}
                # A new session, as a signal to a whole group would not prove that the command passes it on.
                command = [sys.executable, str(HOME / "run"), "canaries", "rust", "--store", "redis"]
                process = subprocess.Popen(command, env=env, start_new_session=True, stderr=subprocess.DEVNULL)
                deadline = time.monotonic() + 20
                while not told.exists() and time.monotonic() < deadline:
                    time.sleep(0.05)
                words = told.read_text().split()
                process.send_signal(number)
                self.assertEqual(128 + number, process.wait(timeout=20))
                self.assert_closed(int(words[words.index("--redis") + 1].split(":")[1]))
                self.assert_group_gone(int(words[0]))

    def assert_group_gone(self, group: int) -> None:
        deadline = time.monotonic() + 20  # a killed process stays in its group until its parent has asked for it
        with self.assertRaises(ProcessLookupError):
            while time.monotonic() < deadline:
                os.killpg(group, 0)
                time.sleep(0.05)

    def assert_closed(self, port: int) -> None:
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()


def _serves(node: Connection, key: str) -> bool:
    try:
        return bool(node.call("SET", key, "1") == "OK")
    except RedisError as error:
        assert str(error).startswith("MOVED"), error
        return False


if __name__ == "__main__":
    unittest.main()
