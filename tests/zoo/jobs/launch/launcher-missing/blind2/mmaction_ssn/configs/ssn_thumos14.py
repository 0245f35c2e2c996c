model = dict(feature_dim=32, num_classes=5, hidden=48)
data = dict(videos=64, proposals=8, batch_size=8)
optimizer = dict(lr=0.01, momentum=0.9)
dist_params = dict(backend="gloo")
total_epochs = 3
