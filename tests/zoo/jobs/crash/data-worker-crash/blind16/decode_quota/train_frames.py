import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from decoding import PackedFrames, WorkerPolicy


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--frames", type=int, default=320)
    ap.add_argument("--size", type=int, default=256)
    ap.add_argument("--passes", type=int, nargs="+", default=[2, 14])
    ap.add_argument("--decode-cpu-seconds", type=int, default=5)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = PackedFrames(rank, a.frames, a.size, a.passes[rank % len(a.passes)])
    loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=1, persistent_workers=True,
                        worker_init_fn=WorkerPolicy(a.decode_cpu_seconds))
    net = DDP(nn.Sequential(nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(a.epochs):
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
