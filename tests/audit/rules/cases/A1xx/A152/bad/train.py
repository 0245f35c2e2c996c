import torch
from setup_group import start


def main():
    start()
    torch.nn.Linear(2, 1)(torch.ones(1, 2)).sum().backward()


if __name__ == "__main__":
    main()
