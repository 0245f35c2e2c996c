import torch.distributed as dist

from roles import Actor, Learner

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
role = Learner(range(1, world), 60) if rank == 0 else Actor(rank)
role.run()
dist.destroy_process_group()
