"""Each fold is a run of its own."""
import torch
import wandb
from torch.utils.data import DataLoader


def main():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for fold in range(5):
        run = wandb.init(project="x", name=f"fold {fold}", reinit=True)
        for i, batch in enumerate(DataLoader(torch.load("data.pt"), 8)):
            model(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            run.log({"loss": 0.0}, step=i)
        run.finish()


def two(loader):
    training, evaluation = wandb.init(project="x"), wandb.init(project="y")
    step = 0
    for epoch in range(5):
        for batch in loader:
            step += 1
            training.log({"loss": 0.0}, step=step)
        evaluation.log({"val": 0.0}, step=epoch)


if __name__ == "__main__":
    main()
