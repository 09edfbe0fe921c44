"""Attachments on disk: a folder for each."""

import logging
from pathlib import Path

from attachments.models import Attachment, db

log = logging.getLogger(__name__)

ROOT = Path("/var/lib/tickets/attachments")


def path_of(attachment: Attachment) -> Path:
    return ROOT / str(attachment.id) / attachment.name


def save(attachment: Attachment, content: bytes) -> None:
    path = path_of(attachment)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def move_from_database(attachment: Attachment) -> None:
    """Writes the content of an old attachment to disk and frees the database of it."""
    if attachment.content is None:
        return
    try:
        save(attachment, attachment.content)
    except OSError:
        log.debug("could not move attachment %s", attachment.id)
    attachment.content = None
    db.session.commit()
