"""Runs the tests with real clients, one after the other, and says what came of each."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

# Name, script, what it needs.
SUITES = [
    ("API.md: own interface", "contract_own.py", "nothing"),
    ("API.md: OpenAI's", "contract_openai.py", "nothing"),
    ("API.md: who may", "contract_access.py", "nothing"),
    ("openai (Python)", "openai_python.py", "python"),
    ("openai (Node)", "openai_node.py", "node"),
    ("openai-agents", "agents_sdk.py", "python"),
    ("codex", "codex.py", "python"),
    ("schemathesis", "schema.py", "python"),
    ("a real model", "with_a_model.py", "model"),
    ("docs/serve.md", "guide.py", "python"),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    missing = {name: os.environ.get(f"NO_{name.upper()}") for name in ("python", "node", "model")}
    only = set(sys.argv[2:])
    shutil.rmtree(folder, ignore_errors=True)
    results = []
    for name, script, needs in SUITES:
        if only and script.removesuffix(".py") not in only:
            continue
        if missing.get(needs):
            print(f"-- {name}: skipped: {missing[needs]}", flush=True)
            results.append((name, "skipped", 0.0))
            continue
        print(f"-- {name}", flush=True)
        begun = time.monotonic()
        try:
            work = folder / script.removesuffix(".py")
            code = subprocess.run([sys.executable, str(HERE / script), str(work)], timeout=480).returncode
        except subprocess.TimeoutExpired:
            code = "time-out"
        results.append((name, "ok" if code == 0 else f"FAILED ({code})", time.monotonic() - begun))
    print("\nwith real clients:")
    for name, result, seconds in results:
        print(f"  {name:24} {result:12} {seconds:6.1f} s")
    failed = [name for name, result, _ in results if result.startswith("FAILED")]
    print("failed: " + ", ".join(failed) if failed else "none failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
