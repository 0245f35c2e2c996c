from torch import nn


class RecurrentLM(nn.Module):
    def __init__(self, vocab=40, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])
