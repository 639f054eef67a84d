"""API.md, the OpenAI-compatible interface, read by a strict stranger."""

import sys
import urllib.parse

from stranger import Daemon, Stranger, at, check, part, suite

BREAD = "How do I bake sourdough bread at home?"


def user(text):
    return {"role": "user", "content": text}


def chat(me, text, stream=False, headers=None, **more):
    messages = text if isinstance(text, list) else [user(text)]
    return me.ask("POST", "/v1/chat/completions", {"model": "main", "messages": messages, "stream": stream, **more}, headers)


def text_of(answer):
    return answer.json["choices"][0]["message"]["content"]


def which_scope(me, served):
    """The exact precedence."""
    conversation = me.post("/v1/conversations", {}).json["id"]
    ways = [
        ("X-Segue-Scope", {"headers": {"X-Segue-Scope": "by:header"}}, "by:header"),
        ("X-Segue-Channel", {"headers": {"X-Segue-Channel": "telegram", "X-Segue-Peer": "p7"}}, "agent:main:telegram:direct:p7"),
        ("metadata", {"metadata": {"segue_scope": "by:metadata"}}, "by:metadata"),
        ("conversation", {"conversation": conversation}, conversation),
        ("prompt_cache_key", {"prompt_cache_key": "by:cache"}, "by:cache"),
        ("user", {"user": "by:user"}, "by:user"),
    ]
    for first in range(len(ways)):
        fields = {}
        for _, more, _ in reversed(ways[first:]):
            headers = {**fields.get("headers", {}), **more.get("headers", {})}
            fields |= more
            fields["headers"] = headers
        session = chat(me, "say hi", **fields).headers.get("x-segue-session", "")
        check(f"{ways[first][0]} counts before what follows", session.split("#")[0] == ways[first][2], (session, ways[first]))
    session = chat(me, "say hi", safety_identifier="by:safety").headers["x-segue-session"]
    check("safety_identifier counts", session == "by:safety", session)
    for where, body in (("/v1/chat/completions", {"messages": [user("say hi")]}), ("/v1/responses", {"input": "say hi"})):
        before, known = len(served.asked()), len(served.scopes())
        answer = me.post(where, {"model": "main", "temperature": 0.5, **body})
        sent = served.asked()[before:]
        check(f"{where} without a scope passes through", answer.status == 200 and "x-segue-session" not in answer.headers
              and len(sent) == 1 and sent[0]["body"]["temperature"] == 0.5 and len(served.scopes()) == known, answer)
    answer = chat(me, "say hi", headers={"X-Segue-Scope": urllib.parse.quote("人:李雷", safe=":")})
    check("a header that is not ASCII comes percent-encoded", me.told("人:李雷"), answer)


def only_new(me, served):
    scope = {"X-Segue-Scope": "new:1"}
    first = chat(me, "say Lisbon is lovely in May.", headers=scope)
    check("a completion", text_of(first) == "Lisbon is lovely in May." and first.json["object"] == "chat.completion", first)
    check("the headers", first.headers["x-segue-session"] == "new:1" and first.headers["x-segue-action"] == "continue", first)
    chat(me, "Which hotels in Lisbon are near the river?", headers=scope)
    given = [message["content"] for message in served.asked()[-1]["body"]["messages"]]
    check("the model is given the history", given[-3:] == ["say Lisbon is lovely in May.", "Lisbon is lovely in May.",
                                                           "Which hotels in Lisbon are near the river?"], given)
    asked = len(served.asked())
    for stream in (False, True):
        answer = chat(me, "/session list", stream, scope)
        text = answer.streamed if stream else text_of(answer)
        check(f"a command is answered by Segue, stream={stream}", answer.status == 200 and "1" in text, answer)
        if stream:
            check("in OpenAI's pieces", answer.data[-1] == "[DONE]" and answer.data[0]["object"] == "chat.completion.chunk"
                  and answer.data[-2]["choices"][0]["finish_reason"] == "stop", answer.data)
    answer = me.post("/v1/responses", {"model": "main", "input": "/session list", "metadata": {"segue_scope": "new:1"}})
    check("so it is for responses", answer.json["object"] == "response" and answer.json["status"] == "completed"
          and "1" in answer.json["output"][0]["content"][0]["text"], answer)
    check("no model was asked", len(served.asked()) == asked)
    twice = [chat(me, "say once", headers={**scope, "X-Segue-Message-Id": "d1"}) for _ in range(2)]
    count = sum(text == "say once" for _, text in me.told("new:1"))
    check("a second delivery is answered alike", text_of(twice[0]) == text_of(twice[1]) and count == 1, (count, twice))


