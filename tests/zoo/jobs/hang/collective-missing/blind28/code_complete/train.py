import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader, DistributedSampler

from model import CodeModel
from source_text import Snippets
from tracking import Tracker


def shard(model, args):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16 if args.bf16 else None, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--accumulate", type=int, default=2)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--warmup", type=int, default=6)
    p.add_argument("--log-every", type=int, default=5)
    p.add_argument("--bf16", action="store_true")
    args = p.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = Snippets()
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, args.batch, sampler=sampler, drop_last=True)
    model = shard(CodeModel(), args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / args.warmup))
    track = Tracker("metrics.jsonl", every=args.log_every)

    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for micro, (ids, targets) in enumerate(loader):
            last = (micro + 1) % args.accumulate == 0
            model.set_requires_gradient_sync(last)
            logits = model(ids)
            loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())
            (loss / args.accumulate).backward()
            track.count(ids.numel() * dist.get_world_size())
            if not last:
                continue
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            step += 1
            track(step, loss=loss.detach(), grad_norm=norm, head_norm=model.head.weight.detach().norm(),
                  lr=schedule.get_last_lr()[0])
    track.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
