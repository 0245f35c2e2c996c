import torch
import torch.distributed as dist


def gathered(rows):
    parts = [torch.zeros_like(rows) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, rows)
    return torch.cat(parts)


class Predictor:
    def __init__(self, model, images):
        self.model, self.images = model, images

    @torch.no_grad()
    def run(self):
        found = []
        for number in range(dist.get_rank(), len(self.images), dist.get_world_size()):
            found.append(self.model(self.images[number]))
        return gathered(torch.stack(found))


def main(model, images):
    dist.init_process_group("nccl")
    print(Predictor(model, images).run().shape)
    dist.destroy_process_group()
