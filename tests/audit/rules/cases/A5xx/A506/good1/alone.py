import torch
import wandb


def main():
    wandb.init(project="one process")
    torch.nn.Linear(2, 1)(torch.ones(1, 2)).sum().backward()


if __name__ == "__main__":
    main()
