import torch
from quantizer import Quantizer
from torch.nn.parallel import DistributedDataParallel

if __name__ == "__main__":
    torch.distributed.init_process_group("nccl")
    model = DistributedDataParallel(Quantizer(8, 3).cuda())
    torch.distributed.destroy_process_group()
