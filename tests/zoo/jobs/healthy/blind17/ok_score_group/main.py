import logging

import torch.distributed as dist

import jobs
from roles import Layout


def main():
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"r{dist.get_rank()} %(message)s")
    layout = Layout("layout.json")
    jobs.train(layout) if layout.trains else jobs.score(layout)
    logging.info("role done")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
