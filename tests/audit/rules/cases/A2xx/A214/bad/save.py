import json

import torch
import torch.distributed as dist



def save(model, args):
    dist.barrier()
    torch.save(model.state_dict(), "last.pt")
    dist.barrier()


def report(numbers, args):
    dist.barrier()
    with open(args.out + "/report.json", "w") as f:
        json.dump(numbers, f)
