import torch.multiprocessing as mp


def entry(fn, rank, out):
    out.put((rank, fn(rank)))


def launch(fn, size):
    context = mp.get_context("spawn")
    out = context.Queue()
    started = [context.Process(target=entry, args=(fn, rank, out)) for rank in range(size)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    failed = [one.exitcode for one in started if one.exitcode]
    if failed:
        raise RuntimeError(f"failed: {failed}")
    return dict(out.get() for _ in started)


if __name__ == "__main__":
    print(launch(len, 4))
