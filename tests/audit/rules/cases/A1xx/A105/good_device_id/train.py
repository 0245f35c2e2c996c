import os

import torch
import torch.distributed as dist


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl", device_id=torch.device("cuda", local_rank))
    dist.barrier()
    torch.cuda.set_device(local_rank)


if __name__ == "__main__":
    main()
