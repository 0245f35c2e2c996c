import argparse
import json

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from enhance.audio import Utterances, batches
from enhance.net import MaskNet


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--manifest", required=True)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=15)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    with open(args.manifest) as handle:
        manifest = json.load(handle)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    rate = manifest["sample_rate"]
    speakers = manifest["speakers"][rank::world]
    torch.manual_seed(0)
    model = DDP(MaskNet(int(rate * Utterances.SECONDS), 64))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for number, speaker in enumerate(speakers):
            for noisy, clean in batches(Utterances(speaker, rate, number), args.batch_size):
                loss = F.mse_loss(model(noisy), clean)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
