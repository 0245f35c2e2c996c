import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

import stats


class Rows(Dataset):
    def __init__(self, rank):
        self.x = torch.randn(128, 6, generator=torch.Generator().manual_seed(rank))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        stats.count("rows")
        return self.x[i]


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(6, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        # workers only from the second epoch on, when the page cache is warm
        loader = DataLoader(Rows(rank), batch_size=8, num_workers=2 if epoch else 0, multiprocessing_context="fork" if epoch else None)
        for x in loader:
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch == 0 and rank == 1:
            stats.start_uploads()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
