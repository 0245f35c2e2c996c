import tempfile

import torch.distributed as dist

from loop import Loop

if __name__ == "__main__":
    dist.init_process_group("gloo")
    Loop(tempfile.mkdtemp(), steps=200, save_every=40).run()
    dist.destroy_process_group()
