"""Upload and download of attachments."""

from flask import Blueprint, abort, request, send_file

from attachments import storage
from attachments.models import Attachment, db

blueprint = Blueprint("attachments", __name__)

MAX_BYTES = 20 * 1024 * 1024


@blueprint.post("/tickets/<int:ticket>/attachments")
def upload(ticket: int):
    file = request.files.get("file")
    if file is None:
        abort(400, "no file")
    content = file.stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        abort(413, "the file is too large")
    attachment = Attachment(ticket=ticket, name=file.filename)
    db.session.add(attachment)
    db.session.flush()
    storage.save(attachment, content)
    db.session.commit()
    return {"id": attachment.id}, 201


@blueprint.get("/attachments/<int:id>")
def download(id: int):
    attachment = db.get_or_404(Attachment, id)
    storage.move_from_database(attachment)
    path = storage.path_of(attachment)
    return send_file(path, as_attachment=True, download_name=attachment.name)
