import argparse
import json
import logging
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F

from model import MoEClassifier
from moe import MoELayer

log = logging.getLogger("moe")


def batches(args, rank, steps):
    """Documents of a few topics; the topic decides which part of the vocabulary is used."""
    g = torch.Generator().manual_seed(args.seed * 1000 + rank)
    width = args.vocab // args.classes
    for _ in range(steps):
        y = torch.randint(args.classes, (args.batch_size,), generator=g)
        ids = y[:, None] * width + torch.randint(width, (args.batch_size, args.seq_len), generator=g)
        yield ids, y


def sync_dense_grads(model, world):
    for name, p in model.named_parameters():
        if model.is_expert(name) or p.grad is None:
            continue
        dist.all_reduce(p.grad)
        p.grad /= world


def moe_layers(model):
    return [m for m in model.modules() if isinstance(m, MoELayer)]


def expert_load(model):
    return [layer.load.tolist() for layer in moe_layers(model)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--vocab", type=int, default=128)
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--num-experts", type=int, default=4)
    p.add_argument("--classes", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=3)
    p.add_argument("--seq-len", type=int, default=12)
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--aux", type=float, default=0.0, help="weight of the balance loss")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--out", default="runs/moe")
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.manual_seed(args.seed)
    model = MoEClassifier(args.vocab, args.dim, args.layers, args.hidden, args.num_experts, args.classes, dist.group.WORLD)
    torch.manual_seed(args.seed + 10 * rank)
    for layer in moe_layers(model):
        for expert in layer.experts:
            expert.w1.reset_parameters()
            expert.w2.reset_parameters()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 20))

    for step, (ids, y) in enumerate(batches(args, rank, args.steps)):
        logits, aux = model(ids)
        loss = F.cross_entropy(logits, y) + args.aux * aux
        opt.zero_grad()
        loss.backward()
        sync_dense_grads(model, world)
        torch.nn.utils.clip_grad_norm_([q for n, q in model.named_parameters() if not model.is_expert(n)], 1.0)
        opt.step()
        sched.step()
        if step % 10 == 0:
            stats = torch.tensor([loss.item(), (logits.argmax(1) == y).float().mean().item()])
            dist.all_reduce(stats)
            log.info("step %d loss %.3f acc %.2f", step, *(stats / world).tolist())

    os.makedirs(args.out, exist_ok=True)
    torch.save(model.state_dict(), f"{args.out}/rank{rank}.pt")
    if rank == 0:
        with open(f"{args.out}/load.json", "w") as f:
            json.dump(expert_load(model), f)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
