import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from encoder import LayerDropEncoder
from wrap import wrap


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("clips")
    ap.add_argument("--depth", type=int, default=12)
    ap.add_argument("--drop", type=float, default=0.1)
    ap.add_argument("--bs", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--lr", type=float, default=3e-4)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    blob = torch.load(args.clips, map_location="cpu")
    ds = TensorDataset(blob["mels"], blob["labels"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, args.bs, sampler=sampler, num_workers=2)

    model = wrap(LayerDropEncoder(80, 256, args.depth, 35, args.drop), device)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for mels, labels in loader:
            loss = F.cross_entropy(model(mels.to(device)), labels.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
            torch.save(model.module.state_dict(), "keyword.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
