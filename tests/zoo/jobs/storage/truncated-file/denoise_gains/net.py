from torch import nn


class Denoiser(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.encode = nn.Conv1d(1, channels, 5, padding=2)
        self.act = nn.GELU()
        self.decode = nn.Conv1d(channels, 1, 5, padding=2)

    def forward(self, x):
        return self.decode(self.act(self.encode(x)))
