import asyncio

from tasks import TextEmbedding, TextGeneration


class ApiStream:
    """What the api server sends to this node, in the order in which it arrives here."""

    def __init__(self, cfg, rank):
        self.cfg, self.rank = cfg, rank
        self.inbox = asyncio.Queue()

    async def _deliver(self, task, route):
        await asyncio.sleep(route[self.rank])
        await self.inbox.put(task)

    async def clients(self):
        for number in range(self.cfg.rounds):
            chat = TextGeneration(f"{number:03d}-chat", "hello there")
            embed = TextEmbedding(f"{number:03d}-embed", "hello there")
            if number < 2:  # one user at first
                await self._deliver(chat, self.cfg.chat_route)
            else:
                await asyncio.gather(
                    self._deliver(chat, self.cfg.chat_route),
                    self._deliver(embed, self.cfg.embed_route),
                )
            await asyncio.sleep(0.5)

    def drain(self):
        tasks = []
        while not self.inbox.empty():
            tasks.append(self.inbox.get_nowait())
        return tasks
