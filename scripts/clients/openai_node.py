"""`openai` for Node, unmodified, against `segue serve`."""

import os
import subprocess
import sys

from daemon import HERE, Daemon

if __name__ == "__main__":
    with Daemon(sys.argv[1]) as daemon:
        subprocess.run(["node", str(HERE / "openai_node.mjs"), daemon.url, os.environ["NODE_FOLDER"]], check=True)
        daemon.verify()
        daemon.stop()
