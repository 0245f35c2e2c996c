import argparse

from cache_index import load_index


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--index", required=True)
    options = parser.parse_args()
    rows = load_index(options.index)

    # torch takes its time to load, so the index is looked at before
    import torch.distributed as dist

    from worker import Worker

    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    worker = Worker(rows, rank, world_size)
    for step in range(1, 41):
        loss = worker.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
