"""One training of several gloo ranks, of which the last has a fault, for every launcher.

    rank_program.py LAUNCHER FAULT WRAP [ARGUMENT]

LAUNCHER is torchrun, spawn or accelerate; FAULT raises, killed, leaves, waits (for the file ARGUMENT), slow (ARGUMENT seconds a step) or
equal; WRAP is ddp, or hand where the program itself exchanges the gradients. spawn finds its port in MASTER_PORT, and 2 ranks.
"""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist

torch.set_num_threads(1)
launcher, fault, wrap, argument = (*sys.argv[1:], "")[:4]


def trouble(step):
    if fault == "raises" and step == 20:
        raise ValueError("bad sample 20")
    if fault == "killed" and step == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "waits" and step == 20:
        open(argument).read()
    if fault == "slow":
        time.sleep(float(argument))


def train(rank, ranks, model, optimizer, backward):
    for step in range(120):
        if rank == ranks - 1:
            if fault == "leaves" and step == 20:
                break
            trouble(step)
        backward(model(torch.randn(8, 4)).square().mean())
        if wrap == "hand":
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.zero_grad()


def train_by_hand(*given):
    """With init_process_group; torchrun says the rank in the environment, spawn in the arguments."""
    dist.init_process_group("gloo", **({"rank": given[0], "world_size": 2} if given else {}))
    model = torch.nn.Linear(4, 1)
    if wrap == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    train(dist.get_rank(), dist.get_world_size(), model, torch.optim.SGD(model.parameters(), lr=0.01), torch.Tensor.backward)
    time.sleep(1)  # gloo aborts when it is torn down while its threads still end an exchange.
    dist.destroy_process_group()


def train_by_accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(4, 1)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
    train(accelerator.process_index, accelerator.num_processes, model, optimizer, accelerator.backward)
    time.sleep(1)  # gloo aborts when it is torn down while its threads still end an exchange.
    accelerator.end_training()


if __name__ == "__main__":
    if launcher == "spawn":
        torch.multiprocessing.spawn(train_by_hand, nprocs=2)
    elif launcher == "accelerate":
        train_by_accelerate()
    else:
        train_by_hand()
