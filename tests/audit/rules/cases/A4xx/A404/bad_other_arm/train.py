"""Where no GPU was chosen, one process has all of them."""

import torch
import torch.distributed as dist


def main(args, model):
    dist.init_process_group("nccl")
    if args.gpu is not None:
        torch.cuda.set_device(args.gpu)
    if args.gpu is None:
        state = torch.load(args.resume)
    else:
        state = torch.load(args.resume, map_location=f"cuda:{args.gpu}")
    model.load_state_dict(state)
    torch.save({"state_dict": model.state_dict()}, "checkpoint.pt")
