import argparse
import subprocess
import sys


def start(lr, steps):
    command = ["torchrun", "--standalone", "--nproc-per-node", "2", "ner.py", "--lr", str(lr), "--steps", str(steps)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(process):
    if process.wait() != 0:
        return None
    for line in process.stdout:
        if line.startswith("RESULT"):
            return float(line.split()[1])
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lrs", default="0.003,0.01")
    p.add_argument("--steps", type=int, default=400)
    args = p.parse_args()
    scores = {}
    for lr in (float(x) for x in args.lrs.split(",")):
        process = start(lr, args.steps)
        scores[lr] = result(process)
        print(f"lr {lr:g}: {scores[lr]}", flush=True)
    done = {lr: s for lr, s in scores.items() if s is not None}
    if not done:
        sys.exit("no run gave a result")
    print("best", min(done, key=done.get))


if __name__ == "__main__":
    main()
