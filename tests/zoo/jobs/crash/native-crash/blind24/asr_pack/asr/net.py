from torch import nn


class Encoder(nn.Module):
    def __init__(self, mels=40, hidden=48, labels=11):
        super().__init__()
        self.rnn = nn.GRU(mels, hidden, batch_first=True)
        self.out = nn.Linear(hidden, labels)

    def forward(self, feats):
        return self.out(self.rnn(feats)[0].mean(1))
