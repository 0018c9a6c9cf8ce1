"""Workers that were forked from a process with threads, and wait for what was not copied: real JAX, tokenizers, OpenMP."""

import pytest
from conftest import root, told

JAX = """import multiprocessing
import jax.numpy as jnp
def work(index):
    return float(jnp.dot(jnp.ones((99, 99)), jnp.ones((99, 99))).sum())
if __name__ == "__main__":
    jnp.dot(jnp.ones((9, 9)), jnp.ones((9, 9))).block_until_ready()
    print("start", flush=True)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, range(4))
"""
TOKENIZER = """import os
os.environ["TOKENIZERS_PARALLELISM"] = "true"
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
texts = [f"the cat sat on the mat {i}" for i in range(2000)]
tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=200, show_progress=False))
tokenizer.encode_batch(texts)
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.tensor(tokenizer.encode_batch(texts[:500])[0].ids[:4])
if __name__ == "__main__":
    print("start", flush=True)
    for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2, multiprocessing_context="fork"):
        pass
"""
OPENMP = """import torch
torch.set_num_threads(4)
torch.exp(torch.randn(2000, 2000)).sum()
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 16
    def __getitem__(self, index):
        torch.set_num_threads(4)
        return torch.exp(torch.randn(2000, 2000)).sum()
if __name__ == "__main__":
    print("start", flush=True)
    for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1, multiprocessing_context="fork"):
        pass
"""
POOL = """import multiprocessing, threading
lock = threading.Lock()
def work(index):
    with lock:
        return index
if __name__ == "__main__":
    lock.acquire()
    print("start", flush=True)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, range(4))
"""
DEAD = """import multiprocessing, os, signal
def work(queue):
    os.kill(os.getpid(), signal.SIGKILL)
    queue.put(1)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    worker = context.Process(target=work, args=(queue,))
    worker.start()
    print("start", flush=True)
    queue.get()
"""


@pytest.mark.parametrize(
    "needs, source, cause, place",
    [("jax", JAX, "jax-fork-deadlock", "program.py:4 in work"),
     ("tokenizers", TOKENIZER, "tokenizer-fork-deadlock", "program.py:14 in "),
     ("torch", OPENMP, "fork-openmp-deadlock", "program.py:9 in "),
     ("multiprocessing", POOL, "lock-held", "program.py:4 in work"),
     ("multiprocessing", DEAD, "dataloader-worker-killed", "program.py:11 in ")],
    ids=["jax", "tokenizer", "openmp", "lock", "dead worker"],
)
def test_what_a_forked_worker_waits_for(live, needs, source, cause, place):
    pytest.importorskip(needs)
    live.python(source, hang_after="8")
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", cause), told(root(verdict))
    assert place in told(root(verdict))
