import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F

from model import SequenceModel
from parallel import finalize_grads


def batches(steps, batch, length, features, out, seed):
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(features, out, generator=g) / features ** 0.5
    for _ in range(steps):
        x = torch.randn(batch, length, features, generator=g)
        x[:, length // 2:] *= 2.5
        yield x, torch.tanh(x @ mix)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--seq-length", type=int, default=32)
    p.add_argument("--features", type=int, default=16)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--depth", type=int, default=2)
    p.add_argument("--out", type=int, default=8)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = SequenceModel(args.features, args.dim, args.hidden, args.depth, args.out)
    optimizer = torch.optim.Adam([q for q in model.parameters() if q.requires_grad], lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.2, args.steps)
    for step, (x, y) in enumerate(batches(args.steps, args.batch, args.seq_length, args.features, args.out, 5)):
        optimizer.zero_grad()
        pred = model(x)
        loss = F.mse_loss(pred, y.chunk(world, dim=2)[rank])
        loss.backward()
        finalize_grads(model)
        optimizer.step()
        scheduler.step()
        if step % 30 == 0 or step == args.steps - 1:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            if rank == 0:
                print(f"iteration {step} lm loss {mean.item() / world:.4f}", flush=True)
    torch.save(model.state_dict(), f"mp_rank_{rank:02d}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
