import argparse
import itertools
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from heads import MultiTask
from wrap import wrap

TASKS = {"topic": 40, "tone": 5, "language": 96}


def task_stream(root, task, batch_size):
    blob = torch.load(os.path.join(root, f"{task}.pt"), map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size, sampler=sampler, drop_last=True)
    for epoch in itertools.count():
        sampler.set_epoch(epoch)
        yield from loader


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root")
    ap.add_argument("--steps", type=int, default=30_000)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--dim", type=int, default=768)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    streams = {name: task_stream(args.root, name, args.batch_size) for name in TASKS}
    model = wrap(MultiTask(args.dim, TASKS), device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step, task in enumerate(itertools.islice(itertools.cycle(TASKS), args.steps)):
        x, y = next(streams[task])
        loss = F.cross_entropy(model(x.to(device), task), y.to(device))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 500 == 0 and dist.get_rank() == 0:
            print(step, task, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
