from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.models import resnet18

from net import Gated, TwoHeads


def build(find):
    gated = DDP(Gated(), find_unused_parameters=True)
    heads = DDP(TwoHeads(), find_unused_parameters=True)
    library = DDP(resnet18(), find_unused_parameters=True)
    return gated, heads, library, DDP(Gated(), find_unused_parameters=find)