def whole_history(me, served):
    scope = {"X-Segue-Scope": "whole:1"}
    said = [user("one"), {"role": "assistant", "content": "ok one"}, user("say ok two")]
    chat(me, said, headers=scope)
    said += [{"role": "assistant", "content": "ok two"}, user("say ok three")]
    answer = chat(me, said, headers=scope)
    check("the stored prefix is recognised", len(me.told("whole:1")) == 6 and answer.headers["x-segue-action"] == "continue", answer)
    check("the model is given what was sent", served.asked()[-1]["body"]["messages"] == said, served.asked()[-1])
    edited = [*said[:2], user("say something else")]
    answer = chat(me, edited, headers=scope)
    check("an edited message is a fork", answer.headers["x-segue-action"] == "fork" and answer.headers["x-segue-session"] == "whole:1#2"
          and answer.headers.get("x-segue-notice"), answer)
    answer = chat(me, edited, headers=scope)
    check("so is a reply that is asked for again", answer.headers["x-segue-action"] == "fork", answer)
    check("the first one is as it was", len(me.told("whole:1")) == 6)
    items = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "ok one"}, {"role": "user", "content": "say two"}]
    for n in range(2):
        me.post("/v1/responses", {"model": "main", "input": items, "prompt_cache_key": "whole:2"})
        items += [{"role": "assistant", "content": "two" if n == 0 else "three"}, {"role": "user", "content": "say three"}]
    check("responses too", [text for _, text in me.told("whole:2")] == ["one", "ok one", "say two", "two", "say three", "three"],
          me.told("whole:2"))


def responses(me):
    first = me.post("/v1/responses", {"model": "main", "input": "say one", "user": "resp:1"}).json
    second = me.post("/v1/responses", {"model": "main", "input": "say two", "previous_response_id": first["id"]}).json
    check("previous_response_id goes on", [text for _, text in me.told("resp:1")] == ["say one", "one", "say two", "two"], second)
    path = f"/v1/responses/{second['id']}"
    check("a response is shown", me.get(path).json["output"][0]["content"][0]["text"] == "two", me.get(path))
    check("with its input", me.get(path + "/input_items").json["data"][0]["content"][0]["text"] == "say two")
    streamed = me.post("/v1/responses", {"model": "main", "input": "say three", "user": "resp:1", "stream": True})
    names = [piece["type"] for piece in streamed.data]
    check("OpenAI's events in OpenAI's order", names[:4] == ["response.created", "response.in_progress", "response.output_item.added",
          "response.content_part.added"] and names[-4:] == ["response.output_text.done", "response.content_part.done",
          "response.output_item.done", "response.completed"], names)
    numbers = [piece["sequence_number"] for piece in streamed.data]
    check("numbered", numbers == list(range(len(numbers))), numbers)
    gone = me.ask("DELETE", path)
    check("a response is deleted", gone.status == 200 and gone.json["deleted"] is True and me.get(path).status == 404, gone)
    check("an id that is none", me.get("/v1/responses/resp_none").status == 404)
    check("what is over cannot be cancelled", me.post(f"/v1/responses/{first['id']}/cancel").json["status"] == "completed")


