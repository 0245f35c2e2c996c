import argparse
import logging
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from fed import topology
from fed.client import Client, Net
from fed.comm import invoke_on_leader, weighted_mean

log = logging.getLogger("fed")


def next_lr(history, lr, patience=2):
    """The cluster's plan: halve the rate when the accuracy did not move."""
    if len(history) > patience and history[-1] - history[-1 - patience] < 0.002:
        return lr * 0.5
    return lr


def worker(rank, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=args.clients)
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s client{rank} %(message)s")
    torch.set_num_threads(1)
    topo = topology.build(args.cluster_size)
    torch.manual_seed(0)
    model = Net()
    client = Client(rank, 200 + 120 * rank)
    history, lr = [], args.lr
    for rnd in range(args.rounds):
        loss = client.local_epochs(model, lr, args.local_epochs)
        samples = weighted_mean(model, client.n, topo.group)
        acc = torch.tensor([client.accuracy(model) * client.n])
        dist.all_reduce(acc, group=topo.group)
        history.append(acc.item() / samples)
        if topo.is_leader:
            log.info("round %d cluster %d loss %.3f acc %.3f lr %.4f", rnd, topo.cluster, loss, history[-1], lr)
        if (rnd + 1) % args.global_every == 0:
            weighted_mean(model, client.n, dist.group.WORLD)
        if (rnd + 1) % args.plan_every == 0:
            lr = invoke_on_leader(lambda: next_lr(history, lr), topo.group)
    weighted_mean(model, client.n, dist.group.WORLD)
    if rank == 0:
        torch.save(model.state_dict(), "global.pt")
        log.info("finished")
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--clients", type=int, default=4)
    p.add_argument("--cluster-size", type=int, default=2)
    p.add_argument("--rounds", type=int, default=24)
    p.add_argument("--local-epochs", type=int, default=2)
    p.add_argument("--global-every", type=int, default=4)
    p.add_argument("--plan-every", type=int, default=6)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--port", type=int, default=29671)
    args = p.parse_args()
    mp.spawn(worker, args=(args,), nprocs=args.clients)


if __name__ == "__main__":
    main()
