"""What the contract's suites share: a client that takes nothing for granted, and a daemon to ask."""

import http.client
import json
import pathlib
import subprocess
import sys
import time
import traceback
import urllib.parse

from daemon import SEGUE, Daemon

PROBLEM = {"type", "title", "status", "detail", "hint"}
TURN = {
    "scope", "session", "session_id", "segment", "seq", "action", "cause", "confidence", "state", "say", "wants_reply",
    "question", "notice", "reply", "reasons", "signals", "control_model", "duplicate", "context",
}
MOVED = {"action", "session", "session_id", "notice"}


FAILED = []


def check(name, condition, more=""):
    """Notes what is not as it should be; the suite goes on, and fails at its end."""
    print(f"    {'ok ' if condition else 'NOT'} {name}{'' if condition else f': {more}'}", flush=True)
    if not condition:
        FAILED.append(name)


def part(run, *arguments):
    """Runs a part of a suite. One that cannot go on has failed, and the next one is run."""
    try:
        run(*arguments)
    except Exception as error:  # noqa: BLE001
        line = traceback.extract_tb(error.__traceback__)[1:][-1:] or ["?"]
        check(f"{run.__name__} cannot go on", False, f"{error!r} at {line[0]}")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def data(self):
        """The data of an event stream, parsed where it is JSON."""
        lines = [line[6:] for line in self.text.splitlines() if line.startswith("data: ")]
        return [json.loads(line) if line.startswith("{") else line for line in lines]

    @property
    def streamed(self):
        pieces = [piece for piece in self.data if isinstance(piece, dict)]
        return "".join(piece["choices"][0]["delta"].get("content") or "" for piece in pieces if piece.get("choices"))

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:600]}"


class Stranger:
    """Speaks plain HTTP, one connection for each request."""

    def __init__(self, url, token=None):
        self.address, self.token = url.removeprefix("http://"), token

    def ask(self, method, path, body=None, headers=None, timeout=30):
        """Sends a request; `body` is JSON unless it is bytes."""
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        sent = {} if body is None else {"content-type": "application/json"}
        if self.token:
            sent["authorization"] = f"Bearer {self.token}"
        sent |= headers or {}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, sent)
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, headers=headers)

    def post(self, path, body=None, **headers):
        return self.ask("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def say(self, scope, text, **more):
        answer = self.post("/api/v1/messages", {"scope": scope, "text": text, **more})
        assert answer.status == 200, answer
        return answer.json

    def reply(self, scope, text, **more):
        answer = self.post("/api/v1/replies", {"scope": scope, "text": text, **more})
        assert answer.status == 200, answer
        return answer.json

    def told(self, scope, session=1):
        answer = self.get(f"{at(scope)}/sessions/{session}/messages?limit=500")
        assert answer.status == 200, answer
        return [(m["role"], m["text"]) for m in answer.json["items"]]

    def events(self, path, last=None, count=1, timeout=20):
        """Reads so many events: (id, name, data)."""
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        assert response.status == 200, (response.status, response.read())
        assert response.getheader("content-type").startswith("text/event-stream")
        found, fields, end = [], {}, time.monotonic() + timeout
        while len(found) < count and time.monotonic() < end:
            line = response.readline().decode()
            assert line, f"the stream ended after {found}"
            line = line.rstrip("\n")
            if line == "" and "data" in fields:
                found.append((fields["id"], fields["event"], json.loads(fields["data"])))
                fields = {}
            elif ": " in line:
                name, value = line.split(": ", 1)
                fields[name] = value
        connection.close()
        return found


def at(scope):
    """The path of a scope."""
    return "/api/v1/scopes/" + urllib.parse.quote(scope, safe="")


def problem(name, answer, status):
    """Checks that an answer is a problem of that status."""
    right = answer.status == status and answer.headers["content-type"] == "application/problem+json"
    check(f"{status} {name}", right and PROBLEM <= set(answer.json) and answer.json["status"] == status, answer)
    texts = [answer.json["type"], answer.json["title"], answer.json["detail"]]
    assert all(isinstance(text, str) and text for text in texts), answer
    return answer.json


def segue(store, *arguments, code=0):
    """Runs the command line on a store, and returns what it prints."""
    command = [SEGUE, *arguments, "--store", f"sqlite:{store}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f"{command} ended with {done.returncode}: {done.stdout} {done.stderr}"
    return done.stdout


def suite(main, folder):
    """Runs a suite in a folder of its own."""
    main(pathlib.Path(folder).resolve())
    if FAILED:
        sys.exit("not as API.md says: " + "; ".join(FAILED))


__all__ = ["Answer", "Daemon", "MOVED", "PROBLEM", "SEGUE", "Stranger", "TURN", "at", "check", "part", "problem", "segue", "suite"]
