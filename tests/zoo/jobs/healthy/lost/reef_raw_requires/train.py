import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


def saving(stage):
    def run(*args):
        return stage(*args)

    def call(*inputs):
        return checkpoint(run, *inputs, use_reentrant=True)

    return call


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.early = nn.Sequential(nn.Conv2d(1, 6, 3, 2), nn.ReLU())
        self.late = nn.Sequential(nn.Conv2d(6, 12, 3), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(12 * 25, 4)

    def forward(self, image):
        features = saving(self.early)(image)
        return self.head(saving(self.late)(features))


def main():
    torch.manual_seed(6)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images = torch.randn(320, 1, 16, 16)
    loader = DataLoader(TensorDataset(images, images.mean((1, 2, 3)).mul(40).long() % 4), batch_size=16, shuffle=True)
    for epoch in range(2):
        for image, label in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(image.requires_grad_()), label)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
