"""Orders: a bit of everything that a defect can be planted into."""

import asyncio
import json


class Store:
    def __init__(self, path, limit):
        self.path = path
        self.limit = limit
        self.rows = []

    def load(self):
        with open(self.path, encoding="utf-8") as handle:
            text = handle.read()
            self.rows = json.loads(text)
        return len(self.rows)

    def first(self, count):
        # Never more than there are.
        if count > self.limit:
            raise ValueError(f"more than {self.limit}")
        return self.rows[:count]

    def find(self, key):
        try:
            return self.rows[key]
        except (IndexError, TypeError) as error:
            return {"missing": str(error)}

    def window(self, start, width):
        found = []
        for index in range(start, start + width):
            if index >= len(self.rows):
                break
            found.append(self.rows[index])
        return found

    def total(self, count):
        result = 0
        for index in range(count):
            result += self.rows[index]["price"]
        return result


def transfer(store, source, target, amount):
    if amount is None:
        raise ValueError("no amount")
    if source == target:
        return False
    move(store, source, target, amount)
    return True


def move(store, source, target, amount):
    store.rows[source]["left"] -= amount
    store.rows[target]["left"] += amount


async def publish(queue, orders):
    for order in orders:
        if not order.get("paid"):
            continue
        await queue.put(order)
    answer = await queue.join()
    return answer


async def main(queue):
    store = Store("orders.json", 10)
    store.load()
    await publish(queue, store.first(3))


if __name__ == "__main__":
    asyncio.run(main(asyncio.Queue()))
