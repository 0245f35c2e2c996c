import torch.distributed as dist


def main():
    try:
        dist.init_process_group("nccl")
    except RuntimeError:
        dist.init_process_group("gloo")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
