import random

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from sampler import TokenBudgetBatchSampler

PAD, VOCAB = 0, 60


class Bitext(Dataset):
    def __init__(self, n=1500, seed=4):
        rng = random.Random(seed)
        self.src = [[rng.randrange(1, VOCAB) for _ in range(int(rng.paretovariate(1.3) * 5) % 60 + 3)] for _ in range(n)]

    def __len__(self):
        return len(self.src)

    def __getitem__(self, i):
        s = torch.tensor(self.src[i])
        return s, (s * 7) % (VOCAB - 1) + 1

    @staticmethod
    def collate(items):
        src, tgt = zip(*items)
        return pad_sequence(src, True, PAD), pad_sequence(tgt, True, PAD)


class Tagger(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.enc = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, VOCAB)

    def forward(self, src):
        return self.out(self.enc(self.emb(src))[0])


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = Bitext()
    batches = TokenBudgetBatchSampler([len(s) for s in data.src], 512, rank, world)
    loader = DataLoader(data, batch_sampler=batches, collate_fn=Bitext.collate)
    model = DDP(Tagger())
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        batches.set_epoch(epoch)
        total = count = 0
        for src, tgt in loader:
            loss = nn.functional.cross_entropy(model(src).flatten(0, 1), tgt.flatten(), ignore_index=PAD)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, count = total + loss.item(), count + 1
        scores = [None] * world
        dist.all_gather_object(scores, total / count)
        if rank == 0:
            print(f"epoch {epoch} loss {sum(scores) / world:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
