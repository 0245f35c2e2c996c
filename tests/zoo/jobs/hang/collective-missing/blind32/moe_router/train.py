import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F

from corpus import CallLogs
from layers import MoELM

log = logging.getLogger("moe")


def is_expert(name):
    return ".experts." in name


def reduce_gradients(model, world):
    """Experts see the tokens of all ranks already; everything else is averaged here."""
    for name, p in model.named_parameters():
        if is_expert(name):
            if p.grad is not None:
                p.grad /= world
            continue
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)
        p.grad /= world


def build(args):
    torch.manual_seed(args.seed)
    model = MoELM()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if not is_expert(name):
                dist.broadcast(p, src=0)
    decay = [p for n, p in model.named_parameters() if p.ndim > 1]
    rest = [p for n, p in model.named_parameters() if p.ndim <= 1]
    return model, torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}],
                                    lr=args.lr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--batch-size", type=int, default=1)
    p.add_argument("--length", type=int, default=5)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--log-every", type=int, default=20)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    model, optimizer = build(args)
    data = CallLogs(40, rank)
    for step in range(args.steps):
        x, y = data.batch(args.batch_size, args.length)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        reduce_gradients(model, world)
        torch.nn.utils.clip_grad_norm_([p for n, p in model.named_parameters() if not is_expert(n)], 1.0)
        optimizer.step()
        if step % args.log_every == 0:
            log.info("step %d loss %.3f load %s", step, loss.item(),
                     [[round(v, 1) for v in m.load.tolist()] for m in model.ffn if hasattr(m, "load")])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
