import logging
import os
import shutil
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from llmfoundry.data.dataloader import build_dataloader, build_eval_loaders

CFG = {
    "train": "sets/train.jsonl",
    "chat_eval": "sets/chat_eval.jsonl",
    "eval_splits": ["chat_eval"],
    "batch_size": 8,
    "max_seq_len": 48,
}


class CharLM(nn.Module):

    def __init__(self, vocab=97, dim=32):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def forward(self, ids):
        return nn.functional.cross_entropy(self.out(self.rnn(self.emb(ids[:, :-1]))[0]).flatten(0, 1), ids[:, 1:].flatten())


def main():
    logging.basicConfig(level=logging.INFO, format=f"rank{os.environ['RANK']}: %(name)s: %(message)s")
    dist.init_process_group("gloo")
    folder = [tempfile.mkdtemp(prefix="foundry-") if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder)
    os.makedirs(os.path.join(folder[0], "train"), exist_ok=True)
    os.makedirs(os.path.join(folder[0], "eval"), exist_ok=True)
    train_loader = build_dataloader(CFG, "train", os.path.join(folder[0], "train"))
    eval_loaders = build_eval_loaders(CFG, os.path.join(folder[0], "eval"))

    torch.manual_seed(0)
    model = DDP(CharLM())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for ids in train_loader:
            loss = model(ids)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for name, loader in eval_loaders.items():
            with torch.no_grad():
                score = sum(model.module(ids).item() for ids in loader) / len(loader)
            logging.info("epoch %d %s %.3f", epoch, name, score)
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(folder[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
