import pathlib
import subprocess


def submit(name, nodes):
    text = pathlib.Path("node.sh").read_text().replace("@NODES@", str(nodes)).replace("$NAME", name)
    subprocess.run(["sbatch"], input=text, text=True, check=True)
