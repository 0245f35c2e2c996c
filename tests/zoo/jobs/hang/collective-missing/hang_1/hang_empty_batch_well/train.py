import logging
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from lib.engine import train_one_epoch
from lib.images import Thumbnails, drop_broken, loader_for
from lib.net import TinyCNN

if __name__ == "__main__":
    dist.init_process_group("gloo")
    logging.basicConfig(stream=sys.stdout, level=logging.INFO if dist.get_rank() == 0 else logging.ERROR)
    torch.manual_seed(0)
    model = DistributedDataParallel(TinyCNN())
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = loader_for(Thumbnails(dist.get_rank()), batch_size=4, collate_fn=drop_broken)
    for epoch in range(3):
        accuracy = train_one_epoch(model, loader, opt, epoch)
        logging.info("epoch %d accuracy %.3f", epoch, accuracy)
    dist.destroy_process_group()
    time.sleep(0.5)
