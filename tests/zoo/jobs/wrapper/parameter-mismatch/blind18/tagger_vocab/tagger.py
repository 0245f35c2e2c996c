import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab, tags, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.tag = nn.Linear(2 * dim, tags)

    def forward(self, x):
        return self.tag(self.lstm(self.embed(x))[0])


def pack(lexicon, sents, tags):
    ids = [torch.tensor(lexicon.ids(s)) for s in sents]
    x = nn.utils.rnn.pad_sequence(ids, batch_first=True)
    y = (x * 7 + 3) % tags
    return x, y
