import torch.distributed as dist

from hub import download_dataset


def main(folder):
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        download_dataset(folder)
    print("reading", folder)


if __name__ == "__main__":
    main("data")
