import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from detlite.data import scenes
from detlite.modeling import SingleObjectDetector
from detlite.stages import run_stage


def main(args):
    torch.manual_seed(args.seed)
    detector = SingleObjectDetector(freeze_backbone=True)
    data = scenes(2048, 0)
    loader = DataLoader(data, batch_size=24, sampler=DistributedSampler(data, seed=args.seed), drop_last=True)
    run_stage(detector, loader, 1e-3, args.head_iter)
    detector.unfreeze_backbone()
    trainer = run_stage(detector, loader, 1e-3, args.full_iter, start=args.head_iter)
    trainer.test(scenes(512, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--head-iter", type=int, default=60)
    parser.add_argument("--full-iter", type=int, default=130)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    main(args)
    dist.barrier()
    dist.destroy_process_group()
