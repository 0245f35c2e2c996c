import torch
import torch.distributed as dist


class Sender:
    def hand_on(self, x, peer):
        self.work = dist.isend(x, dst=peer)
        x.zero_()


dist.init_process_group("gloo")
