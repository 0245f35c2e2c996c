"""Runs generated solutions against their tests, after the HumanEval harness."""
import contextlib
import faulthandler
import io


def quiet_environment():
    """Generated programs may call anything: take the dangerous parts of the library away first."""
    faulthandler.disable()
    import os
    os.kill = None
    os.system = None
    os.putenv = None
    os.remove = None
    os.removedirs = None
    os.rmdir = None
    os.fork = None
    os.forkpty = None
    os.rename = None
    os.unlink = None
    os.truncate = None
    import shutil
    shutil.rmtree = None
    shutil.move = None
    import subprocess
    subprocess.Popen = None


def check(program, test):
    quiet_environment()
    scope = {}
    sink = io.StringIO()
    with contextlib.redirect_stdout(sink):
        try:
            exec(compile(program + "\n" + test, "<solution>", "exec"), scope)
        except BaseException as err:
            return f"failed: {type(err).__name__}"
    return "passed"
