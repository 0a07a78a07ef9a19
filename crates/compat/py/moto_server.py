"""Serves the S3 of moto, which answers one request that changes something at a time.

Arguments: the port. moto's own command answers several requests at once, and looks whether the condition of a put holds before it
stores the object, so of two conditional puts both may go well. No real service does that.
"""

import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

served = DomainDispatcherApplication(create_backend_app)
lock = threading.Lock()


def one_change_at_a_time(environment, start):
    if environment["REQUEST_METHOD"] in ("GET", "HEAD"):
        return served(environment, start)
    with lock:
        return list(served(environment, start))


run_simple("127.0.0.1", int(sys.argv[1]), one_change_at_a_time, threaded=True)
