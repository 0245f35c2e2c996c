import logging
import os
import shutil
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from core.datasets.gpt_dataset import GPTDataset
from core.datasets.indexed_dataset import MMapIndexedDataset, write_corpus
from core.sampler import MegatronPretrainingSampler

VOCAB, SEQ, DOCS, EPOCHS = 128, 16, 2048, 8


class GPTLite(nn.Module):

    def __init__(self, dim=32):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, VOCAB)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embedding(tokens[:, :-1]))
        return nn.functional.cross_entropy(self.lm_head(hidden).flatten(0, 1), tokens[:, 1:].flatten())


def setup_cache():
    folder = [tempfile.mkdtemp(prefix="gpt-cache-") if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder)
    prefix = os.path.join(folder[0], "corpus_text_document")
    if dist.get_rank() == 0:
        write_corpus(prefix, DOCS, SEQ, VOCAB, seed=1)
    dist.barrier()
    return folder[0], prefix


def train(model, dataset, budget, rank, world):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    sampler = MegatronPretrainingSampler(len(dataset), 32, rank, world)
    iteration = 0
    for tokens in DataLoader(dataset, batch_sampler=sampler):
        iteration += 1
        loss = model(tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if iteration % 10 == 0:
            if rank == 0:
                print(f" iteration {iteration:5d} | lm loss {loss.item():.4f}", flush=True)
            if iteration * tokens.numel() * world > budget and dataset.epochs > 1:
                dataset.rebuild_for_tail(epochs=1)


def main():
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(1234)
    rank, world = dist.get_rank(), dist.get_world_size()
    folder, prefix = setup_cache()
    dataset = GPTDataset(MMapIndexedDataset(prefix), folder, "train", EPOCHS, seed=1234)
    train(DDP(GPTLite()), dataset, budget=32_000, rank=rank, world=world)
    dist.barrier()
    if rank == 0:
        shutil.rmtree(folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
