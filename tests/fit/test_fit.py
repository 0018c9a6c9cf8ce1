"""`whystop fit`: the batch it names fits into a real memory control group, and one that is a tenth larger does not."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
GROUP = ROOT / "demo" / "memory_group.sh"
PYTHON = os.environ.get("WHYSTOP_PYTHON", sys.executable)
ALL = os.environ.get("WHYSTOP_ALL") == "1"
TIMEOUT = 2400  # Seconds after which something hangs.
LIMIT_MIB = 700
pytestmark = pytest.mark.skipif(not WHYSTOP.exists(), reason="no binary")

# The batch size is read from the surroundings, so that the real program can be given any.
BEGIN = '''
import os
import torch
from torch import nn
torch.manual_seed(0)
size = int(os.environ.get("BATCH", {own}))
'''
LOOP = '''
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=size, shuffle=True)
made = 0
for epoch in range(100):
    for a, b in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
        made += 1
        if made == 6:
            raise SystemExit
'''
PROGRAMS = {
    "mlp": BEGIN.format(own=64) + '''
X, y = torch.randn(20000, 256), torch.randint(0, 10, (20000,))
net = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))
''' + LOOP,
    "cnn": BEGIN.format(own=16) + '''
X, y = torch.randn(600, 3, 48, 48), torch.randint(0, 10, (600,))
net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
''' + LOOP,
    "no loader": BEGIN.format(own=32) + '''
X, y = torch.randn(4096, 32, 64), torch.randint(0, 10, (4096,))
body = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), 2)
net = nn.Sequential(body, nn.Flatten(), nn.Linear(2048, 10))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(6):
    picked = torch.arange(step, step + size) % 4096
    loss = nn.functional.cross_entropy(net(X[picked]), y[picked])
    opt.zero_grad()
    loss.backward()
    opt.step()
''',
}


def record(folder, source):
    (folder / "train.py").write_text(source)
    subprocess.run([WHYSTOP, "run", "-q", "--dir", folder / "run", "--", PYTHON, "train.py"], cwd=folder, check=True, capture_output=True,
                   env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    return folder / "run"


def fit(run, *options):
    done = subprocess.run([WHYSTOP, "fit", "--json", "--budget", "30m", "--limit", f"{LIMIT_MIB}M", *options, run], capture_output=True, text=True,
                          timeout=TIMEOUT, check=False, stdin=subprocess.DEVNULL)
    if "cannot be protected" in done.stderr or "more than this machine" in done.stderr:
        pytest.skip(done.stderr)
    return done


def lives(folder, batch):
    """Whether the real program ends well with this batch in a real group with the limit."""
    made = subprocess.run([GROUP, "make", str(LIMIT_MIB)], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip("no memory control group can be made here")
    group = made.stdout.strip()
    try:
        done = subprocess.run([GROUP, "run", group, PYTHON, "train.py"], cwd=folder, env={**os.environ, "BATCH": str(batch), "OMP_NUM_THREADS": "1"},
                              capture_output=True, timeout=TIMEOUT, check=False)
    finally:
        for _ in range(100):
            if subprocess.run([GROUP, "remove", group], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
    return done.returncode == 0


@pytest.mark.skipif(not ALL, reason="many minutes of trials: make test-all")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_largest_batch_is_found(name, tmp_path):
    run = record(tmp_path, PROGRAMS[name])
    done = fit(run)
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and answer["settled"], done.stdout + done.stderr
    batch = answer["batch"]
    assert lives(tmp_path, batch), answer
    assert not lives(tmp_path, round(batch * 1.1) + 1), answer
    assert {part["name"] for part in answer["parts"]} >= {"activations and batch", "model", "gradients"}
    assert [saving["what"] for saving in answer["savings"]][:1] == ["accumulation"]


def groups():
    return [path for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") for path in pathlib.Path(root).rglob("whystop-fit-*") if path.is_dir()]


def test_a_kill_in_the_middle_leaves_no_group_and_no_process(tmp_path):
    run = record(tmp_path, PROGRAMS["cnn"])
    whystop = subprocess.Popen([WHYSTOP, "fit", "--limit", f"{LIMIT_MIB}M", "--budget", "30m", run], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    name = f"whystop-fit-{whystop.pid}-"
    end = time.monotonic() + TIMEOUT
    while not (run / "fit" / "batch-0" / "trial").exists() and whystop.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    if whystop.poll() is not None:
        pytest.skip("no trial could be made")
    whystop.send_signal(signal.SIGKILL)
    whystop.wait()
    while any(name in str(group) for group in groups()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(name in str(group) for group in groups())


@pytest.mark.parametrize(("arguments", "word"), [(["--limit", "much"], "no size"), (["--limit", "900T"], "more than this machine")])
def test_bad_input_is_refused_with_a_sentence(arguments, word, tmp_path):
    run = record(tmp_path, "print(1)")
    done = subprocess.run([WHYSTOP, "fit", *arguments, run], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if "cannot be protected" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 2 and word in done.stderr


def test_a_program_without_training_is_told_so(tmp_path):
    done = fit(record(tmp_path, "import torch\nprint(1)"))
    assert done.returncode == 3 and "before its first training step" in json.loads(done.stdout)["trouble"]
