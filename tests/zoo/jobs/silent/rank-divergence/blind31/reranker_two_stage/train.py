import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from rerank.checkpoint import BestCheckpoint
from rerank.data import Queries
from rerank.engine import Stage, wrap
from rerank.model import Reranker


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pretrain-epochs", type=int, default=14)
    p.add_argument("--finetune-epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=6e-3)
    p.add_argument("--save-dir", default="ckpt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(2024 + rank)
    log = (lambda m: print(m, flush=True)) if rank == 0 else (lambda m: None)

    train_set, val_set = Queries(1600, seed=1), Queries(320, seed=2)
    train = DataLoader(train_set, args.batch_size, drop_last=True, sampler=DistributedSampler(train_set, world, rank))
    val = DataLoader(val_set, 80, sampler=DistributedSampler(val_set, world, rank, shuffle=False))

    model = wrap(Reranker())
    best = BestCheckpoint(args.save_dir)
    Stage("pretrain", model, args.lr, args.pretrain_epochs).run(train, val, log, best)
    best.restore(model.module)
    log(f"best {best.monitor} {best.best_value:.4f} ({best.best_path})")
    Stage("finetune", model, args.lr * 0.1, args.finetune_epochs, margin=0.5).run(train, val, log)
    if rank == 0:
        torch.save(model.module.state_dict(), f"{args.save_dir}/final.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
