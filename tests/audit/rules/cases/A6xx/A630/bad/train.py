import signal
import sys

import torch


def stop(number, frame):
    print("interrupted", number)
    sys.exit(0)


def main():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    signal.signal(signal.SIGTERM, stop)
    for step in range(1000):
        model(torch.randn(4, 2)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
