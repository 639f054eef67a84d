"""Runs every command of docs/serve.md, in order, as it stands there: only addresses and paths are replaced."""

import getpass
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

from codex_cli_bin import bundled_codex_path
from daemon import HERE, ROOT, SEGUE, check, listening, wait_until
from stranger import Stranger, at


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(client):
    try:
        return client.get("/healthz").status == 200
    except OSError:
        return False


class Guide:
    def __init__(self, folder):
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir(parents=True)
        (self.programs / "segue").symlink_to(pathlib.Path(SEGUE).resolve())
        (self.programs / "codex").symlink_to(bundled_codex_path())
        self.model = subprocess.Popen([sys.executable, str(HERE / "model.py")], stdout=subprocess.PIPE)
        self.upstream = listening(self.model)
        self.served = None
        self.address = "127.0.0.1:0"
        self.env = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "CODEX_HOME": str(folder / "codex")}
        (folder / "codex").mkdir()

    def close(self):
        for process in (self.served, self.model):
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def replaced(self, text):
        return text.replace("127.0.0.1:7717", self.address).replace("http://localhost:11434", self.upstream)

    def serve(self, command, env=None):
        if self.served:
            self.served.terminate()
            assert self.served.wait(timeout=40) == 0
        self.served = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=env or self.env, stdout=subprocess.PIPE)
        self.address = listening(self.served).removeprefix("http://")

    def run(self, command, **more):
        done = subprocess.run(command, cwd=self.folder, env={**self.env, **more}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout} {done.stderr}"
        return done.stdout

    def sh(self, text):
        text = self.replaced(text).strip()
        if text.startswith("segue serve"):
            self.serve(text)
            return "started"
        # A token would close the loopback of the daemon that runs.
        store = {"SEGUE_STORE_URL": "sqlite:tokens.db"} if text.startswith("segue token") else {}
        said = self.run(["bash", "-euo", "pipefail", "-c", text.replace("curl -s", "curl -sS --fail-with-body")], **store)
        return said.strip().splitlines()[-1][:100] if said.strip() else ""

    def python(self, text):
        return self.run([sys.executable, "-c", self.replaced(text)]).strip()[:100]

    def ts(self, text):
        file = pathlib.Path(os.environ["NODE_FOLDER"]) / "guide.mjs"
        file.write_text(self.replaced(text))
        return self.run(["node", str(file)]).strip()[:100]

    def toml(self, text):
        file = self.folder / ("codex/config.toml" if "model_provider" in text else "serve.toml")
        file.write_text(self.replaced(text))
        return f"written to {file.name}"

    def nginx(self, text):
        if not shutil.which("nginx"):
            return "skipped: nginx is missing"
        port, file = free_port(), self.folder / "nginx.conf"
        head = f"user {getpass.getuser()};\npid {self.folder}/nginx.pid;\nerror_log {self.folder}/nginx.log;\nevents {{}}\n"
        http = f"access_log off; server {{ listen 127.0.0.1:{port}; {self.replaced(text)} }}"
        file.write_text(f"{head}http {{ {http} }}\n")
        self.run(["nginx", "-t", "-c", str(file), "-p", str(self.folder)])
        proxy = subprocess.Popen(["nginx", "-c", str(file), "-p", str(self.folder), "-g", "daemon off;"], stderr=subprocess.DEVNULL)
        try:
            through = Stranger(f"http://127.0.0.1:{port}")
            wait_until("nginx answers", lambda: answers(through))
            through.say("a/b:c d%".replace(" ", "_"), "hello")
            assert through.told("a/b:c_d%") == [("user", "hello")], "a scope in a path stays as it is"
            told = through.events(at("a/b:c_d%") + "/events", last=0, count=1)
            assert told[0][1] == "message", told
        finally:
            proxy.terminate()
            proxy.wait()
        return "messages and events go through it"

    def ini(self, text):
        """Starts what the unit starts, with its environment, at paths of the test."""
        if shutil.which("systemd-analyze"):
            unit = self.folder / "segue.service"
            unit.write_text(text.replace("/usr/local/bin/segue", str(pathlib.Path(SEGUE).resolve())))
            self.run(["systemd-analyze", "verify", str(unit)])
        command = re.search(r"^ExecStart=(.*)$", text, re.M).group(1)
        (self.folder / "etc.toml").write_text('[serve]\naddr = "127.0.0.1:0"\n')
        command = command.replace("/usr/local/bin/segue", "segue").replace("/etc/segue/segue.toml", "etc.toml")
        env = dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", text, re.M))
        env = {name: value.replace("/var/lib/segue/", f"{self.folder}/unit-") for name, value in env.items()}
        self.serve(command, {**self.env, **env})
        assert (self.folder / "unit-segue.db").exists(), "the store is not where the unit says"
        self.served.send_signal(1)
        return "started, and reloaded by SIGHUP"


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "docs" / "serve.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M)
    check("docs/serve.md has blocks", len(blocks) >= 10, len(blocks))
    assert not re.search(r"^    (segue|curl|codex) ", text, re.M), "a command that is not in a block is not run"
    guide = Guide(folder)
    try:
        for kind, block in blocks:
            said = getattr(guide, kind)(block)
            check(f"{kind}: {block.strip().splitlines()[0][:60]}: {said}", True)
    finally:
        guide.close()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
