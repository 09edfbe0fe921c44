"""Attachments in the database."""

from flask_sqlalchemy import SQLAlchemy

db = SQLAlchemy()


class Attachment(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    ticket = db.Column(db.Integer, nullable=False, index=True)
    name = db.Column(db.String(255), nullable=False)
    # Only attachments from before the move to disk have their content here.
    content = db.Column(db.LargeBinary)
