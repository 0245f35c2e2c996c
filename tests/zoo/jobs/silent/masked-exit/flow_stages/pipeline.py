import subprocess
import time

STAGES = {
    "encode": ["python", "prepare.py", "--files", "4"],
    "operator": ["torchrun", "--standalone", "--nproc-per-node", "2", "train.py", "configs/burgers.yaml"],
}


def run_stage(name, argv):
    began = time.time()
    print(f"[{name}] {' '.join(argv)}", flush=True)
    subprocess.run(argv)
    print(f"[{name}] done in {time.time() - began:.1f} s", flush=True)


for name, argv in STAGES.items():
    run_stage(name, argv)
print("pipeline completed")
