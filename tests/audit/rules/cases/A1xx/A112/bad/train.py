from torch.nn.parallel import DistributedDataParallel as DDP

from model import Net


def main(local_rank):
    net = Net()
    return DDP(net, device_ids=[local_rank])
