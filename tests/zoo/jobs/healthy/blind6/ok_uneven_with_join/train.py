import torch
import torch.distributed as dist

from hospital.federated import Site, train_together


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    site = Site(dist.get_rank())
    model = train_together(site, epochs=3)
    norm = sum(parameter.square().sum() for parameter in model.parameters()).detach()
    norms = [torch.zeros_like(norm) for _ in range(dist.get_world_size())]
    dist.all_gather(norms, norm)
    if dist.get_rank() == 0:
        print("norms", [round(float(value), 6) for value in norms], flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
