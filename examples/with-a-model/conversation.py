"""The same with OpenAI's client for Python, streamed: `pip install openai`, then `python conversation.py [URL]`."""

import sys

from openai import OpenAI

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7717"
client = OpenAI(base_url=f"{URL}/v1", api_key="none")


def say(text):
    print(f"\n> {text}")
    stream = client.chat.completions.create(
        model="small", user="ann", stream=True, messages=[{"role": "user", "content": text}]
    )
    for piece in stream:
        if piece.choices:
            print(piece.choices[0].delta.content or "", end="", flush=True)
    print()


say("Which city is the capital of Japan?")
say("How many people live there?")
say("/new")
say("Tell me a fact about penguins.")
say("/session list")
say("/undo")
