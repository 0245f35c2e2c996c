import torch
from torch.nn.parallel import DistributedDataParallel


class Player:
    """A network with its own optimizer in a game of several."""

    def __init__(self, net, lr, betas=(0.5, 0.999), clip=1.0):
        self.model = DistributedDataParallel(net)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr, betas=betas)
        self.clip = clip

    def __call__(self, *inputs):
        return self.model(*inputs)

    def learn(self, loss):
        """One update; leaves no gradients of this update behind."""
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        return loss.item()
