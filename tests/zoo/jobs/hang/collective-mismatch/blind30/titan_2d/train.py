import argparse
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

from llama import Transformer, parallelize
from parallel_dims import ParallelDims
from text_data import build_loader


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--dp", type=int, default=-1)
    p.add_argument("--tp", type=int, default=2)
    p.add_argument("--vocab", type=int, default=64)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--max-len", type=int, default=48)
    p.add_argument("--train-size", type=int, default=512)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--log-freq", type=int, default=4)
    p.add_argument("--seed", type=int, default=42)
    return p.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    dims = ParallelDims.from_args(args)
    mesh = dims.build_mesh()
    rank = dist.get_rank()
    if rank == 0:
        print(f"mesh: dp={dims.dp} tp={dims.tp}", flush=True)

    torch.manual_seed(args.seed)
    model = parallelize(Transformer(args.vocab, args.dim, args.heads, args.layers), mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), foreach=False)
    loader, sampler = build_loader(args)
    dp_group = mesh["dp"].get_group()

    step, began = 0, time.time()
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % args.log_freq == 0:
                mean = loss.detach().clone()
                dist.all_reduce(mean, group=dp_group)
                if rank == 0:
                    print(f"step {step} loss {mean.item() / dims.dp:.4f} {(time.time() - began) / step:.3f}s/step", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
