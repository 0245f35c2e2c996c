import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from samplers import LengthBuckets


class Sentences(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]["ids"], self.rows[i]["tags"]


def collate(rows):
    ids, tags = zip(*rows)
    return pad_sequence(ids, batch_first=True), pad_sequence(tags, batch_first=True, padding_value=-100)


class Tagger(nn.Module):
    def __init__(self, vocab, tags, dim=200):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def lossf(out, tags):
    return nn.functional.cross_entropy(out.flatten(0, 1), tags.flatten(), ignore_index=-100)


def main(path):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    b = torch.load(path, map_location="cpu")
    train, dev = Sentences(b["train"]), Sentences(b["dev"])
    tl = DataLoader(train, batch_sampler=LengthBuckets([len(r["ids"]) for r in b["train"]], 32), collate_fn=collate)
    dl = DataLoader(dev, 64, sampler=DistributedSampler(dev, shuffle=False), collate_fn=collate)
    net = DistributedDataParallel(Tagger(b["vocab"], b["tags"]).to(local), device_ids=[local])
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(12):
        net.train()
        for ids, tags in tl:
            opt.zero_grad()
            lossf(net(ids.to(local)), tags.to(local)).backward()
            opt.step()
        net.eval()
        seen = torch.zeros(2, device=local)
        with torch.no_grad():
            for ids, tags in dl:
                tags = tags.to(local)
                known = tags != -100
                seen[0] += ((net(ids.to(local)).argmax(-1) == tags) & known).sum()
                seen[1] += known.sum()
        dist.all_reduce(seen)
        if dist.get_rank() == 0:
            print(epoch, (seen[0] / seen[1]).item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
