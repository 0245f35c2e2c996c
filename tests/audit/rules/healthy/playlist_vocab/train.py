import json
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from vocab import Vocabulary


class Sessions(Dataset):
    def __init__(self, path, vocab, length=20):
        with open(path) as f:
            self.rows = [[vocab[i] for i in json.loads(line)["items"]][-length - 1:] for line in f]
        self.length = length

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        row = [0] * (self.length + 1 - len(row)) + row
        return torch.tensor(row[:-1]), torch.tensor(row[-1])


class GRU4Rec(nn.Module):
    def __init__(self, items, dim=128):
        super().__init__()
        self.embed = nn.Embedding(items, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, items)

    def forward(self, x):
        return self.out(self.gru(self.embed(x))[0][:, -1])


def main(train_file="playlists/train.jsonl", counts_file="/nfs/shared/sessions.jsonl"):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(77)
    vocab = Vocabulary.shared(counts_file)
    data = Sessions(train_file, vocab)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 512, sampler=sampler, num_workers=2, drop_last=True)
    model = DDP(GRU4Rec(len(vocab)).cuda(), device_ids=[local])
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for epoch in range(15):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {loss.item():.3f}")
            torch.save({"model": model.module.state_dict(), "vocab": vocab.table}, "gru4rec.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
