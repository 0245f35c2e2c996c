from torch import nn


class CharGRU(nn.Module):
    def __init__(self, n_symbols, width):
        super().__init__()
        self.embed = nn.Embedding(n_symbols, width)
        self.rnn = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, n_symbols)

    def forward(self, x):
        h, _ = self.rnn(self.embed(x))
        return self.head(h)
