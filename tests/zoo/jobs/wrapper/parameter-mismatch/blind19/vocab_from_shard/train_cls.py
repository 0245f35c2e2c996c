import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

from vocab import Vocab, corpus

WORLD = 2


class TextCNN(nn.Module):
    def __init__(self, vocab_size, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim)
        self.conv = nn.Conv1d(dim, 64, 3, padding=1)
        self.out = nn.Linear(64, 2)

    def forward(self, ids):
        h = torch.relu(self.conv(self.emb(ids).transpose(1, 2)))
        return self.out(h.amax(dim=2))


def load(rank, world):
    docs = corpus()[rank::world]
    vocab = Vocab(docs)
    ids = torch.tensor([vocab.encode(words) for words, _ in docs])
    labels = torch.tensor([label for _, label in docs])
    return TensorDataset(ids, labels), vocab


def worker(rank, init_file):
    dist.init_process_group("gloo", init_method=f"file://{init_file}", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    data, vocab = load(rank, WORLD)
    loader = DataLoader(data, batch_size=30, shuffle=True)
    model = DDP(TextCNN(len(vocab)))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        right = 0
        for ids, label in loader:
            out = model(ids)
            loss = nn.functional.cross_entropy(out, label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            right += (out.argmax(1) == label).sum().item()
        if rank == 0:
            print(f"epoch {epoch} accuracy {right / len(data):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    import os
    path = os.path.abspath("rendezvous")
    if os.path.exists(path):
        os.remove(path)
    mp.spawn(worker, args=(path,), nprocs=WORLD)
