import multiprocessing as mp

import torch
from accelerate import notebook_launcher

DEVICE = torch.device("cuda")
SCALE = torch.tensor([2.4, 3.0])


def collect(seed, queue):
    policy = torch.nn.Linear(2, 2).to(DEVICE)
    queue.put((seed, policy(SCALE.to(DEVICE)).sum().item()))


def start(count):
    context = mp.get_context("fork")
    queue = context.Queue()
    return [context.Process(target=collect, args=(seed, queue)) for seed in range(count)]


notebook_launcher(start, (2,), num_processes=2)

def show():
    print(SCALE.cuda())
