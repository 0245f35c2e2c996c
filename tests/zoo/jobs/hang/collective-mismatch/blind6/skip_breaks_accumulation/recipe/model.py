from torch import nn


class Drafter(nn.Module):
    def __init__(self, vocabulary=20, width=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.embed(tokens))
