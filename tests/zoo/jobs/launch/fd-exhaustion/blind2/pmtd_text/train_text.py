import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from inference import inference
from solver import make_optimizer, make_scheduler
from text_dataset import PolygonDataset


def build_loader(dataset, batch_size, workers, shuffle):
    sampler = DistributedSampler(dataset, shuffle=shuffle)
    return DataLoader(dataset, batch_size, sampler=sampler, num_workers=workers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 8))
    model = DDP(model)
    train_loader = build_loader(PolygonDataset(96, 0), 8, args.workers, True)
    test_loader = build_loader(PolygonDataset(400, 10_000), 2, args.workers, False)
    optimizer = make_optimizer(model, 0.02, 1e-4)
    scheduler = make_scheduler(optimizer, 4, args.epochs * len(train_loader))
    for epoch in range(args.epochs):
        train_loader.sampler.set_epoch(epoch)
        model.train()
        for batch in train_loader:
            loss = (model(batch["features"]) - batch["polygon"]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        error = inference(model.module, test_loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} test error {error:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
