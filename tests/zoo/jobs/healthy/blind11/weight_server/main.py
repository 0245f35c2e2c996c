import torch.distributed as dist

from roles import Server, Worker

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
role = Server(range(1, world), 100) if rank == 0 else Worker(rank, 60 + 40 * rank)
role.run()
dist.barrier()
dist.destroy_process_group()
