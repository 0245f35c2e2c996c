from torch.nn.parallel import DistributedDataParallel as DDP

from model import ByName, Dropping, Net, Shared


def build():
    shared = Shared()
    shared.proj.requires_grad_(False)
    return DDP(Net(False)), DDP(ByName()), DDP(Dropping(), find_unused_parameters=True), DDP(shared)
