import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import yaml
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from corpus import INTENTS, Vocab, utterances


class IntentClassifier(nn.Module):
    def __init__(self, vocab_size, dim, hidden):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, dim, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, len(INTENTS)))

    def forward(self, ids):
        return self.mlp(self.embedding(ids))


def setup(rank, world):
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "29611")
    dist.init_process_group("gloo", rank=rank, world_size=world)


def load_split(cfg, rank, world):
    """Each process keeps only its own part of the corpus in memory."""
    rows = utterances(cfg["utterances"], cfg["seed"])[rank::world]
    texts = [t for t, _ in rows]
    vocab = Vocab(texts, cfg["min_count"])
    ids = torch.tensor([vocab(t) for t in texts])
    labels = torch.tensor([y for _, y in rows])
    return vocab, torch.utils.data.TensorDataset(ids, labels)


def batches(dataset, size, seed):
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(seed))
    for chunk in order.split(size):
        yield dataset[chunk]


def work(rank, world, cfg):
    setup(rank, world)
    torch.manual_seed(cfg["data"]["seed"])
    vocab, train = load_split(cfg["data"], rank, world)
    net = DDP(IntentClassifier(len(vocab), cfg["model"]["dim"], cfg["model"]["hidden"]))
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg["optim"]["lr"])
    for epoch in range(cfg["optim"]["epochs"]):
        hits = torch.zeros(2)
        for ids, labels in batches(train, cfg["optim"]["batch_size"], seed=epoch):
            logits = net(ids)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += torch.tensor([(logits.argmax(-1) == labels).sum().item(), len(labels)])
        dist.all_reduce(hits)
        if rank == 0:
            print(f"epoch {epoch}: train accuracy {hits[0] / hits[1]:.3f}", flush=True)
    if rank == 0:
        torch.save({"vocab": vocab.itos, "state": net.module.state_dict()}, "router.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else "config.yaml") as handle:
        config = yaml.safe_load(handle)
    mp.spawn(work, args=(2, config), nprocs=2, join=True)
