import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, count, seed):
        self.words = torch.randint(80, (count, 10), generator=torch.Generator().manual_seed(seed))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return {"words": self.words[i], "label": self.words[i, 0] % 2}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(80, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, words):
        return self.head(self.embed(words))


def train_epoch(accelerator, model, optimizer, loader):
    model.train()
    for batch in loader:
        loss = nn.functional.cross_entropy(model(batch["words"]), batch["label"])
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


@torch.no_grad()
def evaluate(accelerator, model, loader):
    model.eval()
    right = seen = 0
    for batch in loader:
        predicted = model(batch["words"]).argmax(-1)
        if accelerator.is_main_process:
            predicted, labels = accelerator.gather_for_metrics((predicted, batch["label"]))
            right += (predicted == labels).sum().item()
            seen += len(labels)
    accelerator.print(f"accuracy {right / max(seen, 1):.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    set_seed(1)
    accelerator = Accelerator(cpu=True)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-2)
    model, optimizer, train, val = accelerator.prepare(
        model, optimizer, DataLoader(Reviews(128, 0), batch_size=8, shuffle=True), DataLoader(Reviews(60, 1), batch_size=8)
    )
    for epoch in range(args.epochs):
        train_epoch(accelerator, model, optimizer, train)
        evaluate(accelerator, model, val)
    accelerator.end_training()


if __name__ == "__main__":
    main()
