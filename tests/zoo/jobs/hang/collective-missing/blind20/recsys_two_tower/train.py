import argparse

import torch.distributed as dist

from recsys.catalog import Catalog
from recsys.trainer import Trainer


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=800)
    p.add_argument("--items", type=int, default=6000)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--max-steps", type=int, default=1000000)
    p.add_argument("--max-seconds", type=float, default=9)
    p.add_argument("--log-every", type=int, default=200)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=12)
    p.add_argument("--serving-file", default="serving/neighbours.jsonl")
    return p.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    catalog = Catalog(args.users, args.items, args.seed)
    if dist.get_rank() == 0:
        catalog.export(args.serving_file)
    trainer = Trainer(args, catalog)
    trainer.fit()
    score = trainer.recall()
    if dist.get_rank() == 0:
        print(f"steps {trainer.step} recall@20 {score:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
