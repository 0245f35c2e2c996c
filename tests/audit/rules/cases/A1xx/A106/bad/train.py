import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    path = "vocabulary.pt"
    if rank == 0:
        torch.save({"a": 1}, path)
    vocabulary = torch.load(path)
    print(vocabulary)


if __name__ == "__main__":
    main()
