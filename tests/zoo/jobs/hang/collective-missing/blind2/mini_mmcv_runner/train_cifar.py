import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from mmrunner.hooks import DistEvalHook, OptimizerHook, TextLoggerHook
from mmrunner.runner import EpochBasedRunner


def batch_processor(model, batch):
    img, label = batch
    pred = model(img)
    loss = F.cross_entropy(pred, label)
    acc = (pred.argmax(1) == label).float().mean()
    return dict(loss=loss, log_vars=dict(loss=loss.item(), acc=acc.item()), num_samples=img.size(0))


def make_split(n, seed):
    g = torch.Generator().manual_seed(seed)
    img = torch.randn(n, 3, 8, 8, generator=g)
    return TensorDataset(img, (img.mean((1, 2, 3)) > 0).long())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    model = DistributedDataParallel(model)
    train_set, val_set = make_split(256, 1), make_split(64, 2)
    loader = DataLoader(train_set, batch_size=16, sampler=DistributedSampler(train_set))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    runner = EpochBasedRunner(model, optimizer, batch_processor, args.epochs)
    runner.register_hook(OptimizerHook(grad_clip=5.0), DistEvalHook(val_set, interval=2), TextLoggerHook(interval=4))
    runner.run(loader)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
