import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from pp.nets import disparity, encoder
from pp.schedule import FirstStage, LastStage

BATCH = int(os.environ.get("BATCH", 12))
MICRO = 4


def pairs(n=106, size=16):
    g = torch.Generator().manual_seed(2)
    left = torch.rand(n, 3, size, size, generator=g)
    shift = torch.randint(0, 4, (n,), generator=g)
    right = torch.stack([image.roll(int(s), -1) for image, s in zip(left, shift)])
    truth = shift[:, None, None, None].float().expand(n, 1, size // 2, size // 2)
    return TensorDataset(torch.cat([left, right], 1), truth)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    order = torch.Generator().manual_seed(9)
    loader = DataLoader(pairs(), batch_size=BATCH, shuffle=True, generator=order)
    if rank == 0:
        stage = FirstStage(encoder(), 1, MICRO)
    else:
        stage = LastStage(disparity(), 0, MICRO, (24, 8, 8), nn.functional.smooth_l1_loss)
    optimizer = torch.optim.Adam(stage.net.parameters(), lr=2e-3)
    for epoch in range(4):
        for images, truth in loader:
            optimizer.zero_grad()
            loss = stage.step(images if rank == 0 else truth)
            optimizer.step()
        if rank == 1:
            print(f"epoch {epoch}: smooth l1 {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
