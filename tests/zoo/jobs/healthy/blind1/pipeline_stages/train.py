import torch
import torch.distributed as dist

from stages import Stage


def main(micro=4, steps=25):
    dist.init_process_group("gloo")
    stage = Stage(dist.get_rank(), dist.get_world_size())
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.1)
    for step in range(steps):
        pending, done = [], []
        optimizer.zero_grad()
        for _ in range(micro):
            done.append(stage.forward_micro(16, pending))
        for x, y in done:
            stage.backward_micro(x, y, pending)
        for work in pending:
            work.wait()
        optimizer.step()
    neighbours = [dist.P2POp(dist.isend, torch.ones(2), (stage.rank + 1) % stage.world),
                  dist.P2POp(dist.irecv, torch.zeros(2), (stage.rank - 1) % stage.world)]
    for work in dist.batch_isend_irecv(neighbours):
        work.wait()
    print(f"stage {stage.rank} did {steps} steps", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
