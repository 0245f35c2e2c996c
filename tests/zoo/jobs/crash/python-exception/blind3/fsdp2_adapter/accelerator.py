import torch
import torch.distributed as dist


class Accelerator:
    def __init__(self):
        dist.init_process_group("gloo")
        self.process_index, self.num_processes = dist.get_rank(), dist.get_world_size()

    @property
    def is_main_process(self):
        return self.process_index == 0

    def backward(self, loss):
        loss.backward()

    def clip_grad_norm_(self, parameters, max_norm):
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type=2)

    def end_training(self):
        dist.barrier()
        dist.destroy_process_group()
