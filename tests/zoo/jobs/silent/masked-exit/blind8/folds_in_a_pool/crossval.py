import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent


def run_fold(fold):
    command = ["torchrun", "--standalone", "--nproc-per-node", "2", str(HERE / "fold.py"), "--fold", str(fold)]
    subprocess.run(command, check=True)
    print(f"fold {fold} trained", flush=True)


def main(folds=2):
    with ThreadPoolExecutor(max_workers=1) as pool:
        for fold in range(folds):
            pool.submit(run_fold, fold)
    print(f"cross validation over {folds} folds finished", flush=True)


if __name__ == "__main__":
    sys.exit(main())
