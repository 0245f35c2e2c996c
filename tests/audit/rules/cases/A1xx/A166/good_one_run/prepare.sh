set -e
python tools/encode.py
