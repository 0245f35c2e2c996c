python train.py settings.yaml
