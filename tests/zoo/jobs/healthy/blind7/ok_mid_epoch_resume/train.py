import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

import state
from sampler import ResumableSampler

BATCH, EPOCHS = 16, 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", required=True)
    parser.add_argument("--stop-at", type=int)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    g = torch.Generator().manual_seed(0)
    x = torch.randn(640, 16, generator=g)
    data = TensorDataset(x, (x[:, :4].sum(1) > 0).long())
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=EPOCHS * 20)
    first, done, history = state.load(args.state, model, optimizer, scheduler)
    sampler = ResumableSampler(len(data), rank, world)
    for epoch in range(first, EPOCHS):
        sampler.set_position(epoch, done * BATCH)
        for batch, (x, y) in enumerate(DataLoader(data, batch_size=BATCH, sampler=sampler), start=done):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            history.append(loss.item())
            if len(history) == args.stop_at:
                state.save(args.state, model, optimizer, scheduler, epoch, batch + 1, history)
                if rank == 0:
                    print(f"stopped after {len(history)} steps, in epoch {epoch}", flush=True)
                dist.destroy_process_group()
                return
        done = 0
        if rank == 0:
            print(f"epoch {epoch} steps {len(history)} loss {history[-1]:.4f}", flush=True)
    state.save(args.state, model, optimizer, scheduler, EPOCHS, 0, history)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
