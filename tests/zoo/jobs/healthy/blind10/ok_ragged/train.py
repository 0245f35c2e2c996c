import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from net import Deep


def main(accumulate=3):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(1627, 7)
    y = x[:, :1].sin() + x[:, 1:2] ** 2
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    model = DDP(Deep())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        group, total = [], 0.0
        for index, batch in enumerate(loader, 1):
            group.append(batch)
            if len(group) < accumulate and index < len(loader):
                continue
            count = sum(len(xb) for xb, _ in group)
            optimizer.zero_grad()
            for n, (xb, yb) in enumerate(group, 1):
                with contextlib.nullcontext() if n == len(group) else model.no_sync():
                    loss = nn.functional.mse_loss(model(xb), yb, reduction="sum") / count
                    loss.backward()
                total += loss.item() * count
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            group = []
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {total / len(sampler):.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
