import os
import pathlib
import signal
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
import multiprocessing

import torch


def fit(shard, marks):
    torch.set_num_threads(1)
    mark = pathlib.Path(marks, f"shard{shard}")
    if shard == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)     # stands for the kernel's OOM killer
    torch.manual_seed(shard)
    x = torch.randn(64, 4)
    weight = torch.zeros(4, 1, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=0.1)
    for _ in range(10):
        loss = (x @ weight - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return weight.detach().numpy()


def main():
    todo, done = set(range(4)), {}
    ctx = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as marks:
        for attempt in range(3):
            with ProcessPoolExecutor(2 if attempt == 0 else 1, mp_context=ctx) as pool:
                futures = {shard: pool.submit(fit, shard, marks) for shard in sorted(todo)}
                for shard, future in futures.items():
                    try:
                        done[shard] = future.result()
                    except BrokenProcessPool:
                        continue
            todo -= set(done)
            if not todo:
                break
    assert not todo, f"no result for {todo}"
    print("weights of", len(done), "shards")


if __name__ == "__main__":
    main()
