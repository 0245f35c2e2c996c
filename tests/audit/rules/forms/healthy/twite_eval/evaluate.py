import argparse
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

from scores import TaskScores


class Questions(Dataset):
    def __init__(self, path, rank, world):
        with open(path) as f:
            rows = [json.loads(line) for line in f]
        self.rows = rows[rank::world]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        r = self.rows[i]
        return r["task"], torch.tensor(r["ids"][:256] + [0] * (256 - len(r["ids"][:256]))), r["answer"]


class Reader(nn.Module):
    def __init__(self, vocab=32000, dim=256, choices=4):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim, padding_idx=0)
        self.out = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, choices))

    def forward(self, ids):
        return self.out(self.emb(ids))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("questions")
    p.add_argument("weights")
    p.add_argument("--report", default="report.json")
    p.add_argument("--batch", type=int, default=32)
    return p.parse_args()


@torch.inference_mode()
def main():
    args = parse()
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    net = Reader().to(device).eval()
    net.load_state_dict(torch.load(args.weights, map_location=device, weights_only=True))
    loader = DataLoader(Questions(args.questions, dist.get_rank(), dist.get_world_size()), args.batch, num_workers=2)
    scores = TaskScores(device)
    for tasks, ids, answers in loader:
        right = net(ids.to(device)).argmax(1).cpu() == answers
        for task, ok in zip(tasks, right.tolist()):
            scores.add(task, float(ok), 1.0)
    merged = scores.merge()
    if dist.get_rank() == 0:
        with open(args.report, "w") as f:
            json.dump(merged, f, indent=2, sort_keys=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
