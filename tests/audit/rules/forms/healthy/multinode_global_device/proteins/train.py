import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from proteins.device import backend, pick_device

MASK = 24


class ProteinMLM(nn.Module):
    def __init__(self, tokens=26, dim=640, depth=12):
        super().__init__()
        self.emb = nn.Embedding(tokens, dim)
        layer = nn.TransformerEncoderLayer(dim, 10, 4 * dim, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth)
        self.out = nn.Linear(dim, tokens)

    def forward(self, ids):
        return self.out(self.body(self.emb(ids)))


def corrupt(ids, rate=0.15):
    pick = torch.rand(ids.shape, device=ids.device) < rate
    pick[:, 0] = True
    return ids.masked_fill(pick, MASK), ids.masked_fill(~pick, -100)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--sequences", default="uniref.pt")
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=2)
    args = ap.parse_args()
    dist.init_process_group(backend())
    device = pick_device()
    torch.manual_seed(dist.get_rank())
    model = ProteinMLM().to(device)
    model = DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.01)
    data = TensorDataset(torch.load(args.sequences, map_location="cpu", weights_only=True))
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, args.batch, sampler=sampler, num_workers=2, drop_last=True)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for step, (ids,) in enumerate(loader):
            noisy, target = corrupt(ids.to(device))
            with torch.autocast(device.type, dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(noisy).flatten(0, 1), target.flatten(), ignore_index=-100)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            if step % 200 == 0 and dist.get_rank() == 0:
                print(epoch, step, f"{loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
