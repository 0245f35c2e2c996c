import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from players import Value, start

PLAYERS, ROUNDS = 4, 300


def main():
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    players, weights, games = start(PLAYERS, seed=100 * rank)
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    model = DistributedDataParallel(Value().cuda(), device_ids=[local])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for number in range(ROUNDS):
        state = {k: v.cpu().numpy() for k, v in model.module.state_dict().items()}
        for _ in players:
            weights.put(state)
        boards, results = zip(*(games.get(timeout=300) for _ in players))
        x = torch.from_numpy(np.concatenate(boards)).cuda()
        y = torch.from_numpy(np.concatenate(results)).cuda()
        for _ in range(20):
            pick = torch.randint(len(x), (256,), device="cuda")
            loss = torch.nn.functional.mse_loss(model(x[pick]), y[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0 and number % 10 == 0:
            print(number, loss.item(), flush=True)
    for _ in players:
        weights.put(None)
    for p in players:
        p.join()
    if rank == 0:
        torch.save(model.module.state_dict(), "value.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
