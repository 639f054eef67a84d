"""API.md: how the daemon starts and ends, and who may ask it."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading

from stranger import SEGUE, Daemon, Stranger, at, check, part, problem, segue, suite


def starts(folder):
    folder.mkdir(parents=True, exist_ok=True)
    store = f"sqlite:{folder / 'start.db'}"
    for more, form in (([], "listening on http://127.0.0.1:"), (["--json"], '{"listening":"http://127.0.0.1:')):
        command = [SEGUE, "serve", "--addr", "127.0.0.1:0", "--store", store, *more]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = process.stdout.readline().decode()
        check(f"the first line with {more}", line.startswith(form) and line.endswith("\n"), line)
        url = json.loads(line)["listening"] if more else line.split("listening on ")[1].strip()
        check("it is alive and ready", [Stranger(url).get(path).status for path in ("/healthz", "/readyz", "/metrics")] == [200] * 3)
        check("and described", Stranger(url).get("/api/openapi.json").json["openapi"].startswith("3.1")
              and "swagger" in Stranger(url).get("/api/docs/").text.lower())
        process.send_signal(signal.SIGTERM)
        check("SIGTERM ends it with 0", process.wait(timeout=30) == 0)
        check("nothing else was printed", process.stdout.read() == b"")
    refused = subprocess.run([SEGUE, "serve", "--addr", "0.0.0.0:0", "--store", store], capture_output=True, text=True, timeout=30)
    check("another address without tokens is refused", refused.returncode != 0 and "token" in refused.stderr and not refused.stdout, refused)


def ends(folder):
    """SIGTERM amid streams: what runs is finished or parked, and the exit is 0."""
    with Daemon(folder) as served:
        me, said = Stranger(served.url), {}
        body = {"model": "main", "stream": True, "user": "ends:1",
                "messages": [{"role": "user", "content": "slowly one two three four five six"}]}

        def completion():
            said["answer"] = me.post("/v1/chat/completions", body)

        me.say("ends:2", "hello")
        me.post(f"{at('ends:2')}/task/start", {"task": "wait"})
        threads = [threading.Thread(target=completion), threading.Thread(target=me.get, args=(at("ends:2") + "/interrupts?wait=50",))]
        for thread in threads:
            thread.start()
        stream = threading.Thread(target=lambda: me.ask("GET", "/api/v1/events"))
        stream.start()
        while not served.asked():
            pass
        served.stop()
        for thread in [*threads, stream]:
            thread.join(timeout=30)
        check("a stream amid its answer ends whole", said["answer"].streamed == "one two three four five six", said)
        served.start()
        check("and is stored", me.told("ends:1")[-1] == ("assistant", "one two three four five six"), me.told("ends:1"))


def tokens(folder):
    with Daemon(folder) as served:
        store = served.folder / "segue.db"
        check("loopback is open without tokens", Stranger(served.url).get("/api/v1/scopes").status == 200)

        def add(name, *more):
            printed = segue(store, "token", "add", name, *more).split()
            check(f"a secret is printed once for {name}", len(printed) == 1 and printed[0].startswith("sgt_"), printed)
            return Stranger(served.url, printed[0])

        ann = add("ann", "--scopes", "ann:", "shared:", "--rights", "admin")
        bob = add("bob", "--scopes", "bob:", "--rights", "write")
        eve = add("eve", "--scopes", "ann:", "--rights", "read")
        old = add("old", "--expires", "2020-01-01T00:00:00Z")
        add("dated", "--expires", "2099-01-01")
        nobody = Stranger(served.url)
        check("401 asks for a token", problem("no token", nobody.get("/api/v1/scopes"), 401)
              and nobody.get("/api/v1/scopes").headers["www-authenticate"].startswith("Bearer"))
        problem("a bad token", Stranger(served.url, "sgt_00").get("/api/v1/scopes"), 401)
        problem("an expired token", old.get("/api/v1/scopes"), 401)
        for scope in ("ann:1", "shared:1"):
            ann.say(scope, "the secret word is heron")
        problem("a reader may not write", eve.post("/api/v1/messages", {"scope": "ann:1", "text": "x"}), 403)
        problem("a writer may not erase", bob.ask("DELETE", at("bob:1") + "/messages/1") if bob.say("bob:1", "hi") else None, 403)
        check("a reader reads", eve.told("ann:1") == [("user", "the secret word is heron")])
        for path in ("/sessions", "/sessions/1", "/sessions/1/messages", "/context", "/decisions", "/events", "/verify", "/head"):
            problem(f"not yours is not there: {path}", bob.get(at("ann:1") + path), 404)
        problem("writing there neither", bob.post("/api/v1/messages", {"scope": "ann:1", "text": "x"}), 404)
        answer = bob.post("/api/v1/messages", {"address": {"channel": "telegram", "peer": "p"}, "text": "x"})
        problem("nor by an address", answer, 404)
        check("a list shows what is yours", [row["scope"] for row in bob.get("/api/v1/scopes").json["items"]] == ["bob:1"])
        listed = segue(store, "token", "list")
        check("tokens are listed without secrets", all(name in listed for name in ("ann", "bob", "eve", "old")) and "sgt_" not in listed)
        check("and stored hashed", ann.token.encode() not in store.read_bytes())
        segue(store, "token", "revoke", "ann")
        problem("a revoked token ends at once", ann.get("/api/v1/scopes"), 401)
        for name in ("bob", "eve", "old", "dated"):
            segue(store, "token", "revoke", name)
        problem("and the door stays closed", nobody.get("/api/v1/scopes"), 401)
        served.stop()


def limits(folder):
    with Daemon(folder / "rate", "[serve]\nrequests_per_minute = 3\n") as served:
        me = Stranger(served.url)
        answers = [me.get("/api/v1/scopes") for _ in range(4)]
        problem("too many requests", answers[3], 429)
        check("Retry-After says when", int(answers[3].headers["retry-after"]) >= 1, answers[3])
        served.stop()
    with Daemon(folder / "store") as served:
        me = Stranger(served.url)
        me.say("s:1", "hello")
        held = sqlite3.connect(served.folder / "segue.db", isolation_level=None)
        held.execute("BEGIN EXCLUSIVE")
        problem("the store does not answer", me.ask("POST", "/api/v1/messages", {"scope": "s:1", "text": "again"}, timeout=60), 503)
        held.execute("ROLLBACK")
        check("and the next message works", me.say("s:1", "the next")["wants_reply"] is True)
        served.verify()
        served.stop()


def main(folder):
    part(starts, folder / "starts")
    part(ends, folder / "ends")
    part(tokens, folder / "tokens")
    part(limits, folder / "limits")


if __name__ == "__main__":
    suite(main, sys.argv[1])
