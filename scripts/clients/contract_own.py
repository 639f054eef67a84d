"""API.md, Segue's own interface, read by a strict stranger: every row, field and status code."""

import json
import sys
import threading
import time

from stranger import MOVED, TURN, Daemon, Stranger, at, check, part, problem, segue, suite

ME = "agent:main:telegram:direct:user123"
SETTINGS = '[serve]\nbody_bytes_max = 20000\n[limits]\nmessage_bytes_max = 8000\n[scopes."asked:1"]\nlifecycle.policy = "adaptive"\n'


def turns(me):
    turn = me.say(ME, "Let us plan a trip to Lisbon in May.", sender="ann", attachments=["plan.pdf"])
    check("the turn has every field", TURN <= set(turn), sorted(TURN - set(turn)))
    check("the turn is told", turn["scope"] == ME and turn["session"] == ME and turn["wants_reply"] is True, turn)
    check("nothing is said, asked or given", [turn[k] for k in ("say", "question", "context")] == [None] * 3, turn)
    check("numbers and lists", turn["seq"] > 0 and 0 <= turn["confidence"] <= 1 and isinstance(turn["reasons"], list)
          and isinstance(turn["signals"], dict) and turn["duplicate"] is False, turn)
    reply = {
        "scope": ME, "session": turn["session"], "text": "Gladly. Shall I look for flights?", "model": "m",
        "tool_calls": [{"id": "c1", "name": "search", "arguments": "{}"}], "reasoning": "hm",
        "usage": {"tokens_in": 5, "tokens_out": 7}, "message_id": "r1"}
    written = me.post("/api/v1/replies", reply)
    check("a reply is written", written.status == 200 and set(written.json) == {"scope", "session", "seq", "state"}, written)
    again = me.post("/api/v1/replies", reply)
    check("a reply that comes twice is one", again.json["seq"] == written.json["seq"], again)
    result = {"scope": ME, "session": ME, "tool_call_id": "c1", "text": "3 flights", "message_id": "t1"}
    first, second = me.post("/api/v1/tool-results", result), me.post("/api/v1/tool-results", result)
    check("so is a result", first.status == 200 and first.text == second.text, (first, second))
    problem("a reply to a session that is not there", me.post("/api/v1/replies", {"scope": ME, "session": ME + "#9", "text": "x"}), 404)
    problem("a reply to a scope that is not there", me.post("/api/v1/replies", {"scope": "none", "session": "none", "text": "x"}), 404)
    body = {"scope": ME, "text": "And the hotels there?", "message_id": "m1", "context": {"window": 4000, "shape": "openai_chat"}}
    first, second = me.post("/api/v1/messages", body).json, me.post("/api/v1/messages", body).json
    check("the context comes along", first["context"]["window"] == 4000 and first["context"]["request"]["messages"], first)
    same = [key for key in TURN - {"duplicate", "context"} if first[key] != second[key]]
    check("a second delivery is the first answer", second["duplicate"] is True and not same, (same, first, second))
    command = me.say(ME, "/session list")
    check("a command is answered", command["action"] == "command" and command["reply"] and command["say"]
          and command["wants_reply"] is False, command)
    for address, scope in [
        ({"channel": "telegram", "peer": "User9"}, "agent:main:telegram:direct:user9"),
        ({"channel": "telegram", "group": "g1"}, "agent:main:telegram:group:g1"),
        ({"channel": "slack", "group": "g1", "thread": "t7", "agent": "work"}, "agent:work:slack:group:g1:thread:t7"),
    ]:
        turn = me.post("/api/v1/messages", {"address": address, "text": "hello"}).json
        check(f"an address falls into {scope}", turn.get("scope") == scope, turn)


