import torch
import torch.distributed as dist


class COCOEvaluator:

    def __init__(self, loader):
        self.loader = loader

    @torch.no_grad()
    def evaluate(self, model):
        model.eval()
        data_list = {}
        for images, boxes, ids in self.loader:
            for image_id, pred, gt in zip(ids.tolist(), model(images), boxes):
                data_list[image_id] = (pred.tolist(), gt.tolist())
        parts = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
        dist.gather_object(data_list, parts, dst=0)
        result = torch.zeros(2)
        if dist.get_rank() == 0:
            merged = {k: v for part in parts for k, v in part.items()}
            result = torch.tensor(self.evaluate_prediction(merged))
        dist.broadcast(result, src=0)
        return result.tolist()

    def evaluate_prediction(self, data):
        from yolox.layers.fast_coco_eval_api import COCOevalOpt

        ids = sorted(data)
        coco = COCOevalOpt([data[i][1] for i in ids], [data[i][0] for i in ids])
        coco.evaluate()
        stats = coco.accumulate()
        return [float(stats[0]), float(stats[1])]
