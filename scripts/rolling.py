"""Clients that talk to nodes behind HAProxy while the nodes are restarted: `scripts/cluster rolling` runs this.

Each message has an id, so it can be sent again. Counted is what a client sees: answers other than 200, connections that break, and
how many messages needed another try. In the end every message is there once.
"""

import http.client
import json
import os
import sys
import threading
import time
import urllib.parse

front, done = urllib.parse.urlparse(sys.argv[1]), sys.argv[2]
CLIENTS, TRIES = 8, 40
lock, told = threading.Lock(), {"messages": 0, "retried": 0, "lost": 0, "worst_ms": 0, "seen": {}}


def note(what):
    with lock:
        told["seen"][what] = told["seen"].get(what, 0) + 1


def send(connection, body):
    connection.request("POST", "/api/v1/messages", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def client(number):
    connection, n = None, 0
    while not os.path.exists(done):
        n += 1
        scope = f"agent:main:rolling:direct:{os.getpid()}-{number}"
        body = json.dumps({"scope": scope, "text": f"message {n}", "message_id": f"{number}/{n}"})
        began = time.monotonic()
        for tried in range(TRIES):
            try:
                connection = connection or http.client.HTTPConnection(front.hostname, front.port, timeout=15)
                status = send(connection, body)
                if status == 200:
                    break
                note(f"status {status}")
            except (OSError, http.client.HTTPException) as error:
                note(type(error).__name__)
                connection.close()
                connection = None
            time.sleep(0.1)
        else:
            with lock:
                told["lost"] += 1
        with lock:
            told["messages"] += 1
            told["retried"] += tried > 0
            told["worst_ms"] = max(told["worst_ms"], round((time.monotonic() - began) * 1000))
    url = f"/api/v1/scopes/{urllib.parse.quote(scope)}/head"
    connection = http.client.HTTPConnection(front.hostname, front.port, timeout=15)
    connection.request("GET", url)
    note(f"head {connection.getresponse().status}")


threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps(told))
