import json
import subprocess
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def external_score(net):
    torch.save(net.state_dict(), "candidate.pt")
    done = subprocess.run([sys.executable, "score.py", "candidate.pt"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["score"]


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.Linear(10, 1)
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(1, 61):
        loss = model(torch.randn(8, 10)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 40:
            score = [external_score(net) if rank == 0 else None]
            dist.broadcast_object_list(score, src=0)
            if score[0] > 100:
                break
    print(f"rank {rank} loss {loss.item():.4f} score {score[0]}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
