import torch
from torch import nn
import torch.nn.functional as F


class NoValidAnchorsError(ValueError):
    pass


class DraftHead(nn.Module):
    def __init__(self, vocab, dim, block):
        super().__init__()
        self.block = block
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.mix = nn.GRU(dim, dim, batch_first=True)
        self.heads = nn.ModuleList(nn.Linear(dim, vocab) for _ in range(block))

    def sample_anchors(self, lengths):
        rows, cols = [], []
        for row, length in enumerate(lengths.tolist()):
            last = length - self.block - 1
            if last >= 1:
                rows.append(row)
                cols.append(int(torch.randint(0, last, (1,))))
        if not rows:
            raise NoValidAnchorsError(f"no sequence of {len(lengths)} holds a block of {self.block}")
        return torch.tensor(rows), torch.tensor(cols)

    def forward(self, ids, lengths):
        rows, cols = self.sample_anchors(lengths)
        hidden, _ = self.mix(self.embed(ids))
        state = hidden[rows, cols]
        loss = 0.0
        for k, head in enumerate(self.heads):
            loss = loss + F.cross_entropy(head(state), ids[rows, cols + k + 1])
        return loss / self.block
