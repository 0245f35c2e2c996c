from torch import nn


class Encoder(nn.Module):
    def __init__(self, mels, letters):
        super().__init__()
        self.shrink = nn.Conv1d(mels, 256, 3, 1, padding=1)
        self.out = nn.Linear(256, letters)

    def forward(self, x, lengths=None):
        x = self.shrink(x.transpose(1, 2)).relu()
        lens = lengths
        return self.out(x.transpose(1, 2)).log_softmax(-1), lens
