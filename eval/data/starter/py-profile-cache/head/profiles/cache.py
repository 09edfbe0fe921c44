"""Profiles in Redis, for a while."""

import json

from redis.asyncio import Redis

SECONDS = 300


class ProfileCache:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def get(self, user_id: int) -> dict | None:
        kept = await self._redis.get(f"profile:{user_id}")
        return None if kept is None else json.loads(kept)

    async def put(self, user_id: int, profile: dict) -> None:
        await self._redis.set(f"profile:{user_id}", json.dumps(profile), ex=SECONDS)

    async def drop(self, user_id: int) -> None:
        await self._redis.delete(f"profile:{user_id}")
