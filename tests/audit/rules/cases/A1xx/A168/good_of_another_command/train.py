import torch.distributed as dist
from folders import name


def main():
    dist.init_process_group("gloo")
    print(name())


if __name__ == "__main__":
    main()
