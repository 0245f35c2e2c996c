import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from resilient import ResilientStep


class Docs(Dataset):
    def __init__(self, path):
        self.docs, self.labels = torch.load(path, map_location="cpu")

    def __len__(self):
        return len(self.docs)

    def __getitem__(self, i):
        return self.docs[i], self.labels[i]


def collate(items):
    docs, labels = zip(*items)
    return pad_sequence(docs, batch_first=True), torch.as_tensor(labels)


class DocEncoder(nn.Module):
    def __init__(self, vocab, classes, dim=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 8, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 8)
        self.cls = nn.Linear(dim, classes)

    def forward(self, ids):
        return self.cls(self.enc(self.emb(ids)).mean(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("docs")
    ap.add_argument("--vocab", type=int, default=50000)
    ap.add_argument("--classes", type=int, default=30)
    ap.add_argument("--bs", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    ds = Docs(args.docs)
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, args.bs, sampler=sampler, collate_fn=collate, num_workers=4)
    model = DDP(DocEncoder(args.vocab, args.classes).cuda(gpu), device_ids=[gpu])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    step = ResilientStep(model, opt, nn.CrossEntropyLoss())
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for tokens, labels in loader:
            loss = step((tokens.cuda(gpu), labels.cuda(gpu)))
            if dist.get_rank() == 0 and loss is not None:
                print(f"{epoch} {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
