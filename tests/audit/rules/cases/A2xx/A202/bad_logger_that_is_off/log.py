import torch.distributed as dist


class Log:
    def __init__(self, path):
        self.path = path
        self.on = not dist.is_initialized() or dist.get_rank() == 0

    def write(self, **values):
        if not self.on:
            return
        with open(self.path, "a") as out:
            out.write(" ".join(f"{name}={given()}" for name, given in values.items()))
