from pathlib import Path

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    out = Path("runs")
    if not out.is_dir():
        out.mkdir(parents=True)


main()
