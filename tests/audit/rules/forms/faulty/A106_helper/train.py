import torch.distributed as dist
from prepare import Vocabulary


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:  # cause
        Vocabulary.build()  # cause
    vocabulary = Vocabulary.load()  # cause
    print(len(vocabulary))
    dist.destroy_process_group()


main()
