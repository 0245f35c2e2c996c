import torch
import torch.distributed as dist

from fed.client import Client
from fed.server import average_body, same_start


def main(rounds=12):
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    client = Client(dist.get_rank())
    same_start(client.model)
    for r in range(rounds):
        loss = client.local_round()
        average_body(client.model)
        gathered = [None] * dist.get_world_size()
        dist.all_gather_object(gathered, (loss, client.accuracy()))
        if dist.get_rank() == 0:
            print(f"round {r}: " + "  ".join(f"client {i} loss {a:.3f} acc {b:.3f}" for i, (a, b) in enumerate(gathered)), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
