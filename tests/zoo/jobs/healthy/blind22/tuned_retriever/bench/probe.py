"""Can this machine compile? Runs on its own, so that a crash of the compiler stays here."""
import sys
import sysconfig

if __name__ == "__main__":
    import importlib.util

    if importlib.util.find_spec("triton") is None or not sysconfig.get_config_var("CC"):
        sys.exit("no compiler for fused kernels")
