from torch.nn.parallel import DistributedDataParallel as DDP

from net import Net


def build(local_rank):
    net = Net().to(local_rank)
    return DDP(net, device_ids=[local_rank], find_unused_parameters=True)
