import asyncio
import sys


async def trial(seed, slots):
    async with slots:
        proc = await asyncio.create_subprocess_exec(sys.executable, "trial.py", str(seed),
                                                    stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        out, err = await proc.communicate()
        code = await proc.wait()
        if code < 0:
            return seed, f"died of signal {-code}"
        if code:
            return seed, f"failed with {code}: {err.decode().strip().splitlines()[-1]}"
        return seed, out.decode().strip()


async def main():
    slots = asyncio.Semaphore(2)
    for seed, result in await asyncio.gather(*(trial(seed, slots) for seed in range(4))):
        print(f"seed {seed}: {result}")


asyncio.run(main())
