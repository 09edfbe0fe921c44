"""Sends mails over SMTP."""

import smtplib
from email.message import EmailMessage

from mailer.settings import Settings


def send(settings: Settings, to: str, subject: str, text: str) -> None:
    message = EmailMessage()
    message["From"] = settings.sender
    message["To"] = to
    message["Subject"] = subject
    message.set_content(text)
    with smtplib.SMTP(settings.host, settings.port, timeout=30) as server:
        server.starttls()
        server.login(settings.user, settings.password)
        server.send_message(message)
