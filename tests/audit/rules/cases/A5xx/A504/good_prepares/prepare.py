import os

os.system("python3 create_pretraining_data.py --input wiki")
