import argparse
import logging
import shutil
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from uploads import UploadCallback

log = logging.getLogger("sft")


class Adapter(nn.Module):
    """A frozen linear layer with a trained correction of low rank."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.a.t() @ self.b.t()


def build_model(width, rank):
    torch.manual_seed(0)
    return nn.Sequential(Adapter(nn.Linear(width, 4 * width), rank), nn.ReLU(), Adapter(nn.Linear(4 * width, width), rank))


def build_data(width, n):
    g = torch.Generator().manual_seed(2)
    x = torch.randn(n, width, generator=g)
    return TensorDataset(x, torch.roll(x, 1, dims=1) * 0.5)


def adapter_state(model):
    return {k: v for k, v in model.state_dict().items() if not k.split(".")[-2] == "base"}


def save(args, model, optimizer, step):
    folder = Path(args.output) / f"checkpoint-{step}"
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(adapter_state(model), folder / "adapter.pt")
    torch.save(optimizer.state_dict(), folder / "optimizer.pt")
    for old in sorted(Path(args.output).glob("checkpoint-*"), key=lambda p: int(p.name.split("-")[1]))[: -args.keep]:
        shutil.rmtree(old)
    return folder


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--output", default="output")
    p.add_argument("--store", default="file://" + str(Path(__file__).resolve().parent / "store"))
    p.add_argument("--run", default="sft-adapter")
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--width", type=int, default=32)
    p.add_argument("--adapter-rank", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--save-steps", type=int, default=30)
    p.add_argument("--keep", type=int, default=2)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, stream=sys.stdout, format="%(message)s")
    model = DDP(build_model(args.width, args.adapter_rank))
    data = build_data(args.width, 960)
    sampler = DistributedSampler(data, seed=1)
    loader = DataLoader(data, args.batch_size, sampler=sampler)
    optimizer = torch.optim.AdamW([q for q in model.parameters() if q.requires_grad], lr=5e-3)
    uploads = UploadCallback(args.store, args.run, enabled=rank == 0)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % args.save_steps == 0:
                if rank == 0:
                    uploads.on_save(save(args, model.module, optimizer, step))
                dist.barrier()
        log.info("epoch %d loss %.4f", epoch, loss.item())
    uploads.on_train_end()
    dist.barrier()
    dist.destroy_process_group()
    log.info("training finished successfully")


if __name__ == "__main__":
    main()
