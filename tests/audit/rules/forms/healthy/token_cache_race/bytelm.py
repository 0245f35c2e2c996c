import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from tokencache import ByteTokens


class GRULM(nn.Module):
    def __init__(self, dim=512):
        super().__init__()
        self.emb = nn.Embedding(256, dim)
        self.rnn = nn.GRU(dim, dim, 2, batch_first=True)
        self.out = nn.Linear(dim, 256)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--texts", required=True)
    ap.add_argument("--cache", default="/shared/cache/bytes.npy")
    ap.add_argument("--bs", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl", device_id=torch.device("cuda", gpu))
    ds = ByteTokens(args.texts, args.cache)
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, args.bs, sampler=sampler, num_workers=4, pin_memory=True)
    model = DDP(GRULM().cuda(gpu), device_ids=[gpu])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x.cuda(gpu)).flatten(0, 1), y.cuda(gpu).flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 200 == 0 and dist.get_rank() == 0:
                print(f"{epoch}/{i} {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
