import os

import torch.distributed as dist
from folders import prepare


def main():
    dist.init_process_group("gloo")
    prepare(os.path.join("runs", "one"))


if __name__ == "__main__":
    main()
