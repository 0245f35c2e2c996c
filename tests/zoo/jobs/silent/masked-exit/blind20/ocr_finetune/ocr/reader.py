from torch import nn


class LineReader(nn.Module):
    def __init__(self, letters, width):
        super().__init__()
        self.rnn = nn.GRU(8, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, letters)

    def forward(self, x):
        return self.out(self.rnn(x)[0])
