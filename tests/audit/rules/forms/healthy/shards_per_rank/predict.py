import argparse
import json
import os
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


class Classifier(nn.Module):
    def __init__(self, n, classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 256), nn.ReLU(), nn.Linear(256, classes))

    def forward(self, x):
        return self.net(x)


class ShardedPredictor:
    def __init__(self, out, device):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.out, self.device = Path(out), device
        self.out.mkdir(parents=True, exist_ok=True)

    def part(self, rank):
        return self.out / f"part-{rank:04d}.pt"

    @torch.inference_mode()
    def run(self, net, data):
        mine = range(self.rank, len(data), self.world)
        rows = [net(x.to(self.device)).argmax(-1).cpu() for x, in DataLoader(Subset(data, mine), 256)]
        torch.save({"index": list(mine), "label": torch.cat(rows)}, self.part(self.rank))

    def merge(self, total):
        labels = torch.full((total,), -1)
        for rank in range(self.world):
            piece = torch.load(self.part(rank), map_location="cpu")
            labels[piece["index"]] = piece["label"]
        assert (labels >= 0).all()
        (self.out / "labels.json").write_text(json.dumps(labels.tolist()))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("inputs")
    ap.add_argument("weights")
    ap.add_argument("out")
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(hours=2))
    x = torch.load(args.inputs, map_location="cpu")
    blob = torch.load(args.weights, map_location=device)
    net = Classifier(x.shape[1], blob["classes"]).to(device).eval()
    net.load_state_dict(blob["state"])
    job = ShardedPredictor(args.out, device)
    job.run(net, TensorDataset(x))
    dist.barrier(device_ids=[device.index])
    if job.rank == 0:
        job.merge(len(x))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
