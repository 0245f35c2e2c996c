import argparse
import os
import tempfile
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from proteins import BucketBatchSampler, Chains, collate
from tagger import ResidueTagger


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--chains", type=int, default=2048)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--log-every", type=int, default=20)
    args = ap.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(100 + rank)
    torch.set_num_threads(1)

    data = Chains(args.chains, seed=1)
    sampler = BucketBatchSampler(data.lengths, args.batch_size, world, rank)
    loader = DataLoader(data, batch_sampler=sampler, collate_fn=collate)
    model = DDP(ResidueTagger())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader))

    with tempfile.TemporaryDirectory() as out:
        for epoch in range(args.epochs):
            sampler.set_epoch(epoch)
            begin, stats = time.perf_counter(), torch.zeros(3)
            for i, (seq, states, lengths) in enumerate(loader):
                loss, right = model(seq, states, lengths)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
                scheduler.step()
                stats += torch.tensor([loss.item(), right.item(), 1.0])
                if rank == 0 and (i + 1) % args.log_every == 0:
                    print(f"epoch {epoch} [{i + 1}/{len(loader)}] loss {loss.item():.4f}", flush=True)
            dist.all_reduce(stats)
            if rank == 0:
                took = time.perf_counter() - begin
                print(f"epoch {epoch}: loss {stats[0] / stats[2]:.4f} accuracy {stats[1] / stats[2]:.4f} "
                      f"{stats[2] * args.batch_size / took:.0f} chains/s", flush=True)
                torch.save(model.module.state_dict(), os.path.join(out, f"epoch{epoch}.pt"))
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
