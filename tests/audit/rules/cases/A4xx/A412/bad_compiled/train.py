import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Net


def main():
    dist.init_process_group("nccl")
    net = torch.compile(Net().cuda())
    model = DDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    for x in torch.load("data.pt"):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "net.pt")


if __name__ == "__main__":
    main()
