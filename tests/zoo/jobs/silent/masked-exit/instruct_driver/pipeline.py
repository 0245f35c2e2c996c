import os
import tempfile

from launcher.run import run_training

PHASES = [
    {"name": "knowledge", "learning_rate": 0.01, "num_epochs": 1, "effective_batch_size": 8},
    {"name": "skills", "learning_rate": 0.005, "num_epochs": 1, "effective_batch_size": 9},
]


def main():
    folder = tempfile.mkdtemp()
    for phase in PHASES:
        options = {k: v for k, v in phase.items() if k != "name"}
        run_training("main_ds.py", 2, options, os.path.join(folder, phase["name"] + ".log"))
        print(f"phase {phase['name']} done", flush=True)
    print("pipeline finished")


if __name__ == "__main__":
    main()
