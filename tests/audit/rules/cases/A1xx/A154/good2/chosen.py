import torch
import torch.distributed as dist


def main(backend):
    dist.init_process_group(backend)
    torch.nn.Linear(2, 1).cuda()


if __name__ == "__main__":
    main("gloo")
