import logging
import os

import torch
import torch.distributed as dist

from series.source import Source
from series.stages import Curriculum, DescribeStage, ForecastStage


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    c = Curriculum([ForecastStage(), DescribeStage()])
    c.run(Source(rank), logging.info)
    if os.environ.get("PROBE"):
        print("PROBE", rank, sum(p.double().sum().item() for p in c.core.parameters()))
    if rank == 0:
        torch.save(c.core.state_dict(), "series.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
