import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from detlite.data import scenes
from detlite.hooks import UnfreezeHook
from detlite.modeling import SingleObjectDetector
from detlite.trainer import SimpleTrainer


def main(args):
    torch.manual_seed(args.seed)
    model = DistributedDataParallel(SingleObjectDetector(freeze_backbone=True))
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-3)
    data = scenes(2048, 0)
    loader = DataLoader(data, batch_size=24, sampler=DistributedSampler(data, seed=args.seed), drop_last=True)
    trainer = SimpleTrainer(model, loader, optimizer, [UnfreezeHook(args.unfreeze_iter, lr=1e-3)])
    trainer.train(args.max_iter)
    trainer.test(scenes(512, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-iter", type=int, default=200)
    parser.add_argument("--unfreeze-iter", type=int, default=60)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    main(args)
    dist.barrier()
    dist.destroy_process_group()
