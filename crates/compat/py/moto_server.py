"""Serves the S3 of moto with conditional puts as S3 has them.

Arguments: the port. moto 5 passes over `If-Match` of a put, and looks whether `If-None-Match` holds before it stores the object, while it
answers other requests: of two conditional puts both may go well.
"""

import io
import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

served = DomainDispatcherApplication(create_backend_app)
lock = threading.Lock()


def etag_of(environment):
    """Returns the ETag of the object that a request is about; None if it does not exist."""
    answer = {}

    def start(status, headers, _error=None):
        answer.update(headers if status.startswith("200") else [])

    head = {**environment, "REQUEST_METHOD": "HEAD", "CONTENT_LENGTH": "0", "wsgi.input": io.BytesIO()}
    del head["HTTP_IF_MATCH"]
    list(served(head, start))
    return {name.lower(): value for name, value in answer.items()}.get("etag")


def with_conditions(environment, start):
    if environment["REQUEST_METHOD"] in ("GET", "HEAD"):
        return served(environment, start)
    with lock:
        wanted = environment.get("HTTP_IF_MATCH")
        if environment["REQUEST_METHOD"] != "PUT" or wanted is None:
            return list(served(environment, start))
        found = etag_of(environment)
        if found == wanted:
            return list(served(environment, start))
    # The connection goes on behind the body.
    environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
    status, code = ("404 Not Found", "NoSuchKey") if found is None else ("412 Precondition Failed", "PreconditionFailed")
    text = f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode()
    start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))])
    return [text]


run_simple("127.0.0.1", int(sys.argv[1]), with_conditions, threaded=True)
