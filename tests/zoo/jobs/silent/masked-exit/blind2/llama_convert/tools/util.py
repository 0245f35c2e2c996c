import argparse
import os
import sys

import torch.multiprocessing as mp

sys.path.insert(0, os.path.dirname(__file__))
import loader_llama2
import saver_megatron


def main():
    parser = argparse.ArgumentParser(description="Megatron Checkpoint Utility")
    parser.add_argument("--load-dir", required=True)
    parser.add_argument("--save-dir", required=True)
    parser.add_argument("--max-queue-size", type=int, default=50)
    parser.add_argument("--target-tensor-parallel-size", type=int, default=1)
    parser.add_argument("--make-vocab-size-divisible-by", type=int, default=0)
    args = parser.parse_args()
    os.makedirs(args.save_dir, exist_ok=True)

    ctx = mp.get_context("spawn")
    queue = ctx.Queue(maxsize=args.max_queue_size)
    print("Starting saver...")
    saver_proc = ctx.Process(target=saver_megatron.save_checkpoint, args=(queue, args))
    saver_proc.start()
    print("Starting loader...")
    loader_llama2.load_checkpoint(queue, args)
    print("Waiting for saver to complete...")
    saver_proc.join()


if __name__ == "__main__":
    main()
