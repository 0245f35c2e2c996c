import torch
import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    model = torch.nn.Linear(4, 4)
    model.to("cuda")
    dist.barrier()


if __name__ == "__main__":
    main()
