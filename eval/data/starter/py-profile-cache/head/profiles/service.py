"""Profiles of users."""

from profiles.cache import ProfileCache
from profiles.database import fetch_profile, store_profile


async def profile_of(user_id: int, cache: ProfileCache) -> dict:
    profile = await cache.get(user_id)
    if profile is None:
        profile = await fetch_profile(user_id)
        await cache.put(user_id, profile)
    return profile


async def update_profile(user_id: int, changes: dict, cache: ProfileCache) -> dict:
    profile = await fetch_profile(user_id)
    profile.update(changes)
    await store_profile(user_id, profile)
    cache.drop(user_id)
    return profile
