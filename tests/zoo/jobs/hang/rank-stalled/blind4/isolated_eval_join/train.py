"""Learns to move boxes apart; the clash check runs in isolation on the first rank."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from clash_report import clash_report
from spawn_isolation import run_isolated


class Mover(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, boxes):
        shift = self.net(boxes)
        return boxes + torch.cat([shift, shift], dim=1)


def make_boxes(count, seed):
    low = torch.rand(count, 3, generator=torch.Generator().manual_seed(seed))
    return torch.cat([low, low + 0.4], dim=1)


def crowding(boxes):
    centres = (boxes[:, :3] + boxes[:, 3:]) / 2
    distance = torch.cdist(centres, centres) + torch.eye(len(centres))
    return torch.relu(0.4 - distance).mean()


class ClashEvaluation:
    """A short report after each epoch, a verbose one after the last."""

    def __init__(self, rank, epochs):
        self.rank, self.epochs = rank, epochs
        self.boxes = make_boxes(160, seed=77)

    @torch.no_grad()
    def __call__(self, model, epoch):
        if self.rank == 0:
            last = epoch == self.epochs - 1
            count = 160 if last else 12
            moved = model.module(self.boxes[:count]).tolist()
            report = run_isolated(clash_report, moved, last)
            print(f"epoch {epoch}: {len(report['clashes'])} clashes of {report['boxes']} boxes", flush=True)
        dist.barrier()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(Mover())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    epochs = 2
    evaluate = ClashEvaluation(rank, epochs)
    for epoch in range(epochs):
        for step in range(4):
            loss = crowding(model(make_boxes(24, seed=100 * epoch + 10 * step + rank)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        evaluate(model, epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
