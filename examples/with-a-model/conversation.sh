#!/usr/bin/env bash
# A conversation of several topics with curl: only the new message is sent, Segue keeps the rest.
set -euo pipefail
url="${1:-http://127.0.0.1:7717}"

say() {
    printf '\n> %s\n' "$1"
    curl -sS --fail-with-body "$url/v1/chat/completions" -H 'content-type: application/json' \
        -H 'x-segue-scope: agent:main:curl:direct:me' \
        -d "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["choices"][0]["message"]["content"])'
}

say "Which city is the capital of Portugal?"
say "And what river does it lie on?"
say "/new"
say "How do I boil an egg?"
say "/session list"
say "/session resume 1"
say "Name one dish from there."
printf '\nWhat Segue has kept:\n'
curl -sS --fail-with-body "$url/api/v1/scopes/agent%3Amain%3Acurl%3Adirect%3Ame/sessions" |
    python3 -c 'import json, sys
for s in json.load(sys.stdin)["items"]: print(s["index"], s["messages"], "messages", s["title"])'
