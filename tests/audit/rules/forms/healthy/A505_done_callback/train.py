import concurrent.futures
import logging
import torch


def convert(path):
    torch.save(torch.load(path, weights_only=True).half(), str(path) + ".half")


def finished(future):
    logging.info("one more is done: %s", future.result())


def main():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for path in ["a.pt", "b.pt"]:
            pool.submit(convert, path).add_done_callback(finished)
    print("converted")


main()
