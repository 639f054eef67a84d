"""`openai` for Python, unmodified, against `segue serve`."""

import json
import sys

from daemon import Daemon, check, wait_until
from openai import NotFoundError, OpenAI, UnprocessableEntityError

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def chat(daemon, client):
    said = client.chat.completions.create(
        model="main", user="ann", messages=[{"role": "user", "content": "say Hello Ann."}]
    )
    check("chat", said.choices[0].message.content == "Hello Ann.", said)
    check("usage of a chat", said.usage.total_tokens > 0, said.usage)
    raw = client.chat.completions.with_raw_response.create(
        model="main", user="ann", messages=[{"role": "user", "content": "say And again, Ann."}]
    )
    check("headers", raw.headers["x-segue-session"] == "ann", dict(raw.headers))
    sent = daemon.asked()[-1]["body"]["messages"]
    check("the context is Segue's", [m["content"] for m in sent][:2] == ["say Hello Ann.", "Hello Ann."], sent)
    check("stored", [m[:2] for m in daemon.told("ann")][:2] == [("user", "say Hello Ann."), ("assistant", "Hello Ann.")])

    stream = client.chat.completions.create(
        model="main", user="ben", stream=True, stream_options={"include_usage": True},
        messages=[{"role": "user", "content": "say one two three"}],
    )
    pieces = list(stream)
    text = "".join(p.choices[0].delta.content or "" for p in pieces if p.choices)
    check("chat streamed", text == "one two three" and len(pieces) > 3, text)
    check("usage of a stream", pieces[-1].usage is not None, pieces[-1])
    check("stream stored", daemon.told("ben")[-1][1] == "one two three")

    with client.chat.completions.stream(
        model="main", user="ben", messages=[{"role": "user", "content": "say four five"}]
    ) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    check("chat stream helper", final.choices[0].message.content == "four five", final)


def tools(daemon, client):
    function = {"type": "function", "function": {"name": "weather", "parameters": TOOL}}
    messages = [{"role": "user", "content": 'use weather {"city": "Lisbon"}'}]
    first = client.chat.completions.create(model="main", user="cy", tools=[function], messages=messages)
    call = first.choices[0].message.tool_calls[0]
    check("tool called", json.loads(call.function.arguments) == {"city": "Lisbon"}, call)
    messages += [first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
    second = client.chat.completions.create(model="main", user="cy", tools=[function], messages=messages)
    check("tool answered", second.choices[0].message.content == "The tool said: sunny", second)
    told = daemon.told("cy")
    expected = ["user", "assistant", "tool", "assistant"]
    check("call and result stored once", [m[0] for m in told] == expected, told)
    # Only the result, as a client does that trusts the server's memory.
    again = client.chat.completions.create(
        model="main", user="cy2", tools=[function], stream=True,
        messages=[{"role": "user", "content": 'use weather {"city": "Rome"}'}],
    )
    calls = [c for p in again if p.choices for c in p.choices[0].delta.tool_calls or []]
    result = {"role": "tool", "tool_call_id": calls[0].id, "content": "rain"}
    third = client.chat.completions.create(model="main", user="cy2", tools=[function], messages=[result])
    check("only the result sent", third.choices[0].message.content == "The tool said: rain", third)


def responses(daemon, client, model):
    user = f"dan-{model}"
    first = client.responses.create(model=model, user=user, input="say first")
    check(f"{model}: response", first.output_text == "first" and first.status == "completed", first)
    second = client.responses.create(
        model=model, input="say second", previous_response_id=first.id, instructions="Be short."
    )
    check(f"{model}: previous_response_id", second.output_text == "second", second)
    check(f"{model}: names its predecessor", second.previous_response_id == first.id, second)
    told = [m[1] for m in daemon.told(user)]
    check(f"{model}: one session", told == ["say first", "first", "say second", "second"], told)
    shown = client.responses.retrieve(second.id)
    check(f"{model}: retrieved", shown.output_text == "second" and shown.id == second.id, shown)
    items = client.responses.input_items.list(second.id)
    check(f"{model}: input items", items.data[0].content[0].text == "say second", items)

    events = list(client.responses.create(model=model, input="say a b c", previous_response_id=second.id, stream=True))
    check(f"{model}: events begin", events[0].type == "response.created", events[0])
    check(f"{model}: events end", events[-1].type == "response.completed", events[-1])
    numbers = [event.sequence_number for event in events]
    check(f"{model}: events numbered", numbers == list(range(len(numbers))), numbers)
    with client.responses.stream(model=model, input="say d e f", previous_response_id=events[-1].response.id) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    check(f"{model}: stream helper", final.output_text == "d e f", final)

    function = {"type": "function", "name": "weather", "parameters": TOOL, "strict": False}
    asked = client.responses.create(model=model, user=f"{user}-tool", tools=[function], input='use weather {"city": "Oslo"}')
    call = next(item for item in asked.output if item.type == "function_call")
    answered = client.responses.create(
        model=model, tools=[function], previous_response_id=asked.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "snow"}],
    )
    check(f"{model}: tool", answered.output_text == "The tool said: snow", answered)
    roles = [m[0] for m in daemon.told(f"{user}-tool")]
    check(f"{model}: tool stored", roles == ["user", "assistant", "tool", "assistant"], roles)

    client.responses.delete(second.id)
    try:
        client.responses.retrieve(second.id)
        check(f"{model}: deleted", False)
    except NotFoundError:
        check(f"{model}: deleted", True)


