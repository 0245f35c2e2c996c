import argparse
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from gpt import GPT, token_stream
from hooks import Hooks, PrintHook, ScheduleHook
from schedule import cosine_with_warmup


def get_batch(data, block, size, gen):
    ix = torch.randint(len(data) - block - 1, (size,), generator=gen)
    x = torch.stack([data[i:i + block] for i in ix])
    return x, torch.stack([data[i + 1:i + 1 + block] for i in ix])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--max-updates", type=int, default=120)
    p.add_argument("--grad-accum", type=int, default=3)
    p.add_argument("--warmup", type=int, default=10)
    p.add_argument("--block", type=int, default=48)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(6)
    model = DDP(GPT(97, args.block))
    optim = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
    hooks = Hooks(ScheduleHook(cosine_with_warmup(optim, args.warmup, args.max_updates)), PrintHook(rank, 10))
    data = token_stream(60000, 97)
    gen = torch.Generator().manual_seed(100 + rank)
    for update in range(args.max_updates):
        total = 0.0
        for micro in range(args.grad_accum):
            x, y = get_batch(data, args.block, args.batch, gen)
            with nullcontext() if micro == args.grad_accum - 1 else model.no_sync():
                loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten()) / args.grad_accum
                loss.backward()
            total += loss.item()
            hooks.call("after_batch", micro=micro, update=update)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        optim.zero_grad(set_to_none=True)
        hooks.call("after_update", update=update, loss=total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
