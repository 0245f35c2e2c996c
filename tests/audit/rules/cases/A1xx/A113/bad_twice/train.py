import torch.distributed as dist


def setup(backend):
    dist.init_process_group(backend)


def main():
    setup("gloo")
    dist.init_process_group("nccl")
    dist.destroy_process_group()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
