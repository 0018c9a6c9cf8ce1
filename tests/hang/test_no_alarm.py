"""Jobs that take their time and are well: whatever they do for longer than the limit, nobody calls them hung."""

import os
import socket
import sys
import threading

import pytest
from conftest import TIMEOUT

COMPILE = """import subprocess, sys
print("compiling", flush=True)
for number in range(12):
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(1_500_000))"], check=True)
print("compiled", flush=True)
"""
EVALUATION = """import time, torch
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
def evaluate():
    correct = 0
    end = time.monotonic() + 6
    while time.monotonic() < end:
        correct += int(model(torch.randn(512, 64)).argmax().item() == 1)
    return correct
print("evaluating", flush=True)
evaluate()
print("evaluated", flush=True)
"""
CHECKPOINT = """import os, time
print("saving", flush=True)
end = time.monotonic() + 6
with open("checkpoint.bin", "wb") as file:
    while time.monotonic() < end:
        file.seek(0)
        file.write(os.urandom(1 << 22))
        file.flush()
        os.fsync(file.fileno())
print("saved", flush=True)
"""
SLOW = """import time
for step in range(4):
    time.sleep(1.7)
    print("step", step, flush=True)
"""
# A hundredth of its speed: ten milliseconds of work, then a second without a processor's share.
ONE_PER_CENT = """import time, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(6):
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(1.5)
"""
BURSTS = """import time, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = list(range(200_000))
def work(turns, end):
    while time.monotonic() < end:
        turns += 1  # What changes tells it from a circle, whichever line the looks fall on.
        data.sort(key=lambda value: -value)
        data.reverse()
for burst in range(3):
    for step in range(60):
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    work(0, time.monotonic() + 2.5)
"""
CHILD_SLEEPS = "import subprocess\nsubprocess.run(['sleep', '5'])\nprint('on', flush=True)\n"
THREADS = """import threading, time
def work(number):
    end = time.monotonic() + 5
    total = 0
    while time.monotonic() < end:
        total += sum(i * i for i in range(1000 * (number + 1)))
threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
POOL = """import multiprocessing, time
def work(number):
    end = time.monotonic() + 1.5
    total = 0
    while time.monotonic() < end:
        total += sum(i * i for i in range(5000))
    return total
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, range(8), chunksize=1)
"""
READS = """import os, time
with open("data.bin", "wb") as file:
    file.write(os.urandom(1 << 22))
end = time.monotonic() + 5
while time.monotonic() < end:
    with open("data.bin", "rb") as file:
        while file.read(1 << 16):
            pass
    time.sleep(0.02)
"""
COPIES = "import subprocess\nsubprocess.run('end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do cat /bin/sh > copy.bin; done', shell=True)\n"
ASYNC = """import asyncio
async def tick():
    for number in range(5):
        await asyncio.sleep(1.2)
        print("tick", number, flush=True)
asyncio.run(tick())
"""
RECURSION = """import sys, time
sys.setrecursionlimit(10_000)
def walk(depth):
    return 1 if depth == 0 else 1 + walk(depth - 1)
end = time.monotonic() + 5
while time.monotonic() < end:
    walk(5000)
"""
WAITS_ITS_TURN = """import os, time
for _ in range(25):
    if os.path.exists("ready"):
        break
    time.sleep(0.2)
print("nobody came", flush=True)
"""
HEALTHY = {
    "compile": COMPILE, "evaluation": EVALUATION, "checkpoint": CHECKPOINT, "slow steps": SLOW, "one per cent": ONE_PER_CENT,
    "bursts": BURSTS, "a child sleeps": CHILD_SLEEPS, "threads": THREADS, "pool": POOL, "reads": READS, "copies": COPIES,
    "async": ASYNC, "recursion": RECURSION, "waits its turn": WAITS_ITS_TURN,
}


def assert_quiet(live, verdict):
    assert live.process.returncode == 0, live.output
    assert verdict["outcome"] == "completed"
    assert live.seen("hang") == []
    assert not [cause["id"] for cause in verdict["causes"] if cause["fault"]]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_long_phase_is_no_hang(live, name):
    live.python(HEALTHY[name], cwd=live.work)
    assert_quiet(live, live.finish())


def test_a_download_in_small_pieces_is_no_hang(live):
    def serve(server):
        with server.accept()[0] as peer:
            peer.recv(1000)
            for _ in range(80):
                peer.sendall(b"x" * 100)
                threading.Event().wait(0.1)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        live.python(
            f"import socket\npeer = socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))\npeer.sendall(b'go')\n"
            "def fetch():\n    return peer.makefile('rb').read()\nprint(len(fetch()), flush=True)\n"
        )
        assert_quiet(live, live.finish())


def test_a_model_that_compiles_is_no_hang_and_says_so(live, tmp_path):
    """The real thing: TorchInductor with the C++ compiler of this machine; seconds to a minute until the first step."""
    import shutil

    if shutil.which("g++") is None:
        pytest.skip("there is no C++ compiler here")
    if " " in sys.prefix:
        pytest.skip("torch itself compiles nothing where its path has a blank")
    source = """import torch
model = torch.nn.Sequential(*[layer for _ in range(12) for layer in (torch.nn.Linear(32, 32), torch.nn.LayerNorm(32), torch.nn.GELU())])
compiled = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train():
    for step in range(3):
        compiled(torch.randn(8, 32)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
train()
"""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    live.python(source, cwd=live.work, env=environment)
    named = False
    while live.process.poll() is None:
        if live.folder.exists():
            verdict = live.verdict()
            causes = [cause["id"] for cause in verdict.get("causes", [])]
            assert verdict.get("outcome") != "hung", verdict["headline"]
            named = named or "compile-or-warmup" in causes
    assert_quiet(live, live.finish())
    assert named, live.seen("moving")[-1:]


def test_a_notebook_that_waits_for_its_user_is_no_hang(live):
    """The kernel itself is the job: nobody types for many times the limit."""
    pytest.importorskip("ipykernel")
    jupyter = pytest.importorskip("jupyter_client")
    connection = live.work / "kernel.json"
    live.start(sys.executable, "-m", "ipykernel_launcher", "-f", connection, cwd=live.work)
    client = jupyter.BlockingKernelClient(connection_file=str(connection))
    waiting = threading.Event()
    while not connection.exists() or not connection.read_text():
        assert live.process.poll() is None
        waiting.wait(0.1)
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    client.execute_interactive("x = 1 + 1", timeout=TIMEOUT)
    waiting.wait(8)
    client.shutdown()
    client.stop_channels()
    live.finish()
    assert live.seen("hang") == []


def test_a_run_that_moved_on_is_not_called_hung(live):
    live.python("import threading\nprint('a', flush=True)\nthreading.Event().wait(8)\n"
                "for i in range(30):\n    print('b', flush=True)\n    threading.Event().wait(0.1)\n")
    verdict = live.finish()
    assert live.seen("hang") and live.seen("hang-over")
    assert verdict["outcome"] == "completed"
    assert not [cause["id"] for cause in verdict["causes"] if cause["fault"]]
