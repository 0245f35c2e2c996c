import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from export import BestKeeper


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def main():
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(0)
    model = nn.Sequential(*[Block(16) for _ in range(3)])
    for block in model:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    keeper = BestKeeper("/tmp/fsdp_export_best.pt")
    for epoch in range(5):
        for _ in range(10):
            x = torch.randn(8, 16)
            loss = (model(x) - x.roll(1, 1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        keeper.update(model, mean.item() / dist.get_world_size())
        print(f"rank {dist.get_rank()} epoch {epoch} best {keeper.best:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
