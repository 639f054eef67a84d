"""A bot in Python, with nothing but its standard library. Segue decides where each message belongs and keeps it; the bot asks
the model.

    segue serve --store sqlite:bot.db
    python3 model.py 8080
    python3 bot.py
"""

import json
import sys
import urllib.error
import urllib.request

SEGUE, MODEL = (sys.argv[1:] + ["http://127.0.0.1:7717", "http://127.0.0.1:8080"])[:2]
SCOPE = "agent:main:python:direct:me"  # one for each person and channel


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        sys.exit(f"{url}: {refused.read().decode()}")
    except urllib.error.URLError as error:
        sys.exit(f"{url} does not answer ({error.reason}): are `segue serve` and model.py running?")


for line in sys.stdin:
    # When this returns, the message is durable and decided about. Commands such as /new and /undo are done.
    turn = post(f"{SEGUE}/api/v1/messages", {"scope": SCOPE, "text": line.strip(), "context": {}})
    if turn["say"]:
        print("*", turn["say"], flush=True)
    if not turn["wants_reply"]:
        continue
    given = {"model": "scripted", "messages": turn["context"]["messages"]}
    reply = post(f"{MODEL}/v1/chat/completions", given)
    text = reply["choices"][0]["message"]["content"]
    print(text, flush=True)
    post(f"{SEGUE}/api/v1/replies", {"scope": SCOPE, "session": turn["session"], "text": text})
