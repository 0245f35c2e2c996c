import datetime
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import ClickShards


class Ranker(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU())
        self.out = nn.Linear(64, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


class Job:
    def __init__(self):
        self.rank = int(os.environ["RANK"])
        self.world = int(os.environ["WORLD_SIZE"])
        dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=30))
        torch.manual_seed(99)
        self.model = DDP(Ranker(64))
        self.opt = torch.optim.Adagrad(self.model.parameters(), lr=0.05)
        self.criterion = nn.BCEWithLogitsLoss()

    def loader(self, day):
        shards = ClickShards(f"logs/{day}/part-*.json.gz", self.rank, self.world)
        return DataLoader(shards, batch_size=512, num_workers=2)

    def one_day(self, day):
        seen = 0
        for x, y in self.loader(day):  # cause
            self.opt.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()  # cause
            self.opt.step()
            seen += len(x)
        return seen

    def run(self, days):
        for day in days:
            count = torch.tensor([float(self.one_day(day))])
            dist.all_reduce(count)
            if self.rank == 0:
                print(day, int(count.item()), "rows")
                torch.save(self.model.module.state_dict(), f"ranker-{day}.pt")


if __name__ == "__main__":
    job = Job()
    job.run([f"2024-03-{d:02d}" for d in range(1, 15)])
    dist.destroy_process_group()
