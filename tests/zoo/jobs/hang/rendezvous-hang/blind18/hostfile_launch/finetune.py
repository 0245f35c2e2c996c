import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import comm
from head import Classifier


def main():
    comm.start()
    torch.manual_seed(0)
    model = DDP(Classifier(64, 4))
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    g = torch.Generator().manual_seed(dist.get_rank())
    for step in range(300):
        x = torch.randn(32, 64, generator=g)
        y = x.view(32, 4, 16).sum(-1).argmax(-1)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if dist.get_rank() == 0:
        print("done", loss.item(), flush=True)
    comm.stop()


if __name__ == "__main__":
    main()
