import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as Wrapped

__all__ = ["dist", "torch"]
