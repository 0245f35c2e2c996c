import torch
import torch.distributed as dist
from bucket import Bucket


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(4, 4)
    bucket = Bucket(model)
    for name in bucket:  # cause
        dist.all_reduce(bucket.parameters[name].data)
    dist.destroy_process_group()


main()
