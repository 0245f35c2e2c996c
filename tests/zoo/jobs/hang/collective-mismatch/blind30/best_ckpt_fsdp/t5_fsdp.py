import argparse

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader, Subset
from torch.utils.data.distributed import DistributedSampler

from summarizer import SentenceSet, Summarizer
from utils import BestCheckpoint, setup, train_one_epoch, validate


def fsdp_main(args):
    rank, world_size = setup()
    torch.manual_seed(args.seed)
    model = Summarizer(args.dim, args.layers)
    policy = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.float32)
    for layer in model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)

    train_set = SentenceSet(args.docs, 10, args.dim, seed=1)
    val_set = SentenceSet(96, 10, args.dim, seed=2, noise_by_position=True)
    sampler = DistributedSampler(train_set, shuffle=True, seed=args.seed, drop_last=True)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, sampler=sampler, drop_last=True)
    share = len(val_set) // world_size
    val_loader = DataLoader(Subset(val_set, range(rank * share, (rank + 1) * share)), batch_size=args.test_batch_size)

    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=args.gamma)
    checkpoint = BestCheckpoint(args.checkpoint_folder)

    for epoch in range(1, args.epochs + 1):
        sampler.set_epoch(epoch)
        train_one_epoch(model, rank, train_loader, optimizer, epoch, args.accum)
        if args.run_validation:
            val_loss = validate(model, rank, world_size, val_loader)
            checkpoint.update(model, rank, epoch, val_loss)
        scheduler.step()

    dist.barrier()
    if rank == 0:
        print("best validation loss", checkpoint.best, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="FSDP summarizer")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--test-batch-size", type=int, default=16)
    parser.add_argument("--docs", type=int, default=160)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--accum", type=int, default=1)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=2022)
    parser.add_argument("--run-validation", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--checkpoint-folder", default="fsdp_checkpoints")
    fsdp_main(parser.parse_args())
