import threading

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from telemetry.heartbeat import Heartbeat, MetricServer, Writer


def warm_cache():
    try:
        raise FileNotFoundError("no cache yet")
    except FileNotFoundError as error:
        print("warm-up:", error, flush=True)


def main():
    dist.init_process_group("gloo")
    heartbeat, server, writer = Heartbeat(), MetricServer(), Writer()
    for thread in (heartbeat, server, writer, threading.Thread(target=warm_cache)):
        thread.start()
    model = DDP(nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(400):
        x = torch.randn(64, 16)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.inbox.put((step, loss.item()))
    print(f"rank {dist.get_rank()}: {writer.close()} lines, {heartbeat.count} beats", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
