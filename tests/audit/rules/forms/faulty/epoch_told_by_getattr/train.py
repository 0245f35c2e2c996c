import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Rows(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]


def tell_epoch(epoch, *things):
    for one in things:
        tell = getattr(one, "set_epoch", None)
        if tell is not None:
            tell(epoch)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    rows = Rows("rows.pt")
    loader = DataLoader(rows, 32, sampler=DistributedSampler(rows, drop_last=True), drop_last=True)  # cause
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(30):  # cause
        tell_epoch(epoch, loader, rows)  # cause
        for x in loader:
            opt.zero_grad(set_to_none=True)
            model(x.to(device)).square().mean().backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
