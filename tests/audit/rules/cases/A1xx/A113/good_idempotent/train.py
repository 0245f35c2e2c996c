import deepspeed
import torch.distributed as dist


def model_of(name):
    deepspeed.init_distributed("nccl")
    return name


if __name__ == "__main__":
    deepspeed.init_distributed()
    print(dist.get_world_size())
    model_of("opt")
