from torch import nn


class MaskNet(nn.Module):
    def __init__(self, samples, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(samples, width), nn.PReLU(), nn.Linear(width, width), nn.PReLU(),
                                    nn.Linear(width, samples))

    def forward(self, noisy):
        return self.layers(noisy)
