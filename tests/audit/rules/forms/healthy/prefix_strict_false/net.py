from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab=20000, dim=200, tags=17):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, bidirectional=True, batch_first=True)
        self.proj = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.proj(self.rnn(self.emb(ids))[0])
