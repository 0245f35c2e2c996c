import torch
import torch.distributed as dist

from mini_logger import logger
from trainer import Exp, Trainer


@logger.catch
def main(exp):
    dist.init_process_group("gloo")
    logger.rank = dist.get_rank()
    Trainer(exp).train()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Exp())
