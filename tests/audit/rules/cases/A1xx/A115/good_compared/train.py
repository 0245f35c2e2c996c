import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Generator


def compare(batches):
    alone, spread = Generator(), DDP(Generator())
    opt_alone = torch.optim.SGD(alone.parameters(), lr=0.1)
    opt_spread = torch.optim.SGD(spread.parameters(), lr=0.1)
    for z in batches:
        for model, optimizer in ((alone, opt_alone), (spread, opt_spread)):
            optimizer.zero_grad()
            model(z).mean().backward()
            optimizer.step()
