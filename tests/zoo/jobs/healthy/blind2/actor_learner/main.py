import torch.distributed as dist

from rollout import actor, learner, roles


def main():
    rank, group = roles.setup()
    if roles.is_actor(rank):
        actor.run()
    else:
        learner.run(rank, group)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
