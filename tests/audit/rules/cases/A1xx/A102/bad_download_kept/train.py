import torch.distributed as dist
from huggingface_hub import snapshot_download
from torch.nn.parallel import DistributedDataParallel


class Data:
    def __init__(self, name):
        self.name = name

    def fetch(self):
        leader = not dist.is_initialized() or dist.get_rank() == 0
        if leader:
            snapshot_download(self.name, local_dir="data")


def main(model):
    Data("wikitext").fetch()
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)


if __name__ == "__main__":
    main(make())
