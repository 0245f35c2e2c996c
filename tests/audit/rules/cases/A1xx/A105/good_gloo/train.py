import torch
import torch.distributed as dist


def main(args):
    dist.init_process_group("gloo")
    dist.barrier()
    torch.cuda.set_device(args.gpu)


if __name__ == "__main__":
    main(None)
