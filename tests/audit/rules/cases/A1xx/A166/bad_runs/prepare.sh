set -e
python tools/encode.py train
python tools/encode.py val
