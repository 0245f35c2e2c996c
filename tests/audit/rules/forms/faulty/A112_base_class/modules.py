import torch


class WithHead(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = torch.nn.Linear(width, width)
        self.aux = torch.nn.Linear(width, 2)  # cause


class Classifier(WithHead):
    def __init__(self, width):
        super().__init__(width)
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.body(x))
