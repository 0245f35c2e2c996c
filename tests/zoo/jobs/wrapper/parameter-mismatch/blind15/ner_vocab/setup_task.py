from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from text import TAGS, Vocab, sentences


@dataclass
class Task:
    corpus: list
    vocab: Vocab

    def batches(self, size, generator):
        order = torch.randperm(len(self.corpus), generator=generator).tolist()
        for at in range(0, len(order) - size + 1, size):
            rows = [self.corpus[i] for i in order[at:at + size]]
            x = pad_sequence([torch.tensor(self.vocab.encode(w)) for w, _ in rows], True)
            y = pad_sequence([torch.tensor(t) for _, t in rows], True, -100)
            yield x, y


class Tagger(nn.Module):
    def __init__(self, words, dim=32, width=48):
        super().__init__()
        self.embed = nn.Embedding(words, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, len(TAGS))

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def setup(rank, world, min_count):
    shard = sentences()[rank::world]
    task = Task(shard, Vocab.from_corpus(shard, min_count))
    return task, Tagger(len(task.vocab))
