import logging

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from blocks import NoValidAnchorsError, sample_anchors

log = logging.getLogger("draft")
VOCAB, BLOCK, SEQ = 96, 8, 48


class Dialogues(Dataset):
    """Token sequences with a supervised length; a crawl of chats has some one-word answers."""

    def __init__(self, n=1024):
        g = torch.Generator().manual_seed(0)
        self.tokens = torch.randint(0, VOCAB, (n, SEQ), generator=g)
        self.lengths = torch.randint(16, SEQ, (n,), generator=g)
        self.lengths[641:672:2] = 5

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        mask = torch.arange(SEQ) < self.lengths[i]
        return self.tokens[i], mask


class Drafter(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, blocks):
        h, _ = self.rnn(self.emb(blocks[:, :-1]))
        return nn.functional.cross_entropy(self.out(h).flatten(0, 1), blocks[:, 1:].flatten())


def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    data = Dialogues()
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data, shuffle=False))
    model = DDP(Drafter())
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(100 + rank)
    for epoch in range(3):
        total, steps = 0.0, 0
        for tokens, mask in loader:
            try:
                anchors = sample_anchors(mask, BLOCK, gen)
            except NoValidAnchorsError as e:
                log.debug("rank %d skips a batch: %s", rank, e)
                continue
            blocks = torch.stack([tokens[r, s: s + BLOCK] for r, s in anchors])
            loss = model(blocks)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, steps = total + loss.item(), steps + 1
        dist.barrier()
        if rank == 0:
            log.info("epoch %d loss %.4f over %d steps", epoch, total / steps, steps)
            torch.save(model.module.state_dict(), "drafter.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
