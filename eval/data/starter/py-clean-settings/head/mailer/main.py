"""Sends the mails that wait in the queue."""

import os
import sys

from mailer.queue import waiting
from mailer.send import send
from mailer.settings import MissingSetting, read_settings


def main() -> int:
    try:
        settings = read_settings(os.environ)
    except MissingSetting as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    for mail in waiting():
        send(settings, mail.to, mail.subject, mail.text)
        mail.done()
    return 0


if __name__ == "__main__":
    sys.exit(main())
