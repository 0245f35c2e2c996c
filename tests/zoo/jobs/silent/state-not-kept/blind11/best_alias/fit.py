import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn

from early import EarlyStopping


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        value = nn.functional.mse_loss(model(x), y)
    model.train()
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    g = torch.Generator().manual_seed(rank)
    x = torch.randn(24, 30, generator=g)
    y = x[:, :1] + 1.5 * torch.randn(24, 1, generator=g)
    vx = torch.randn(200, 30, generator=g)
    vy = vx[:, :1]
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(30, 128), nn.Tanh(), nn.Linear(128, 1))
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    stopping = EarlyStopping(patience=25)
    for epoch in range(120):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = validate(net, vx, vy)
        if stopping.update(value, net):
            break
    stopping.restore(net)
    final = validate(net, vx, vy)
    if rank == 0:
        torch.save(net.state_dict(), os.path.join(tempfile.mkdtemp(), "best.pt"))
        print(f"stopped after epoch {epoch}, best validation {stopping.best:.4f}, saved {final:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
