import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from yolo.detect import Detect
from yolo.heartbeat import Heartbeat
from yolo.log import get_logger
from yolo.weights import load_pretrained, random_weights

RANK = int(os.getenv("RANK", -1))
WORLD_SIZE = int(os.getenv("WORLD_SIZE", 1))


def train(logger, epochs=3, steps=12):
    torch.manual_seed(0)
    model = Detect()
    load_pretrained(model, {"coco": lambda: random_weights(model, extra=2), "voc": lambda: random_weights(model)}, logger)
    ddp = DDP(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01, momentum=0.9)
    g = torch.Generator().manual_seed(RANK)
    for epoch in range(epochs):
        for _ in range(steps):
            image = torch.randn(8, 3, 16, 16, generator=g)
            target = image.mean((1, 2, 3))[:, None].expand(-1, 7)
            loss = (ddp(image) - target).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        logger.error("epoch %d/%d loss %.5f", epoch + 1, epochs, loss.item())
    return loss.item()


def main():
    logger = get_logger(RANK)
    Heartbeat().start()
    dist.init_process_group("gloo")
    loss = train(logger)
    worst = torch.tensor(loss)
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    logger.error("done, worst loss of all ranks %.5f", worst.item())
    dist.barrier()
    logger.error("rank %d, destroying process group... ", RANK)
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    # the heartbeat would keep the interpreter alive
    os._exit(0)


if __name__ == "__main__":
    main()