def conversations(me):
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    made = me.post("/v1/conversations", {"metadata": {"topic": "x"}, "items": [item]})
    path = f"/v1/conversations/{made.json['id']}"
    check("a conversation", made.json["object"] == "conversation" and me.get(path).json["metadata"] == {"topic": "x"}, made)
    listed = me.get("/v1/conversations").json
    check("conversations are listed", listed["object"] == "list" and made.json["id"] in [row["id"] for row in listed["data"]], listed)
    me.post("/v1/responses", {"model": "main", "input": "say hi", "conversation": made.json["id"]})
    items = me.get(path + "/items?order=asc").json
    check("its items", [(i["role"], i["content"][0]["text"]) for i in items["data"]] == [("user", "hello"), ("user", "say hi"),
          ("assistant", "hi")] and items["object"] == "list" and items["has_more"] is False, items)
    page = me.get(path + f"/items?order=asc&limit=1&after={items['data'][0]['id']}").json
    check("page by page", [i["id"] for i in page["data"]] == [items["data"][1]["id"]] and page["has_more"] is True, page)
    one = f"{path}/items/{items['data'][0]['id']}"
    check("an item", me.get(one).json["id"] == items["data"][0]["id"] and me.ask("DELETE", one).status == 200 and me.get(one).status == 404)
    gone = me.ask("DELETE", path)
    check("a conversation is deleted", gone.json["deleted"] is True and me.get(path).status == 404, gone)


def models(me):
    listed = me.get("/v1/models").json
    check("models", listed["object"] == "list" and {"main", "native"} == {row["id"] for row in listed["data"]}, listed)
    answer = me.post("/v1/chat/completions", {"model": "none", "messages": [user("hi")]})
    check("an unknown model is said in OpenAI's shape", answer.status == 404 and answer.json["error"]["message"], answer)
    for stream in (False, True):
        answer = chat(me, "fail 418", stream, {"X-Segue-Scope": "fail:1"})
        check("a failing upstream's error reaches the client", answer.status == 418 and answer.json["error"]["message"] == "scripted failure", answer)
    check("the message stays, no reply", me.told("fail:1") == [("user", "fail 418")] * 2, me.told("fail:1"))
    check("and the next one works", text_of(chat(me, "say fine", headers={"X-Segue-Scope": "fail:1"})) == "fine")


def notices(folder):
    """A notice in-band, in the header alone, or not at all; and a question as an ordinary completion."""
    for kind in ("prefix", "header", "none"):
        with Daemon(folder / kind, f'[serve]\nnotices = "{kind}"\ncontext = "managed"\n[lifecycle]\npolicy = "adaptive"\n') as served:
            me, scope = Stranger(served.url), {"X-Segue-Scope": "s"}
            chat(me, "say Lisbon is lovely in May.", headers=scope)
            for stream in (False, True):
                answer = chat(me, "Forget all that, let us start over: say bread", stream, scope)
                notice = urllib.parse.unquote(answer.headers.get("x-segue-notice", ""))
                text = answer.streamed if stream else text_of(answer)
                check(f"notices {kind}: the header, stream={stream}", bool(notice) == (kind != "none"), answer)
                check(f"notices {kind}: in-band", text.startswith(notice + "\n\n") if kind == "prefix" else "\n\n" not in text, text)
            history = [user("say one"), {"role": "assistant", "content": "one"}, user("say two")]
            chat(me, history, headers={"X-Segue-Scope": "m"})
            given = [message["content"] for message in served.asked()[-1]["body"]["messages"]]
            check("managed: the context is ours", given[-1] == "say two" and me.told("m")[-1] == ("assistant", "two"), given)
            served.stop()


def main(folder):
    with Daemon(folder / "main") as served:
        me = Stranger(served.url)
        part(which_scope, me, served)
        part(only_new, me, served)
        part(whole_history, me, served)
        part(responses, me)
        part(conversations, me)
        part(models, me)
        served.verify()
        served.stop()
    part(notices, folder)


if __name__ == "__main__":
    suite(main, sys.argv[1])
