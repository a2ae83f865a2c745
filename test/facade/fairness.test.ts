import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../../services/shared/process/log.js";
import { mountInProcess } from "../../services/shared/rpc/in-process.js";
import { unary } from "../../services/shared/rpc/method.js";
import { SightingService } from "../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { legacy, modern, post } from "./support/client.js";
import { createKeys } from "./support/credentials.js";
import { headerLines, raw, requestText } from "./support/raw.js";
import { createWorld, fixtureMethods } from "./support/services.js";
import { CTI, type Started, start } from "./support/start.js";

// A key that floods beside another, told by what is begun in front of the
// other's calls and not by the clock; test/bench/fairness.ts has the times.

const FLOOD = 64;
const CALLS = 15;
/** Work of one call, in milliseconds of the event loop. */
const WORK_MS = 2;

let server: Started;
let flooding: boolean;
let begun: number;

beforeEach(async () => {
  begun = 0;
  flooding = true;
  const keys = createKeys();
  for (const key of ["flood", "other"]) keys.add(key, { scopes: CTI });
  const busy = unary(SightingService.method.echoSighting, ({ word }) => {
    if (word === "flood") begun++;
    const end = performance.now() + WORK_MS;
    while (performance.now() < end);
    return { word };
  });
  const methods = [...fixtureMethods(createWorld(), ["cti"]), busy];
  const dispatch = mountInProcess(methods, { authenticator: keys.authenticator, log: silentLog });
  server = await start({ dispatch, credentials: keys });
});
afterEach(() => server.close());

async function call(key: string): Promise<void> {
  const { body, headers } = modern("tools/call", { name: "echo_sighting", arguments: { word: key } });
  const { status } = await post(`${server.url}/mcp/cti`, body, { ...headers, authorization: `Bearer ${key}` });
  expect(status).toBe(200);
}

async function flood(): Promise<void> {
  while (flooding) await call("flood");
}

test("64 connections of one key put a few of its calls in front of another's", async () => {
  await call("other");
  const floods = Array.from({ length: FLOOD }, flood);
  while (begun < FLOOD) await new Promise((resolve) => setTimeout(resolve, 10));
  const before: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const from = begun;
    await call("other");
    before.push(begun - from);
  }
  flooding = false;
  await Promise.all(floods);
  // First come, first served, it is the whole flood.
  const median = before.sort((a, b) => a - b)[CALLS >> 1];
  expect(median).toBeLessThan(FLOOD / 4);
});

test.each([
  ["modern", modern],
  ["legacy", legacy],
])("calls whose %s clients are gone before their turn are not begun", async (_era, message) => {
  await call("other");
  const { body, headers } = message("tools/call", { name: "echo_sighting", arguments: { word: "flood" } });
  const text = JSON.stringify(body);
  const lines = [...headerLines(headers, "flood"), `content-length: ${text.length}`];
  const connections = Array.from({ length: FLOOD }, () => raw(server.port, ""));
  await Promise.all(connections.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))));
  for (const { socket } of connections) socket.write(requestText("/base/mcp/cti", lines, text));
  while (begun < 2) await new Promise((resolve) => setImmediate(resolve));
  for (const { socket } of connections) socket.destroy();
  // It comes behind those that wait.
  await call("flood");
  expect(begun).toBeLessThan(FLOOD / 2);
});