def background(daemon, client):
    begun = client.responses.create(model="main", user="bg", background=True, input="slowly one two three")
    check("background: at once", begun.status in ("queued", "in_progress"), begun.status)
    wait_until("the response is complete", lambda: client.responses.retrieve(begun.id).status == "completed")
    check("background: done", client.responses.retrieve(begun.id).output_text == "one two three")
    long = client.responses.create(model="main", user="bg2", background=True, input="slowly " + "word " * 400)
    cancelled = client.responses.cancel(long.id)
    check("background: cancelled", cancelled.status == "cancelled", cancelled.status)
    check("background: stays so", client.responses.retrieve(long.id).status == "cancelled")
    check("background: no half reply", [m[0] for m in daemon.told("bg2")] == ["user"], daemon.told("bg2"))


def conversations(daemon, client):
    made = client.conversations.create(metadata={"topic": "trip"}, items=[{"type": "message", "role": "user", "content": "hello"}])
    check("conversation", made.id.startswith("conv_") and made.metadata == {"topic": "trip"}, made)
    added = client.conversations.items.create(
        made.id, items=[{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi", "annotations": []}]}]
    )
    check("items added", added.data[0].role == "assistant", added)
    first = client.responses.create(model="main", conversation=made.id, input="say in the conversation")
    check("response in it", first.output_text == "in the conversation", first)
    check("names it", first.conversation.id == made.id, first.conversation)
    texts = [item.content[0].text for item in client.conversations.items.list(made.id, order="asc", limit=2)]
    check("items paged", texts == ["hello", "hi", "say in the conversation", "in the conversation"], texts)
    newest = client.conversations.items.list(made.id, limit=1).data[0]
    check("one item", client.conversations.items.retrieve(newest.id, conversation_id=made.id).id == newest.id)
    changed = client.conversations.update(made.id, metadata={"topic": "other"})
    check("changed", changed.metadata == {"topic": "other"}, changed)
    check("item deleted", client.conversations.items.delete(newest.id, conversation_id=made.id).id == made.id)
    check("deleted", client.conversations.delete(made.id).deleted is True)
    try:
        client.conversations.retrieve(made.id)
        check("gone", False)
    except NotFoundError as error:
        check("gone", error.code == "not_found", error.body)


def errors(daemon, client):
    try:
        client.chat.completions.create(model="none", user="x", messages=[{"role": "user", "content": "hi"}])
        check("unknown model", False)
    except NotFoundError as error:
        check("unknown model", "main" in str(error), error)
    try:
        client.chat.completions.create(model="main", user="x", messages=[])
        check("no messages", False)
    except UnprocessableEntityError:
        check("no messages", True)
    check("models", [m.id for m in client.models.list()] == ["main", "native"])
    before = len(daemon.scopes())
    passed = client.chat.completions.create(model="main", messages=[{"role": "user", "content": "say through"}])
    check("without a scope it passes through", passed.choices[0].message.content == "through")
    check("and nothing is stored", len(daemon.scopes()) == before, daemon.scopes())


if __name__ == "__main__":
    with Daemon(sys.argv[1]) as daemon:
        client = OpenAI(base_url=daemon.url + "/v1", api_key="none", max_retries=0, timeout=60)
        chat(daemon, client)
        tools(daemon, client)
        responses(daemon, client, "main")
        responses(daemon, client, "native")
        background(daemon, client)
        conversations(daemon, client)
        errors(daemon, client)
        daemon.verify()
        daemon.stop()
