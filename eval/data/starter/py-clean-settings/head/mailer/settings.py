"""What the mailer is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field


class MissingSetting(Exception):
    """A variable that has to be set is not."""


@dataclass(frozen=True)
class Settings:
    sender: str
    host: str
    port: int
    user: str
    password: str = field(repr=False)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings; says which variable is missing or wrong."""

    def required(name: str) -> str:
        value = environment.get(name)
        if not value:
            raise MissingSetting(f"{name} is not set")
        return value

    port = environment.get("MAIL_PORT", "587")
    if not port.isdecimal():
        raise MissingSetting(f"MAIL_PORT is no number: {port!r}")
    return Settings(
        sender=required("MAIL_FROM"),
        host=required("MAIL_HOST"),
        port=int(port),
        user=required("MAIL_USER"),
        password=required("MAIL_PASSWORD"),
    )
