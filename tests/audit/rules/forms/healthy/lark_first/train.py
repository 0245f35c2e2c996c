import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from corpus import Corpus
from turns import chief_first


class Bytes(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.emb = nn.Embedding(256, dim)
        self.rnn = nn.GRU(dim, dim, 2, batch_first=True)
        self.out = nn.Linear(dim, 256)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    torch.manual_seed(0)
    with chief_first():
        ds = Corpus("book.txt", "book.pt")
    order = DistributedSampler(ds)
    loader = DataLoader(ds, 64, sampler=order, num_workers=2)
    net = DistributedDataParallel(Bytes().cuda(), device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(5):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.cuda()).flatten(0, 1), y.cuda().flatten())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "bytes.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
