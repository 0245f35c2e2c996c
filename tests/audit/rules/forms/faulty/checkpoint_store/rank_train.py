import argparse
import itertools
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from storage import CheckpointStore


class Ranker(nn.Module):
    def __init__(self, items, dim=128):
        super().__init__()
        self.user = nn.EmbeddingBag(items, dim)
        self.item = nn.Embedding(items, dim)

    def forward(self, history, positive, negative):
        u = self.user(history)
        return (u * self.item(positive)).sum(-1), (u * self.item(negative)).sum(-1)


def forever(loader):
    for epoch in itertools.count():
        loader.sampler.set_epoch(epoch)
        yield from loader


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--items", type=int, required=True)
    ap.add_argument("--steps", type=int, default=50_000)
    ap.add_argument("--save-every", type=int, default=5_000)
    ap.add_argument("--root", default="ckpt")
    args = ap.parse_args()
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    blob = torch.load(args.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["history"], blob["positive"])
    loader = DataLoader(ds, 1024, sampler=DistributedSampler(ds, drop_last=True), drop_last=True)
    model = DDP(Ranker(args.items).cuda(), device_ids=[local])
    opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
    store = CheckpointStore(args.root)
    gen = torch.Generator().manual_seed(1000 + dist.get_rank())
    for step, (history, positive) in enumerate(itertools.islice(forever(loader), args.steps), start=1):
        negative = torch.randint(0, args.items, positive.shape, generator=gen)
        good, bad = model(history.cuda(), positive.cuda(), negative.cuda())
        loss = -nn.functional.logsigmoid(good - bad).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % args.save_every == 0:
            took = store.save(step, model=model.module, opt=opt)
            if took is not None:
                print(f"step {step}: saved in {took:.1f}s")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
