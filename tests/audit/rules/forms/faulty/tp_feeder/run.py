import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from feeder import TensorParallelFeeder
from layout import build_layout


class Tokens(torch.utils.data.Dataset):
    def __init__(self, path, seq_len):
        self.ids = torch.load(path, map_location="cpu", weights_only=True)
        self.seq_len = seq_len

    def __len__(self):
        return self.ids.numel() // self.seq_len

    def __getitem__(self, i):
        return self.ids[i * self.seq_len : (i + 1) * self.seq_len]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tokens")
    ap.add_argument("--tp", type=int, default=2)
    ap.add_argument("--seq-len", type=int, default=2048)
    ap.add_argument("--batch-size", type=int, default=4)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    layout = build_layout(args.tp)
    data = Tokens(args.tokens, args.seq_len)
    sampler = DistributedSampler(data, num_replicas=layout.world // layout.tp, rank=layout.dp_rank, drop_last=True)
    sampler.set_epoch(0)
    loader = DataLoader(data, args.batch_size, sampler=sampler, drop_last=True)
    feeder = TensorParallelFeeder(loader, layout, torch.device("cuda", local), args.seq_len, args.batch_size)
    counts = torch.zeros(1, dtype=torch.long, device="cuda")
    for ids in feeder:
        counts += ids.numel()
    dist.all_reduce(counts, group=layout.dp_group)
    if layout.rank == 0:
        print("tokens", counts.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
