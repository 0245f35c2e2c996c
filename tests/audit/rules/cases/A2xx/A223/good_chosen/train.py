import torch
import torch.distributed as dist

backend = "nccl" if torch.cuda.is_available() else "gloo"
dist.init_process_group(backend)
total = torch.tensor([0.5, 3.0])
if torch.cuda.is_available():
    total = total.cuda()
dist.all_reduce(total)
