import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from ckpt import ShardCheckpointer
from lora import Classifier, inject


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--max-steps", type=int, default=40)
    p.add_argument("--workdir", default="work")
    p.add_argument("--resume", choices=["no", "auto"], default="no")
    p.add_argument("--rank-r", type=int, default=4)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--save-every", type=int, default=20)
    p.add_argument("--global-batch", type=int, default=48)
    return p.parse_args()


class Intents:
    def __init__(self, seed=3):
        g = torch.Generator().manual_seed(seed)
        self.centres = torch.randn(6, 16, generator=g)

    def batch(self, step, rank, world, global_batch):
        g = torch.Generator().manual_seed(step)
        y = torch.randint(0, 6, (global_batch,), generator=g)
        x = self.centres[y] + 0.7 * torch.randn(global_batch, 16, generator=g)
        return x[rank::world], y[rank::world]


def build(args):
    torch.manual_seed(0)
    model = inject(Classifier(), args.rank_r)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.lr)
    return model, optimizer


def main():
    args = get_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    log = logging.getLogger("finetune")
    model, optimizer = build(args)
    ckpt = ShardCheckpointer(args.workdir)
    start = 0
    if args.resume == "auto" and ckpt.latest() is not None:
        start = ckpt.latest()
        ckpt.load(start, model, optimizer)
    data = Intents()
    log.info("training steps %d to %d on %d workers", start, args.max_steps, world)
    for step in range(start + 1, args.max_steps + 1):
        x, y = data.batch(step, rank, world, args.global_batch)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            log.info("step %d loss %.4f", step, mean.item() / world)
        if step % args.save_every == 0 or step == args.max_steps:
            ckpt.save(step, model, optimizer)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
