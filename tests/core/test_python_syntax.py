r"""A job's file with "\d" in a plain string: Python warns of it, the doctor says nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

READ = """
import sys
from pathlib import Path
from diagnostics.core import redaction
from diagnostics.static.program.source_file import SourceFile
path = Path(sys.argv[1])
print(SourceFile(path).tree is not None, "hunter2Zq9x" in redaction.source(path.read_text(), python=True))
"""


def test_warnings_about_somebody_elses_strings_do_not_reach_our_terminal(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text('import re\nSTEP = re.compile("\\d+")\npassword = (\n    "hunter2Zq9x"\n)\n')
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", READ, str(tmp_path / "train.py")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True False\n", "")
