import argparse

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output_model_path")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank())
    model = torch.nn.Linear(2, 2).cuda()
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), args.output_model_path)
    dist.barrier()
    model.load_state_dict(torch.load(args.output_model_path))


if __name__ == "__main__":
    main()
