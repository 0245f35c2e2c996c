import torch.distributed as dist
from prepare import Vocabulary


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        Vocabulary.build()
    dist.barrier()
    vocabulary = Vocabulary.load()
    print(len(vocabulary))
    dist.destroy_process_group()


main()
