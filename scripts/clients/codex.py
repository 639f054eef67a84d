"""Codex, unmodified, against `segue serve`: exec, resume and fork. It sends its whole history with every request."""

import json
import os
import pathlib
import subprocess
import sys

from codex_cli_bin import bundled_codex_path
from daemon import Daemon, check


def provider(daemon, more=""):
    return (
        'model_provider = "segue"\n'
        "[model_providers.segue]\n"
        'name = "Segue"\n'
        f'base_url = "{daemon.url}/v1"\n'
        'wire_api = "responses"\n' + more
    )


class Codex:
    def __init__(self, home, daemon, model, more=""):
        self.home = pathlib.Path(home)
        self.work = self.home / "work"
        self.work.mkdir(parents=True)
        (self.work / "a.txt").write_text("hello\n")
        (self.home / "config.toml").write_text(f'model = "{model}"\n' + provider(daemon, more))

    def run(self, *arguments):
        """Runs `codex exec`, and returns its thread and its last message."""
        command = [str(bundled_codex_path()), "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access"]
        env = {**os.environ, "CODEX_HOME": str(self.home)}
        done = subprocess.run(
            command + list(arguments), cwd=self.work, env=env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120,
        )
        assert done.returncode == 0, f"codex ended with {done.returncode}: {done.stdout} {done.stderr}"
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        thread = next(event["thread_id"] for event in events if event["type"] == "thread.started")
        said = [e["item"]["text"] for e in events if e["type"] == "item.completed" and e["item"]["type"] == "agent_message"]
        return thread, said[-1]


def of_codex(told):
    """Leaves out the environment that Codex describes to the model."""
    return [message for message in told if not message[1].startswith("<environment_context>")]




def conversation(daemon, codex, model):
    thread, said = codex.run('use exec_command {"cmd":"cat a.txt"}')
    check(f"{model}: exec with a tool", said.endswith("hello"), said)
    again, said = codex.run("resume", thread, "say second turn")
    check(f"{model}: resume", again == thread and said == "second turn", said)
    return thread


def check_roles(name, told, roles, tools):
    told = of_codex(told)
    check(f"{name}: every message once, in order", [m[0] for m in told] == roles, told)
    check(f"{name}: every tool call", [t for m in told for t in m[2]] == tools, told)


FIRST = ["user", "assistant", "tool", "assistant", "user", "assistant"]
TOOL = ["user", "assistant", "tool", "assistant"]


def by_thread(daemon, home, model):
    """Without a header, a thread of Codex is a scope: its cache key names it."""
    codex = Codex(home, daemon, model)
    thread = conversation(daemon, codex, model)
    codex.run("resume", thread, 'use exec_command {"cmd":"wc -c a.txt"}')
    fork, said = codex.run("fork", thread, "say forked turn")
    check(f"{model}: fork", fork != thread and said == "forked turn", said)
    codex.run("resume", thread, "say original goes on")
    pair = ["exec_command", "exec_command"]
    check_roles(f"{model}: thread", daemon.told(thread), FIRST + TOOL + ["user", "assistant"], pair)
    check_roles(f"{model}: fork", daemon.told(fork), FIRST + TOOL + ["user", "assistant"], pair)
    check(f"{model}: the thread is one session", len(daemon.sessions(thread)) == 1, daemon.sessions(thread))


def in_one_scope(daemon, home):
    """With a header, all threads of Codex are sessions of one scope."""
    scope = "agent:main:codex:direct:me"
    codex = Codex(home, daemon, "main", f'http_headers = {{ "X-Segue-Scope" = "{scope}" }}\n')
    thread = conversation(daemon, codex, "one scope")
    fork, _ = codex.run("fork", thread, "say forked turn")
    codex.run("resume", thread, "say original goes on")
    other, said = codex.run("say another thread")
    check("one scope: another thread", said == "another thread", said)
    codex.run("resume", fork, "say fork goes on")
    daemon.restart()
    codex.run("resume", thread, "say after a restart")
    sessions = {row["index"]: row for row in daemon.sessions(scope)}
    check("one scope: three sessions", sorted(sessions) == [1, 2, 3], sessions)
    check_roles("one scope: thread", daemon.told(scope, 1), FIRST + ["user", "assistant"] * 2, ["exec_command"])
    check_roles("one scope: fork", daemon.told(scope, 2), FIRST + ["user", "assistant"] * 2, ["exec_command"])
    check_roles("one scope: other", daemon.told(scope, 3), ["user", "assistant"], [])
    check("one scope: the fork has its parent", sessions[2]["parent"] == scope, sessions[2])


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]).resolve()
    with Daemon(folder / "daemon") as daemon:
        by_thread(daemon, folder / "chat", "main")
        by_thread(daemon, folder / "native", "native")
        in_one_scope(daemon, folder / "scope")
        daemon.verify()
        daemon.stop()
