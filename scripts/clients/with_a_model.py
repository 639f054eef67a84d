"""`examples/with-a-model`: a real model, `segue serve` in front, conversations with curl, Python and the chat."""

import os
import pathlib
import subprocess
import sys

from daemon import ROOT, SEGUE, check, listening
import daemon as daemons

EXAMPLE = ROOT / "examples" / "with-a-model"


def run(*command, **more):
    """Runs a program, and returns what it says."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, **more)
    assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout} {done.stderr}"
    return done.stdout


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    model = subprocess.Popen([os.environ["MODEL_PYTHON"], str(EXAMPLE / "model.py"), "0"], stdout=subprocess.PIPE)
    served = None
    try:
        upstream = listening(model)
        config = folder / "segue.toml"
        config.write_text((EXAMPLE / "segue.toml").read_text().replace("http://127.0.0.1:8080", upstream))
        store = f"sqlite:{folder / 'talk.db'}"
        served = subprocess.Popen(
            [SEGUE, "serve", "--addr", "127.0.0.1:0", "--config", str(config), "--store", store],
            stdout=subprocess.PIPE,
        )
        url = listening(served)
        with_curl = run(str(EXAMPLE / "conversation.sh"), url)
        check("curl: the model answers", len(with_curl.split("> And what river")[0]) > 60, with_curl)
        scope = "/api/v1/scopes/agent%3Amain%3Acurl%3Adirect%3Ame"
        sessions = daemons.call(url + scope + "/sessions")[1]["items"]
        check("curl: two sessions", [row["index"] for row in sessions] == [2, 1], sessions)
        told = daemons.call(url + scope + "/sessions/1/messages")[1]["items"]
        check("curl: it went on where it was", told[-2]["text"] == "Name one dish from there.", told)
        check("usage and model are kept", told[-1]["usage"]["tokens_out"] > 0, told[-1])
        with_python = run(sys.executable, str(EXAMPLE / "conversation.py"), url)
        check("python: the model answers", "penguin" in with_python.lower(), with_python)
        ended = daemons.call(url + "/api/v1/scopes/ann/sessions")[1]["items"]
        check("python: /undo left one session", len(ended) == 1, ended)
        chat = run(SEGUE, "chat", "--config", str(config), "--store", store, "--scope", "agent:main:chat:direct:me",
                   input="What colour is the sky?\n/session list\n")
        check("chat: the model answers", len(chat) > 20, chat)
    finally:
        for process in (served, model):
            if process:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
