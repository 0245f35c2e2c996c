import torch
import torch.distributed as dist

from resume.bucket import Bucket
from resume.state import RunState
from resume.steps import train_step


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    state, bucket = RunState(), Bucket()
    first = state.load(model, optimizer)
    print(f"rank {dist.get_rank()} starts at step {first}", flush=True)
    for step in range(first, 40):
        x = bucket.fetch(step, dist.get_rank())
        loss = train_step(model, optimizer, x)
        if (step + 1) % 10 == 0:
            state.save(model, optimizer, step + 1)
            if dist.get_rank() == 0:
                print(f"step {step + 1} loss {loss:.4f}", flush=True)
    dist.barrier()
    if dist.get_rank() == 0:
        print("done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
