import argparse
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from vision.engine import evaluate, run_epoch
from vision.nets import SmallCNN
from vision.shapes import Shapes


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def worker(rank, world_size, port, args):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    train_set = Shapes(args.images, seed=args.seed)
    sampler = DistributedSampler(train_set, num_replicas=world_size, rank=rank, shuffle=False)
    loader = DataLoader(train_set, batch_size=args.batch_size, sampler=sampler, num_workers=2)
    net = SmallCNN(num_classes=len(Shapes.classes))
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        run_epoch(model, loader, optimizer, report=lambda text: print(f"[{rank}] epoch {epoch}: {text}", flush=True))

    dist.barrier()
    if rank == 0:
        accuracy = evaluate(net, DataLoader(Shapes(64, seed=99), batch_size=32))
        print(f"test accuracy {accuracy:.2f}")
        torch.save(net.state_dict(), args.output)
    dist.destroy_process_group()
    time.sleep(0.5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--images", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="cnn.pt")
    args = parser.parse_args()
    mp.spawn(worker, args=(args.gpus, free_port(), args), nprocs=args.gpus)


if __name__ == "__main__":
    main()
