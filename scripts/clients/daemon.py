"""Starts the scripted model and `segue serve`, and asks the daemon what it has stored."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEGUE = os.environ.get("SEGUE", str(ROOT / "target" / "debug" / "segue"))


def listening(process):
    """Reads the first line, which says where a process listens."""
    line = process.stdout.readline().decode()
    if "listening on " not in line:
        raise RuntimeError(f"it did not start: {line!r}")
    return line.split("listening on ")[1].strip()


def call(url, body=None, method=None, headers=None, timeout=30):
    """Returns status and JSON of a request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
    if data is not None:
        request.add_header("content-type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            text = answer.read().decode()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        return error.code, json.loads(text) if text.startswith("{") else text


class Daemon:
    """A daemon on a store of its own, with the scripted model behind it."""

    def __init__(self, folder, settings=""):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model = subprocess.Popen([sys.executable, str(HERE / "model.py")], stdout=subprocess.PIPE)
        self.upstream = listening(self.model)
        self.config = self.folder / "segue.toml"
        self.config.write_text(
            f"{settings}\n"
            f'[models.main]\nbase_url = "{self.upstream}/v1"\nmodel = "scripted"\nwire = "chat"\n'
            f'[models.native]\nbase_url = "{self.upstream}/v1"\nmodel = "scripted"\nwire = "responses"\n'
        )
        self.address = "127.0.0.1:0"
        self.process = None
        self.start()

    def start(self):
        command = [SEGUE, "serve", "--addr", self.address, "--config", str(self.config)]
        command += ["--store", f"sqlite:{self.folder / 'segue.db'}"]
        self.errors = open(self.folder / "daemon.log", "ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors)
        self.url = listening(self.process)
        # A restart listens at the same place: clients know it.
        self.address = self.url.removeprefix("http://")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=40)
        assert code == 0, f"segue serve ended with {code}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        for process in (self.process, self.model):
            if process.poll() is None:
                process.kill()
                process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def get(self, path):
        status, value = call(self.url + path)
        assert status == 200, f"GET {path}: {status} {value}"
        return value

    def scopes(self):
        return [row["scope"] for row in self.get("/api/v1/scopes?limit=500")["items"]]

    def sessions(self, scope):
        scope = urllib.parse.quote(scope, safe="")
        return self.get(f"/api/v1/scopes/{scope}/sessions?limit=500")["items"]

    def told(self, scope, session=1):
        """Returns the messages of a session: role, text, names of the tools called."""
        scope = urllib.parse.quote(scope, safe="")
        page = self.get(f"/api/v1/scopes/{scope}/sessions/{session}/messages?limit=500")
        return [
            (m["role"], m["text"], [call["name"] for call in m.get("tool_calls", [])]) for m in page["items"]
        ]

    def verify(self):
        for scope in self.scopes():
            scope = urllib.parse.quote(scope, safe="")
            report = self.get(f"/api/v1/scopes/{scope}/verify")
            assert report["ok"], report

    def asked(self):
        """Returns the requests that reached the model."""
        return call(self.upstream + "/log")[1]


def check(name, condition, more=""):
    """Fails with a clear word."""
    if not condition:
        raise AssertionError(f"{name}: {more}")
    print(f"    ok  {name}", flush=True)


def wait_until(what, condition, seconds=20):
    """Waits for something that happens by itself."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"it did not happen in {seconds} s: {what}")
