import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x).mean()


def main(batches):
    torch.distributed.init_process_group("nccl")
    model = torch.compile(Net().cuda())
    ddp = DDP(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x in batches:
        ddp(x.cuda()).backward()
        optimizer.step()
    torch.save(ddp.module.state_dict(), "out/pretrained.pt")
    torch.save({"model": ddp.module.state_dict(), "step": 100}, "out/last.pt")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(torch.load("data.pt"))
