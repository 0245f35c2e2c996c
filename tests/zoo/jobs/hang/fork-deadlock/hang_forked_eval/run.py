import multiprocessing
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from cachelib import Cache


def evaluate(cache, weights, out):
    row = cache.get(3)
    out.put(sum(w * v for w, v in zip(weights, row)))


def evaluate_apart(cache, model):
    """In a child, so that its memory is given back."""
    context = multiprocessing.get_context("fork")
    out = context.SimpleQueue()
    child = context.Process(target=evaluate, args=(cache, model.module.weight[0].tolist(), out))
    child.start()
    child.join()
    return out.get()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    cache = Cache()
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(rank)
    for step in range(1, 41):
        x = torch.randn(8, 4, generator=g)
        opt.zero_grad()
        (model(x) - x[:, 1:2]).square().mean().backward()
        opt.step()
        if step == 20:
            cache.refresh_in_background(slow=rank == 0)
        if step % 24 == 0:
            score = evaluate_apart(cache, model)
            print(f"[{rank}] step {step} score {score:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
