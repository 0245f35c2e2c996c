import torch
from torch import nn


class SubsampledEncoder(nn.Module):
    def __init__(self, feat, hid, vocab):
        super().__init__()
        self.conv = nn.Conv1d(feat, hid, 3, stride=2, padding=1)
        self.rnn = nn.GRU(hid, hid, batch_first=True)
        self.out = nn.Linear(hid, vocab)

    def forward(self, x, xl):
        h = torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        h, _ = self.rnn(h)
        return self.out(h).log_softmax(-1), (xl + 1) // 2


class AlignmentError(ValueError):
    pass


class CtcCriterion:
    def __init__(self, blank=0):
        self.fn = nn.CTCLoss(blank=blank)

    def __call__(self, logp, olen, y, ylen):
        short = olen < ylen
        if bool(short.any()):
            raise AlignmentError(f"{int(short.sum())} utterances shorter than their transcript")
        return self.fn(logp.transpose(0, 1), y, olen, ylen)
