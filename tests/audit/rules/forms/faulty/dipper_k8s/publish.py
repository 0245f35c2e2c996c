import shutil
import sys

shutil.copy(sys.argv[1], "/models/dipper/latest.pt")
