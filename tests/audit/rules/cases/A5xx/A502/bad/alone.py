import torch.distributed as dist


def setup():
    try:
        dist.init_process_group("nccl")
    except Exception as error:
        print("not distributed:", error)


if __name__ == "__main__":
    setup()
