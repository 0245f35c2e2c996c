import argparse

import torch
import torch.distributed as dist
from torch import nn

from lora.layers import inject
from lora.model import Decoder
from lora.parallel import shard


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--warmup", type=int, default=20, help="steps in which only the adapters learn")
    p.add_argument("--max-norm", type=float, default=1.0)
    return p.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(11)
    model = inject(Decoder(), {"q_proj", "v_proj"})
    for name, p in model.named_parameters():
        p.requires_grad_("down" in name or "up" in name)
    model, mesh = shard(model, world)
    torch.manual_seed(100 + rank)
    optimizer = torch.optim.AdamW([p for p in model.parameters()], lr=2e-3)
    for step in range(args.steps):
        if step == args.warmup:
            model.score.requires_grad_(True)
            for p in model.score.parameters():
                dist.broadcast(p.data, 0)
        ids = torch.randint(0, 96, (8, 24))
        loss = nn.functional.cross_entropy(model(ids), ids.sum(1) % 5)
        optimizer.zero_grad()
        loss.backward()
        trainable = [p for p in model.parameters() if p.requires_grad]
        for p in model.score.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad)
                p.grad /= world
        norm = nn.utils.clip_grad_norm_(trainable, args.max_norm)
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
