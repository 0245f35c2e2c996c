from accelerate import Accelerator
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Songs(Dataset):
    """Mel bands of bird songs; the species follows from the loudest bands."""

    def __init__(self, count, seed=3):
        generator = torch.Generator().manual_seed(seed)
        self.bands = torch.randn(count, 16, generator=generator)
        self.species = self.bands[:, :4].argmax(1)

    def __len__(self):
        return len(self.bands)

    def __getitem__(self, index):
        return self.bands[index], self.species[index]


def main():
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(11)
    loader = DataLoader(Songs(256), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(3):
        for songs, species in loader:
            loss = nn.functional.cross_entropy(model(songs), species)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        accelerator.print(f"epoch {epoch} loss {loss.item():.4f}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
