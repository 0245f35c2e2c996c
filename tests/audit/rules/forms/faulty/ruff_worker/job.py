import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.lines = f.readlines()

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        values = [float(v) for v in self.lines[i].split(",")]
        return torch.tensor(values[:-1]), torch.tensor(values[-1])


class Job:
    def __init__(self, args, rank):
        self.args, self.rank, self.step = args, rank, 0
        rows = Rows(args.data)
        self.order = DistributedSampler(rows, seed=1)
        self.loader = DataLoader(rows, 512, sampler=self.order)
        torch.manual_seed(1)
        inputs = rows[0][0].numel()
        net = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 1)).cuda(rank)
        self.net = DistributedDataParallel(net, device_ids=[rank])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-3)

    def fit(self):
        for epoch in range(self.args.epochs):
            self.order.set_epoch(epoch)
            for x, y in self.loader:
                loss = nn.functional.mse_loss(self.net(x.cuda(self.rank)).squeeze(-1), y.cuda(self.rank))
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                self.step += 1

    def finish(self):
        if self.rank == 0:
            torch.save(self.net.module.state_dict(), self.args.out)
