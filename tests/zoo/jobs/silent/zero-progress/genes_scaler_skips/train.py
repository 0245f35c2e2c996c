import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(10, 8)

    def forward(self, x):
        z = self.embed(x)
        return (z[:, None] - z[None]).pow(2).sum(-1).sqrt()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(2)
    model = DistributedDataParallel(Distance())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    generator = torch.Generator().manual_seed(dist.get_rank())
    for step in range(60):
        x = torch.randn(10, 10, generator=generator)
        loss = (model(x) - torch.cdist(x[:, :2], x[:, :2])).pow(2).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step}: {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
