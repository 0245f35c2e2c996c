from torch import nn


class CallNet(nn.Module):
    def __init__(self, bands, width, species):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(bands, width, 5, padding=2), nn.ReLU(),
                                   nn.Conv1d(width, width, 5, stride=2, padding=2), nn.ReLU())
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, species)

    def forward(self, power):
        return self.head(self.norm(self.front(power).mean(dim=2)))

    def adapt(self, species):
        """A head for another survey's species; the trunk stays as it is."""
        self.head = nn.Linear(self.head.in_features, species)
        return self
