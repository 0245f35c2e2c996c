import os

import torch
import torch.distributed as dist


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = model.to("cuda")
    own_file = f"state_dict-{dist.get_rank()}.pt"
    torch.save(model.state_dict(), own_file)
    model.load_state_dict(torch.load(own_file))
