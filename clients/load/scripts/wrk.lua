-- wrk: tools/call of 2026-07-28 in a closed loop, for the highest rate that a server reaches.
--
--   LOAD_KEY=… wrk -t1 -c32 -d10s --latency -s clients/load/scripts/wrk.lua http://127.0.0.1:8080/mcp/cti
--
-- LOAD_TOOL (whoami) and LOAD_ARGUMENTS ({}) choose the call; LOAD_METHOD=tools/list lists instead.
-- wrk waits for each answer before it sends the next request, so its latencies leave out what was
-- due in the meantime: use `npm run -s load` for latencies at a rate.

local key = os.getenv("LOAD_KEY")
local method = os.getenv("LOAD_METHOD") or "tools/call"
local tool = os.getenv("LOAD_TOOL") or "whoami"
local arguments = os.getenv("LOAD_ARGUMENTS") or "{}"

local meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
  .. '"io.modelcontextprotocol/clientInfo":{"name":"wrk","version":"1"},'
  .. '"io.modelcontextprotocol/clientCapabilities":{}}'
local params = meta
if method == "tools/call" then
  params = '"name":"' .. tool .. '","arguments":' .. arguments .. "," .. meta
end

wrk.method = "POST"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"' .. method .. '","params":{' .. params .. "}}"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = method
if method == "tools/call" then
  wrk.headers["Mcp-Name"] = tool
end
if key then
  wrk.headers["Authorization"] = "Bearer " .. key
end

-- An answer of status 200 may hold an error: wrk itself counts statuses alone.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init()
  failed = 0
end

function response(status, headers, body)
  if status ~= 200 or not body:find('"result"', 1, true) or body:find('"isError":true', 1, true) then
    failed = failed + 1
  end
end

function done(summary)
  local all = 0
  for _, thread in ipairs(threads) do
    all = all + thread:get("failed")
  end
  io.write(string.format("%d of %d answers were no result\n", all, summary.requests))
end
