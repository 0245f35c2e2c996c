import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from losses import ContrastiveObjective, unwrap
from pairs import PairDataset
from towers import TwoTower


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--pairs", required=True)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--lr", type=float, default=5e-4)
    ap.add_argument("--out", default="clip.pt")
    return ap.parse_args()


def main():
    args = parse()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    data = PairDataset(args.pairs)
    sampler = DistributedSampler(data, shuffle=True, drop_last=True)
    loader = DataLoader(data, args.batch_size, sampler=sampler, num_workers=8, pin_memory=True, drop_last=True)
    model = DDP(TwoTower().to(device), device_ids=[device.index])
    objective = ContrastiveObjective()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.1)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for batch in loader:
            batch = {k: v.to(device, non_blocking=True) for k, v in batch.items()}
            loss = objective(model, batch)  # cause
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            torch.save(unwrap(model).state_dict(), args.out)
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
