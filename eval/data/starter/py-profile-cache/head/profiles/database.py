"""Profiles in the database."""

import json

import asyncpg

pool: asyncpg.Pool


async def fetch_profile(user_id: int) -> dict:
    row = await pool.fetchrow("SELECT profile FROM users WHERE id = $1", user_id)
    return json.loads(row["profile"])


async def store_profile(user_id: int, profile: dict) -> None:
    text = json.dumps(profile)
    await pool.execute("UPDATE users SET profile = $1 WHERE id = $2", text, user_id)
