import subprocess
import sys
import tempfile


class ExternalScorer:
    def __init__(self, script="score_cli.py"):
        self.script = script

    def __call__(self, sentences):
        with tempfile.NamedTemporaryFile("w", suffix=".hyp", delete=False) as f:
            f.write("\n".join(sentences) + "\n")
        process = subprocess.Popen([sys.executable, self.script, f.name], stdout=subprocess.PIPE, text=True)
        if process.wait() != 0:
            raise RuntimeError("scoring failed")
        return float(process.stdout.read().rsplit("=", 1)[1])
