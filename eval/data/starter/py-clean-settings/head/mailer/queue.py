"""Mails that wait."""

from collections.abc import Iterator
from dataclasses import dataclass

WAITING: list["Mail"] = []


@dataclass
class Mail:
    to: str
    subject: str
    text: str

    def done(self) -> None:
        WAITING.remove(self)


def waiting() -> Iterator[Mail]:
    yield from list(WAITING)
