import random
import string

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from textproc import Tokenizer


class Reviews(Dataset):
    def __init__(self, tokenizer, n=640):
        rng = random.Random(12)
        self.texts = ["".join(rng.choices(string.ascii_lowercase, k=40)) for _ in range(n)]
        self.labels = [int(t.count("e") > 1) for t in self.texts]
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return torch.tensor(self.tokenizer.encode(self.texts[i])), self.labels[i]


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(64, 64)
        self.mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, ids):
        return self.mlp(self.emb(ids))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    tokenizer = Tokenizer()
    data = Reviews(tokenizer)
    # longest text decides the width of the report
    width = max(len(tokenizer.encode(t)) for t in data.texts)
    tokenizer.start_compaction()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler, num_workers=1)
    model = DDP(Bag())
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        correct = seen = 0
        for ids, label in loader:
            logits = model(ids)
            loss = nn.functional.cross_entropy(logits, label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            correct += (logits.argmax(1) == label).sum().item()
            seen += len(label)
        if rank == 0:
            print(f"epoch {epoch} width {width} acc {correct / seen:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
