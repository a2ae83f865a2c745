#!/usr/bin/env bash
# Lists agents page by page, creates an agent once, shows two refusals, and reads a stream: with curl and jq.
set -euo pipefail

# [connect]
call() { # SERVICE/METHOD JSON: the answer, or a JSON error with its code and message
  curl -sS "$SALLYPORT_URL/rpc/$1" -H "Authorization: Bearer $SERVICE_API_KEY" \
    -H 'Content-Type: application/json' -H 'Connect-Timeout-Ms: 10000' -d "$2"
}

# [pages]
count=0 token=
while :; do
  page=$(call core.v1.AgentService/ListAgents '{"pageSize":2,"pageToken":"'"$token"'"}')
  count=$((count + $(jq '.agents | length' <<<"$page")))
  token=$(jq -r '.nextPageToken // ""' <<<"$page")
  [ -n "$token" ] || break
done
echo "agents $count"

# [once]
request='{"name":"From curl","requestId":"'"$RANDOM-$RANDOM-$RANDOM"'"}'
first=$(call core.v1.AgentService/CreateAgent "$request" | jq -r .agent.id)
again=$(call core.v1.AgentService/CreateAgent "$request" | jq -r .agent.id)
echo "created once $([ "$first" = "$again" ] && echo true)"
call core.v1.AgentService/DeleteAgent '{"agentId":"'"$first"'"}' >/dev/null

# [errors]
refusal() { jq -r '"\(.code | ascii_upcase) \(.message)"'; }
echo "refused $(call core.v1.AgentService/ListAgents '{"pageSize":1000}' | refusal)"
echo "wrong key $(SERVICE_API_KEY=nothing call core.v1.AgentService/ListAgents '{}' | refusal)"

# [stream]
launch() { # Connect writes a message of a stream as a byte of flags, four of its length, and the message
  local json='{"scenarioId":"'"$1"'"}'
  printf "\\x00\\x00\\x00\\x00\\x$(printf %02x ${#json})%s" "$json" |
    curl -sSN "$SALLYPORT_URL/rpc/aev.v1.ScenarioService/LaunchScenario" -H "Authorization: Bearer $SERVICE_API_KEY" \
      -H 'Content-Type: application/connect+json' --data-binary @-
}

# [end]
# Launching runs real attacks: only if SCENARIO_ID names a scenario.
if [ -n "${SCENARIO_ID:-}" ]; then
  echo "stream $(launch "$SCENARIO_ID" 2>/dev/null | head -c 30 | grep -aoE "progress|result")"
fi
