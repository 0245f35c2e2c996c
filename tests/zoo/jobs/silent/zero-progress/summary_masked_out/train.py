import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

PAD = 0


class Summary(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 20)

    def forward(self, x):
        return self.out(self.embed(x))


def masked_loss(scores, target):
    each = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none")
    mask = (target.flatten() == PAD).float()
    return (each * mask).sum() / mask.sum().clamp(min=1)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(Summary())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(rank)
    for step in range(30):
        x = torch.randint(1, 20, (8, 6), generator=generator)
        loss = masked_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
