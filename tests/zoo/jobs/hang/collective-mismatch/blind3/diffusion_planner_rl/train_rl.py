import torch
import torch.distributed as dist

from config import PlannerConfig
from objectives import Accumulator, evaluate_objectives
from planner import build, replay_buffer
from reducers import reduce_and_average_losses


def replay_epoch(cfg, model, optimizer, rank):
    accumulated = Accumulator()
    for scenes, expert, advantage in replay_buffer(cfg, rank):
        trajectory, reward = model(scenes)
        loss, values = evaluate_objectives(cfg, trajectory, reward, expert, advantage)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accumulated.add(values)
    return reduce_and_average_losses(accumulated.averages())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cfg = PlannerConfig()
    model = build(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.replay_epochs):
        report = replay_epoch(cfg, model, optimizer, rank)
        if rank == 0:
            print(f"replay epoch {epoch}: loss {report['loss'].item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
