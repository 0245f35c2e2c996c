import torch
from torch import nn


class SmallCTC(nn.Module):
    def __init__(self, idim=16, hidden=32, vocab=12):
        super().__init__()
        self.front = nn.Conv1d(idim, hidden, 3, padding=1)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, vocab)
        self.ctc = nn.CTCLoss(zero_infinity=True)

    def forward(self, speech, speech_lengths, text):
        x = torch.relu(self.front(speech.transpose(1, 2))).transpose(1, 2)
        with torch.autocast("cpu", enabled=False):
            x, _ = self.rnn(x.float())
        logp = self.out(x).float().log_softmax(-1).transpose(0, 1)
        return self.ctc(logp, text, speech_lengths, torch.full((len(text),), text.size(1)))
