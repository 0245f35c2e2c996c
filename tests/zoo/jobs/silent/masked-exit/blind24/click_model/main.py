import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from data import ClickLog
from track import Run


class DeepFM(nn.Module):
    def __init__(self, placements=40, dim=8):
        super().__init__()
        self.place = nn.Embedding(placements, dim)
        self.mlp = nn.Sequential(nn.Linear(dim + 6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, where, dense):
        return self.mlp(torch.cat([self.place(where), dense], 1)).squeeze(1)


def fit(model, loader, run, rank):
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for step, (where, dense, click) in enumerate(loader):
        loss = nn.functional.binary_cross_entropy_with_logits(model(where, dense), click)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.scalar(step, loss=loss.item())
        if rank == 0 and step % 20 == 0:
            print(f"step {step} logloss {loss.item():.4f}", flush=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(5)
    model = DDP(DeepFM())
    loader = DataLoader(ClickLog(rank), batch_size=64, num_workers=1)
    with Run(f"/tmp/click_model_{rank}.json", hours=8) as run:
        fit(model, loader, run, rank)
    if rank == 0:
        torch.save(model.module.state_dict(), "/tmp/click_model.pt")
        print(f"model of {len(run.rows)} steps saved", flush=True)


if __name__ == "__main__":
    main()
