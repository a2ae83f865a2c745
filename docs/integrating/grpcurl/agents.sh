#!/usr/bin/env bash
# Lists agents page by page, creates an agent once, shows two refusals, and reads a stream: with grpcurl and jq.
set -euo pipefail

# [connect]
address=${SALLYPORT_GRPC_URL#*://}
tls=() # https: TLS; http: none, only on the same machine
case $SALLYPORT_GRPC_URL in http:*) tls=(-plaintext) ;; esac
call() { # SERVICE/METHOD JSON; reflection describes the messages
  "${GRPCURL:-grpcurl}" "${tls[@]}" -max-time 10 -H "authorization: Bearer $SERVICE_API_KEY" -d "$2" "$address" "$1"
}

# [pages]
count=0 token=
while :; do
  page=$(call core.v1.AgentService/ListAgents '{"page_size":2,"page_token":"'"$token"'"}')
  count=$((count + $(jq '.agents | length' <<<"$page")))
  token=$(jq -r '.nextPageToken // ""' <<<"$page")
  [ -n "$token" ] || break
done
echo "agents $count"

# [once]
request='{"name":"From grpcurl","request_id":"'"$RANDOM-$RANDOM-$RANDOM"'"}'
first=$(call core.v1.AgentService/CreateAgent "$request" | jq -r .agent.id)
again=$(call core.v1.AgentService/CreateAgent "$request" | jq -r .agent.id)
echo "created once $([ "$first" = "$again" ] && echo true)"
call core.v1.AgentService/DeleteAgent '{"agent_id":"'"$first"'"}' >/dev/null

# [errors]
refusal() { # what grpcurl says of an error, in one line
  sed -n -E 's/^ *Code: *//p; s/^ *Message: *//p' | sed -E '1s/(.)([A-Z])/\1_\2/g; 1s/.*/\U&/' | paste -sd ' '
}
echo "refused $(call core.v1.AgentService/ListAgents '{"page_size":1000}' 2>&1 | refusal)"

# [stream]
launch() { call aev.v1.ScenarioService/LaunchScenario '{"scenario_id":"'"$1"'"}' 2>/dev/null || true; }

# [end]
# Launching runs real attacks: only if SCENARIO_ID names a scenario.
if [ -n "${SCENARIO_ID:-}" ]; then
  echo "stream $(launch "$SCENARIO_ID" | grep -om1 -E 'progress|result' | head -1)"
fi
