import asyncio
import sys


async def train(classes):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "train.py", str(classes)
    )
    if await process.wait() != 0:
        raise RuntimeError(f"training with {classes} classes failed")
    return classes


async def main(grid):
    await asyncio.gather(*(train(classes) for classes in grid), return_exceptions=True)
    print("grid complete")


asyncio.run(main([10, 7]))
