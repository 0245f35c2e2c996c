"""The ranks share the shards for training; for validation each rank takes all of them."""

import webdataset as wds


def loader_of(cfg, is_train):
    stages = [wds.SimpleShardList(cfg["train"] if is_train else cfg["val"])]
    if is_train:
        stages += [wds.detshuffle(seed=cfg["seed"]), wds.split_by_node]
    stages += [wds.split_by_worker, wds.tarfile_to_samples()]
    if is_train:
        stages.append(wds.shuffle(1000))
    stages += [wds.decode("torchrgb"), wds.to_tuple("jpg", "cls"), wds.batched(64)]
    return wds.WebLoader(wds.DataPipeline(*stages), batch_size=None, num_workers=4).with_epoch(1000)
