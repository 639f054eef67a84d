"""`openai-agents`, unmodified: a runner whose session is a conversation of `segue serve`."""

import asyncio
import sys

from agents import Agent, OpenAIConversationsSession, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from daemon import Daemon, check
from openai import AsyncOpenAI

CALLED = []


@function_tool
def weather(city: str) -> str:
    """Tells the weather."""
    CALLED.append(city)
    return f"sunny in {city}"


async def main(daemon):
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=daemon.url + "/v1", api_key="none", timeout=60)
    model = OpenAIResponsesModel(model="main", openai_client=client)
    agent = Agent(name="guide", instructions="You are a guide.", tools=[weather], model=model)
    session = OpenAIConversationsSession(openai_client=client)
    turns = [
        ("say Welcome.", "Welcome."),
        ('use weather {"city": "Lisbon"}', "The tool said: sunny in Lisbon"),
        ("say Three.", "Three."),
        ("say Four.", "Four."),
        ("say Five.", "Five."),
    ]
    for number, (text, expected) in enumerate(turns, 1):
        result = await Runner.run(agent, text, session=session)
        check(f"turn {number}", result.final_output == expected, result.final_output)
        if number == 3:
            daemon.restart()
            check("restarted", True)
    check("the tool was called once", CALLED == ["Lisbon"], CALLED)
    items = await session.get_items()
    kinds = [item.get("role") or item["type"] for item in items]
    expected = ["user", "assistant", "user", "function_call", "function_call_output", "assistant"]
    expected += ["user", "assistant"] * 3
    check("every item once, in order", kinds == expected, kinds)
    last = await session.pop_item()
    check("an item is taken back", last["content"][0]["text"] == "Five.", last)
    check("and is gone", len(await session.get_items()) == len(expected) - 1)
    streamed = Runner.run_streamed(agent, "say Six.", session=session)
    async for _ in streamed.stream_events():
        pass
    check("streamed", streamed.final_output == "Six.", streamed.final_output)
    # The conversation is one scope; who talks to it over Segue's interface sees the same.
    identifier = await session._get_session_id() if hasattr(session, "_get_session_id") else session.session_id
    told = daemon.told(identifier)
    roles = [message[0] for message in told if message[1] or message[2]]
    check("one session with the call and its result", roles.count("tool") == 1, told)
    await session.clear_session()


if __name__ == "__main__":
    with Daemon(sys.argv[1]) as daemon:
        asyncio.run(main(daemon))
        daemon.verify()
        daemon.stop()
