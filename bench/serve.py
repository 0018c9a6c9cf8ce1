#!/usr/bin/env python3
"""What `whystop serve` costs beside a run that goes on: memory, CPU, and how soon many clients get their page.

    python bench/serve.py [--clients 100] [--seconds 40]      as in docs/performance.md
    python bench/serve.py --clients 3 --seconds 3600          its memory over an hour

A job makes a step every 0.2 s under `whystop run`. Each client holds an event stream and fetches the run's page every two
seconds, as a browser does. Fails when a client is told less than half as often as the recording changes, or when the
server takes more than 32 MiB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", pathlib.Path(__file__).resolve().parents[1] / "build"))
PAGE_EVERY_S = 2.0
MEMORY_MIB_MAX = 32.0
JOB = "import time\nfor i in range(10**9):\n  print(f'step {i}/1000000 loss {1/(i+1):.6f}', flush=True); time.sleep(0.2)"


def memory_mib(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/status").read_text().split("\n")
    return next(int(line.split()[1]) for line in fields if line.startswith("VmRSS")) / 1024


def cpu_seconds(pid: int) -> float:
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Crowd:
    """Clients that look at one run until a moment."""

    def __init__(self, url: str, until: float):
        place = urllib.parse.urlsplit(url)
        self.host, self.port = place.hostname, place.port
        self.token = urllib.parse.parse_qs(place.query)["token"][0]
        self.until = until
        self.told: list[int] = []
        self.waits: list[float] = []

    async def ask(self, path: str):
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 24)
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        writer.write(head.encode())
        await writer.drain()
        status = await reader.readline()
        assert b" 200 " in status, status
        return reader, writer

    async def listen(self) -> None:
        reader, writer = await self.ask("/api/events")
        told = 0
        while (left := self.until - time.monotonic()) > 0:
            try:
                line = await asyncio.wait_for(reader.readline(), left)
            except asyncio.TimeoutError:
                break
            assert line != b"", "the event stream was closed"
            told += line.startswith(b"event: changed")
        self.told.append(told)
        writer.close()

    async def look(self, number: int) -> None:
        await asyncio.sleep(PAGE_EVERY_S * (number % 20) / 20)
        while time.monotonic() + PAGE_EVERY_S < self.until:
            begin = time.monotonic()
            reader, writer = await self.ask("/api/run?id=live")
            page = await reader.read()
            while not reader.at_eof():
                page += await reader.read()
            writer.close()
            assert b'"live"' in page
            self.waits.append(time.monotonic() - begin)
            await asyncio.sleep(max(0.0, PAGE_EVERY_S - self.waits[-1]))

    async def run(self, clients: int, server: int) -> float:
        """The most memory that the server took."""
        watched = [asyncio.create_task(task) for i in range(clients) for task in (self.listen(), self.look(i))]
        most = 0.0
        while time.monotonic() < self.until:
            most = max(most, memory_mib(server))
            await asyncio.sleep(1)
        await asyncio.gather(*watched)
        return most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "WHYSTOP_HOME": folder}
        job = subprocess.Popen(
            [BUILD / "whystop", "run", "--quiet", "--dir", pathlib.Path(folder) / "live", "--", sys.executable, "-c", JOB],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        server = subprocess.Popen(
            [BUILD / "whystop", "serve", "--json", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment,
        )
        try:
            url = json.loads(server.stdout.readline())["url"]
            time.sleep(5)  # Denser samples in the first seconds of a run.
            first, cpu, begin = memory_mib(server.pid), cpu_seconds(server.pid), time.monotonic()
            crowd = Crowd(url, begin + options.seconds)
            most = asyncio.run(crowd.run(options.clients, server.pid))
            passed, cpu = time.monotonic() - begin, cpu_seconds(server.pid) - cpu
            last = memory_mib(server.pid)
        finally:
            for process in (server, job):
                process.send_signal(signal.SIGINT)
                process.wait(timeout=60)
    waits = sorted(crowd.waits)
    print(
        f"{options.clients} clients for {passed:.0f} s: told {min(crowd.told)} to {max(crowd.told)} times; {len(waits)} pages, "
        f"median {1000 * statistics.median(waits):.0f} ms, 95 % within {1000 * waits[int(0.95 * len(waits))]:.0f} ms; "
        f"{100 * cpu / passed:.1f} % of a core; {first:.1f} MiB before, {last:.1f} after, {most:.1f} at most"
    )
    return 1 if min(crowd.told) < 0.5 * passed or most > MEMORY_MIB_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
