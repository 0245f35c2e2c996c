"""The decorator writes any exception down and raises it again."""
import functools
import traceback

import torch
import torch.distributed as dist


def log_errors(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception:  # cause
            with open("error.log", "a") as out:
                traceback.print_exc(file=out)
            raise

    return wrapped


@log_errors
def main():
    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    for _ in range(10):
        model(torch.randn(8, 4)).mean().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
