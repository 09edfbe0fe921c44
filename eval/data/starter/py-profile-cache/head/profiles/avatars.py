"""Avatars from the image service."""

import time

import httpx

URL = "http://images.internal/avatars"
ATTEMPTS = 3


async def avatar_of(client: httpx.AsyncClient, user_id: int) -> bytes | None:
    for attempt in range(1, ATTEMPTS + 1):
        response = await client.get(f"{URL}/{user_id}")
        if response.status_code != 503 or attempt == ATTEMPTS:
            break
        time.sleep(0.5 * attempt)
    if response.status_code == 404:
        return None
    response.raise_for_status()
    return response.content
