import argparse
import logging
import math

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from .checkpoint import CheckpointManager
from .model import GPT, GPTConfig

logger = logging.getLogger("gpt")


def lr_at(step, args):
    if step < args.warmup:
        return args.lr * step / args.warmup
    ratio = (step - args.warmup) / max(1, args.steps - args.warmup)
    return args.min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (args.lr - args.min_lr)


def get_batch(data, args, generator):
    starts = torch.randint(len(data) - args.block - 1, (args.batch,), generator=generator)
    rows = torch.stack([data[s:s + args.block + 1] for s in starts])
    return rows[:, :-1], rows[:, 1:]


def main():
    p = argparse.ArgumentParser()
    for name, default in dict(steps=60, batch=8, block=32, warmup=5, ckpt_interval=20, keep=2).items():
        p.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--min-lr", type=float, default=3e-4)
    p.add_argument("--out", default="checkpoints")
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(name)s %(message)s")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("dp",))
    torch.manual_seed(1234)
    model = GPT(GPTConfig(block_size=args.block))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=0.1)
    manager = CheckpointManager(args.out, args.ckpt_interval, args.keep, rank)
    data = (torch.arange(20000) * 7 + (torch.arange(20000) // 11)) % 64
    generator = torch.Generator().manual_seed(1000 + rank)

    for step in range(1, args.steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = lr_at(step, args)
        x, y = get_batch(data, args, generator)
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 5 == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            logger.info("step %d loss %.4f", step, mean.item() / dist.get_world_size())
        manager.maybe_save(model, step, last=step == args.steps)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
