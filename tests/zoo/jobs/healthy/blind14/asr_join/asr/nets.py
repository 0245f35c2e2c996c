from torch import nn


class Classifier(nn.Module):
    def __init__(self, bands=40, width=96, n=10):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv1d(bands, width, 5, padding=2), nn.ReLU(), nn.Conv1d(width, width, 5, padding=2), nn.ReLU())
        self.backbone.requires_grad_(False)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.heads = nn.ModuleDict({"digits": nn.Linear(width, n), "aux": nn.Linear(width, 2)})

    def forward(self, x, aux=False):
        h = self.rnn(self.backbone(x.transpose(1, 2)).transpose(1, 2))[1][-1]
        return self.heads["digits"](h), self.heads["aux"](h) if aux else None
