// k6: tools/list and tools/call of both eras at a constant rate, whatever the server does.
//
//   LOAD_KEY=… k6 run -e LOAD_URL=http://127.0.0.1:8080/mcp/cti -e LOAD_RATE=200 clients/load/scripts/k6.js
//
// LOAD_KEYS is a list of keys with commas, LOAD_SECONDS the length (30), LOAD_TOOL (whoami) and
// LOAD_ARGUMENTS ({}) choose the call. dropped_iterations counts requests that k6 did not send.

import { check } from "k6";
import http from "k6/http";

const url = __ENV.LOAD_URL || "http://127.0.0.1:8080/mcp/cti";
const keys = (__ENV.LOAD_KEYS || __ENV.LOAD_KEY || "").split(",").filter((key) => key !== "");
const call = { name: __ENV.LOAD_TOOL || "whoami", arguments: JSON.parse(__ENV.LOAD_ARGUMENTS || "{}") };
const rate = Number(__ENV.LOAD_RATE || 100);

export const options = {
  scenarios: {
    open: {
      executor: "constant-arrival-rate",
      rate,
      timeUnit: "1s",
      duration: `${__ENV.LOAD_SECONDS || 30}s`,
      preAllocatedVUs: Math.max(16, Math.ceil(rate / 10)),
      maxVUs: Math.max(64, rate),
    },
  },
  thresholds: {
    http_req_duration: ["p(99)<50"],
    checks: ["rate>0.999"],
    dropped_iterations: ["count<1"],
  },
  summaryTrendStats: ["min", "avg", "p(50)", "p(90)", "p(99)", "p(99.9)", "max"],
};

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "k6", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** One in ten requests is a list; every second one is of 2025-11-25. */
export default function request() {
  const isList = __ITER % 10 === 0;
  const isModern = (__ITER + Math.floor(__ITER / 10)) % 2 === 0;
  const method = isList ? "tools/list" : "tools/call";
  const params = Object.assign({}, isList ? {} : call, isModern ? { _meta: META } : {});
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": isModern ? "2026-07-28" : "2025-11-25",
  };
  if (isModern) headers["Mcp-Method"] = method;
  if (isModern && !isList) headers["Mcp-Name"] = call.name;
  if (keys.length > 0) headers.Authorization = `Bearer ${keys[__VU % keys.length]}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: __ITER, method, params });
  const answer = http.post(url, body, { headers, tags: { name: `${method} ${headers["MCP-Protocol-Version"]}` } });
  check(answer, {
    "a result": ({ status, body: text }) =>
      status === 200 && text.includes('"result"') && !text.includes('"isError":true'),
  });
}
