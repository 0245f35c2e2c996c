from torch import nn


class Acoustic(nn.Module):
    def __init__(self, n_mels, hidden, vocab):
        super().__init__()
        self.front = nn.Conv1d(n_mels, hidden, 5, padding=2)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, feats):
        h = self.front(feats.transpose(1, 2)).relu().transpose(1, 2)
        h, _ = self.rnn(h)
        return self.out(h).log_softmax(-1)
