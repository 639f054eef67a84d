"""`schemathesis` on the description of Segue's own interface, with all checks."""

import os
import pathlib
import subprocess
import sys

from daemon import HERE, Daemon, call, check

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    with Daemon(folder) as daemon:
        # Something to find: sessions, a question, a task, tool calls.
        for text in ("hello", "/new", "What is the weather?", "/new cats"):
            call(f"{daemon.url}/api/v1/messages", {"scope": "s", "text": text})
        call(f"{daemon.url}/api/v1/replies", {"scope": "s", "text": "", "tool_calls": [{"id": "c", "name": "f"}]})
        call(f"{daemon.url}/api/v1/scopes/t/task/start", {"task": "tidy up"})
        command = [str(pathlib.Path(sys.executable).parent / "schemathesis"), "--no-color", "--config-file", str(HERE / "schemathesis.toml")]
        command += ["run", f"{daemon.url}/api/openapi.json", "--checks", "all", "--request-timeout", "3"]
        command += ["--max-examples", os.environ.get("SEGUE_SCHEMA_EXAMPLES", "20")]
        # The same seed makes the same requests, but for the times that the daemon tells and gets back: one worker, nothing
        # remembered from the run before, no order by hash.
        command += ["--workers", "1", "--generation-database", "none"]
        seed = os.environ.get("SCHEMA_SEED")
        command += ["--seed", seed] if seed else []
        command += ["--report", "ndjson", "--report-ndjson-path", str(folder / "requests.ndjson")]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        limit = int(os.environ.get("SEGUE_SCHEMA_SECONDS", "400"))
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, env=environment)
        (folder / "schemathesis.txt").write_text(done.stdout + done.stderr)
        summary = done.stdout.partition("= SUMMARY =")[2] or done.stdout[-3000:]
        print("\n".join("    " + line for line in summary.splitlines() if line.strip(" =")))
        check("no 500, no undocumented answer", done.returncode == 0, done.stdout[-12000:])
        daemon.verify()
        daemon.stop()
