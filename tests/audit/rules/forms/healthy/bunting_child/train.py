import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from child import evaluate


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(1)
    blob = torch.load("digits.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds)
    loader = DataLoader(ds, 256, sampler=order)
    net = DistributedDataParallel(nn.Linear(blob["x"].size(1), 10).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(10):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        path = f"digits_{epoch}.pt"
        if dist.get_rank() == 0:
            torch.save(net.module.state_dict(), path)
        evaluate(path, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