def times(me):
    """Messages carry their own time, and what is done between them is on the same clock."""
    scope = "agent:main:cli:direct:clock"
    me.say(scope, "Let us plan a trip to Lisbon in May.", at="2026-03-01T10:00:00Z")
    me.reply(scope, "Gladly. There are flights on Fridays.")
    turn = me.say(scope, "Which hotels in Lisbon are near the river?", at="2026-03-01T10:05:00Z")
    check("five minutes later by its own time is the same session", turn["action"] == "continue" and turn["session"] == scope, turn)
    me.reply(scope, "Try the one at the docks.")
    turn = me.say(scope, "How do I bake sourdough bread at home?", at="2026-03-04T10:05:00Z")
    check("three days later it is a new one", turn["session"] == scope + "#2" and turn["notice"], turn)
    items = me.get(f"{at(scope)}/sessions/1/messages").json["items"]
    check("its time is kept", items[0]["at"].startswith("2026-03-01T10:00:00"), items)


def lists(me, store):
    for n in range(4):
        me.say(f"list:{n}", f"hello {n}")
    seen, cursor = [], ""
    while True:
        page = me.get(f"/api/v1/scopes?prefix=list:&limit=3{cursor}").json
        assert set(page) == {"items", "next"} and len(page["items"]) <= 3, page
        seen += [row["scope"] for row in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    check("scopes come page by page", sorted(seen) == [f"list:{n}" for n in range(4)], seen)
    begun = me.post(at(ME) + "/sessions", {"text": "How do I bake sourdough bread?"})
    check("a session is begun with a text", begun.status == 200 and MOVED <= set(begun.json) and begun.json["session"] == ME + "#2", begun)
    begun = me.post(at(ME) + "/sessions")
    check("and with nothing", begun.status == 200 and begun.json["session"] == ME + "#3", begun)
    listed = me.get(at(ME) + "/sessions").json["items"]
    shown = json.loads(segue(store, "sessions", "list", ME, "--json"))
    shown = shown.get("items", shown) if isinstance(shown, dict) else shown
    check("sessions are listed as by the command line", [row["index"] for row in listed] == [row["index"] for row in shown]
          and not set(shown[0]) - set(listed[0]), (shown[0], listed[0]))
    pages, cursor = [], ""
    while cursor is not None:
        page = me.get(at(ME) + f"/sessions?archived=true&limit=1{cursor}").json
        pages += [row["index"] for row in page["items"]]
        cursor = page["next"] and f"&cursor={page['next']}"
    check("sessions come page by page", pages == [3, 2, 1], pages)
    one = me.get(at(ME) + "/sessions/1").json
    check("a session is shown", one["index"] == 1 and one["key"] == ME and one["active"] is False, one)
    for order, first in (("asc", "user"), ("desc", "user")):
        page = me.get(at(ME) + f"/sessions/1/messages?limit=2&order={order}").json
        rows = page["items"]
        check(f"messages {order}", {"seq", "role", "text", "at"} <= set(rows[0]) and rows[0]["role"] == first and page["next"], page)
    decisions = me.get(at(ME) + "/decisions?limit=1").json
    check("decisions are told", {"action", "cause", "confidence", "reasons", "signals"} <= set(decisions["items"][0]) and decisions["next"], decisions)
    rest = me.get(at(ME) + f"/decisions?cursor={decisions['next']}").json
    check("and go on", decisions["items"][0] not in rest["items"] and rest["items"], rest)
    ours = me.get(at(ME) + "/context?window=4000&shape=anthropic").json
    theirs = json.loads(segue(store, "context", ME, "--window", "4000", "--shape", "anthropic", "--json"))
    check("the context is that of the command line", not set(theirs) - set(ours) or theirs == ours.get("request"), (theirs, ours))
    found = me.post(at(ME) + "/recall", {"query": "hotels in Lisbon", "why": "the trip", "count": 2, "tokens": 500})
    check("recall finds it", found.status == 200 and "Lisbon" in found.text and len(found.json["fragments"]) <= 2, found)
    problem("a recall without a reason", me.post(at(ME) + "/recall", {"query": "Lisbon"}), 422)


def moves(me):
    def move(verb, body=None, status=200):
        answer = me.post(f"{at(ME)}/{verb}", body)
        if status != 200:
            return problem(verb, answer, status)
        check(verb, answer.status == 200 and MOVED <= set(answer.json), answer)
        return answer.json

    def change(body):
        return me.ask("PATCH", at(ME) + "/sessions/1", body)

    changed = change({"title": "Lisbon", "kept": True, "agent": "main", "model": "main"})
    check("a session is changed", changed.status == 200 and changed.json["title"] == "Lisbon" and changed.json["kept"] is True
          and changed.json["active_agent"] == "main" and changed.json["model_config"]["model"] == "main", changed)
    problem("an empty title", change({"title": " "}), 422)
    problem("a field that is not there", change({"color": "red"}), 422)
    check("resume", move("sessions/1/resume")["session"] == ME)
    move("sessions/1/resume", status=409)
    seq = me.get(at(ME) + "/sessions/1/messages").json["items"][1]["seq"]
    forked = move("sessions/1/fork", {"at": seq})["session"]
    check("a fork ends at its message", len(me.told(ME, int(forked.split("#")[1]))) == 2, forked)
    check("undo", move("undo")["session"] == ME)
    check("redo", move("redo")["session"] == forked)
    move("undo")
    me.say(ME, "Which hotels in Lisbon are near the river?")
    last = me.say(ME, "And which of them has a garden?")["seq"]
    split = move("split", {"at": last})
    number = split["session"].split("#")[1]
    check("split takes it along", me.told(ME, number) == [("user", "And which of them has a garden?")], split)
    move("answer", {"answer": "fresh"}, 409)
    move("answer", {"answer": "maybe"}, 422)
    move("sessions/99/resume", status=404)
    move("sessions/99/fork", status=404)
    move("sessions/1/restore")
    move("split", {}, 422)
    move("split", {"at": 99999}, 409)
    move("sessions/1/fork", {"at": 99999}, 409)
    gone = me.ask("DELETE", at(ME) + "/sessions/2")
    check("a session is deleted", gone.status == 200 and gone.json["index"] == 2, gone)
    problem("it is not there any more", me.get(at(ME) + "/sessions/2"), 404)
    problem("the latest one cannot be deleted", me.ask("DELETE", f"{at(ME)}/sessions/{number}"), 409)


def asked(me):
    """A question, its options, and an answer."""
    scope = "asked:1"
    me.say(scope, "Let us plan a trip to Lisbon in May.", at="2026-03-01T10:00:00Z")
    me.reply(scope, "Gladly, there are flights on Fridays and hotels by the river.")
    turn = me.say(scope, "What about the weather?", at="2026-03-01T16:00:00Z")
    question = turn["question"]
    check("a question has options", turn["action"] == "ask" and turn["wants_reply"] is False and turn["say"]
          and all({"answer", "label"} == set(option) for option in question["options"]), turn)
    answer = me.post(at(scope) + "/answer", {"answer": "fresh"})
    check("an answer moves it", answer.status == 200 and answer.json["session"] == scope + "#2", answer)
    check("with the message", me.told(scope, 2)[-1] == ("user", "What about the weather?"), me.told(scope, 2))


def tasks(me):
    scope = "tasks:1"

    def act(op, body=None):
        return me.post(f"{at(scope)}/task/{op}", body)

    problem("a task of no scope", act("finish", {"summary": "x"}), 404)
    for op, body, state in [
        ("start", {"task": "Add retry logic"}, "running"),
        ("note", {"text": "looked at the code"}, "running"),
        ("ask", {"question": "Which back-off?"}, "awaiting_user"),
        ("respond", {"text": "exponential"}, "running"),
        ("flush", None, "running"),
        ("interrupt", {"text": "use jitter"}, "interrupted"),
    ]:
        answer = act(op, body)
        check(f"task {op}", answer.status == 200 and answer.json["state"] == state, answer)
    heard = me.get(at(scope) + "/interrupts?wait=5").json
    check("an interrupt is heard", heard["interrupts"][0]["text"] == "use jitter", heard)
    refused = problem("what the state does not allow", act("confirm"), 409)
    check("what is allowed is said", "pending_complete" in (refused["detail"] + (refused["hint"] or "")).lower(), refused)
    problem("no such operation", act("dance"), 422)
    begun, later = time.monotonic(), threading.Timer(0.3, lambda: act("interrupt", {"text": "and log it"}))
    later.start()
    heard = me.get(at(scope) + "/interrupts?wait=20").json
    check("a waiting agent is woken", heard["interrupts"] and time.monotonic() - begun < 15, heard)
    later.join()
    problem("nobody waits for ever", me.get(at(scope) + "/interrupts?wait=9999"), 422)


def proof(me):
    scope = "proof:1"
    seq = me.say(scope, "the secret word is heron")["seq"]
    me.say(scope, "/new")
    report = me.get(at(scope) + "/verify").json
    check("verify tells digests", report["ok"] is True and report["digests"], report)
    head = me.get(at(scope) + "/head").json
    check("so does the head", head["scope"] == scope and head["digest"], head)
    gone = me.ask("DELETE", f"{at(scope)}/messages/{seq}")
    check("a message is erased", gone.status == 200, gone)
    check("no word of it is left", "heron" not in me.get(at(scope) + "/sessions/1/messages").text
          and "heron" not in me.get(at(scope) + "/decisions").text)
    check("and the proof holds", me.get(at(scope) + "/verify").json["ok"] is True)
    problem("a message that is not there", me.ask("DELETE", f"{at(scope)}/messages/9999"), 404)


def bad(me):
    for name, body, status in [
        ("no JSON", b"{", 400), ("half of it", b'{"scope":"a","text":"', 400), ("no UTF-8", b'{"scope":"\xff","text":"a"}', 400),
        ("an empty body", b"", 400), ("a list", [], 422), ("no scope", {"text": "a"}, 422), ("no text", {"scope": "a"}, 422),
        ("a number for a text", {"scope": "a", "text": 5}, 422), ("an unknown field", {"scope": "a", "text": "a", "x": 1}, 422),
        ("no time", {"scope": "a", "text": "a", "at": "noon"}, 422), ("a scope with #", {"scope": "a#b", "text": "a"}, 422),
        ("a bad shape", {"scope": "a", "text": "a", "context": {"shape": "round"}}, 422),
        ("a bad window", {"scope": "a", "text": "a", "context": {"window": 0}}, 422),
        ("a long message", {"scope": "a", "text": "x" * 9000}, 413), ("a large body", {"scope": "a", "text": "x" * 30000}, 413),
    ]:
        problem(name, me.post("/api/v1/messages", body), status)
    check("none of them left a scope", "a" not in [row["scope"] for row in me.get("/api/v1/scopes?prefix=a&limit=500").json["items"]])
    problem("a wrong type", me.ask("POST", "/api/v1/messages", b"a", {"content-type": "text/plain"}), 415)
    problem("a method that is not there", me.ask("PUT", "/api/v1/messages", {}), 405)
    problem("a path that is not there", me.get("/api/v1/nothing"), 404)
    for path in ("/sessions", "/sessions/1", "/sessions/1/messages", "/context", "/decisions", "/events", "/interrupts", "/verify", "/head"):
        problem(f"a scope that is not there: {path}", me.get(at("no/such scope") + path), 404)
    for path in ("/api/v1/scopes", at(ME) + "/sessions", at(ME) + "/sessions/1/messages", at(ME) + "/decisions"):
        for query in ("limit=0", "limit=x", "limit=-1", "cursor=x!", "strange=1"):
            problem(f"{path}?{query}", me.get(f"{path}?{query}"), 422)


def keys(me, served):
    """The same key gives the same answer, on every POST, also after a restart."""
    me.say("keys:1", "Let us plan a trip to Lisbon in May.")
    me.reply("keys:1", "Gladly.")
    seq = me.say("keys:1", "And then the garden fence.")["seq"]
    path, ask = at("keys:1"), {"model": "main", "messages": [{"role": "user", "content": "say hi"}], "user": "keys:2"}
    conversation = me.post("/v1/conversations", {}).json["id"]
    posts = [
        ("/api/v1/messages", {"scope": "keys:1", "text": "hello"}), ("/api/v1/replies", {"scope": "keys:1", "text": "hello"}),
        ("/api/v1/tool-results", {"scope": "keys:1", "tool_call_id": "x", "text": "y"}), (path + "/split", {"at": seq}),
        (path + "/undo", None), (path + "/redo", None), (path + "/sessions", {"text": "new"}), (path + "/sessions/1/resume", None),
        (path + "/sessions/1/fork", {}), (path + "/sessions/1/restore", None), (path + "/answer", {"answer": "fresh"}),
        (path + "/recall", {"query": "Lisbon", "why": "w"}), (path + "/task/start", {"task": "t"}), ("/v1/chat/completions", ask),
        ("/v1/responses", {"model": "main", "input": "say hi", "user": "keys:3"}), ("/v1/conversations", {"metadata": {"a": "b"}}),
        (f"/v1/conversations/{conversation}/items", {"items": [{"type": "message", "role": "user", "content": "hi"}]}),
        (f"/v1/conversations/{conversation}", {"metadata": {"c": "d"}}),
    ]
    firsts = []
    for n, (where, body) in enumerate(posts):
        first, second = (me.post(where, body, Idempotency_Key=f"k{n}") for _ in range(2))
        same = (first.status, first.text, first.headers["content-type"]) == (second.status, second.text, second.headers["content-type"])
        check(f"the same key, POST {where}: {first.status}", same and first.status < 500, (first, second))
        firsts.append(first)
    counted = [len(me.told(scope)) for scope in ("keys:1", "keys:2", "keys:3")]
    served.restart()
    for n, (where, body) in enumerate(posts):
        again = me.post(where, body, Idempotency_Key=f"k{n}")
        check(f"after a restart, POST {where}", (again.status, again.text) == (firsts[n].status, firsts[n].text), (firsts[n], again))
    check("nothing was done again", counted == [len(me.told(scope)) for scope in ("keys:1", "keys:2", "keys:3")], counted)
    check("another path, another answer", me.post(path + "/redo", None, Idempotency_Key="k0").status in (200, 409))


def streams(me, served):
    scope = "events:1"
    first = me.say(scope, "Let us plan a trip to Lisbon in May.")
    me.reply(scope, "Gladly.")
    me.say(scope, "/new")
    told = me.events(at(scope) + "/events", last=0, count=3)
    names = [name for _, name, _ in told]
    check("events of a scope", names == ["message", "message", "boundary"] and told[0][2]["seq"] == first["seq"], told)
    served.restart()
    me.post(f"{at(scope)}/task/start", {"task": "pack"})
    me.ask("DELETE", f"{at(scope)}/messages/{first['seq']}")
    more = me.events(at(scope) + "/events", last=told[1][0], count=3)
    check("they go on where they were", more[0] == told[2] and [name for _, name, _ in more[1:]] == ["task", "deleted"], (told, more))
    seen = me.events("/api/v1/events", last=0, count=5)
    on = me.events("/api/v1/events", last=seen[1][0], count=3)
    check("events of all scopes go on too", on == seen[2:5], (seen, on))
    problem("an id that is none", me.ask("GET", at(scope) + "/events", headers={"Last-Event-ID": "x"}), 422)


def main(folder):
    with Daemon(folder, SETTINGS) as served:
        me = Stranger(served.url)
        store = served.folder / "segue.db"
        part(turns, me)
        part(times, me)
        part(lists, me, store)
        part(moves, me)
        part(asked, me)
        part(tasks, me)
        part(proof, me)
        part(bad, me)
        part(keys, me, served)
        part(streams, me, served)
        served.verify()
        served.stop()


if __name__ == "__main__":
    suite(main, sys.argv[1])
