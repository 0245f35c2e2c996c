import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Player:
    """A network with its optimizer."""

    def __init__(self, network, lr, betas=(0.5, 0.99)):
        self.network = DDP(network)
        self.optimizer = torch.optim.Adam(network.parameters(), lr=lr, betas=betas)

    def __call__(self, x):
        return self.network(x)

    def turn(self, loss):
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()
