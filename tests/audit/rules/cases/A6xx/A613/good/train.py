import torch.distributed as dist

dist.init_process_group("mpi" if dist.is_mpi_available() else "gloo")
