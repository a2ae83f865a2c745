// The façade alone, with its checks and a service that does nothing, on each
// of its HTTP servers.

import { EDGE_NAMES } from "../../../facade/config.js";
import { legacy, modern } from "../../facade/support/client.js";
import type { HttpAnswer } from "../answers.js";
import { measure } from "../figures/measure.js";
import { bodyBytes, load, requestBytes } from "../load.js";
import type { Fixture } from "../peers/peers.js";
import { type Server, startOwn } from "../servers/server.js";
import { capture, messageOf, startFloor, type Wanted } from "./capture.js";
import { type Context, loopText, mostOf } from "./context.js";
import { peerVariants, startPeers } from "./peer-variants.js";

const PATH = "/mcp/cti";
const KEY = { authorization: "Bearer good" };

/** A request of the façade, and what it must be answered with. */
export interface Shape extends Wanted {
  readonly name: string;
  readonly request: Buffer;
  /** Whether servers by other SDKs have an answer to it. */
  readonly isForPeers: boolean;
}

const part = (i: number) => ({
  id: `part-${i}`,
  severity: "low",
  seen_at: "2026-07-28T09:30:00Z",
  sensor: "a sensor with a name",
});
const sighting = {
  id: "sighting-1",
  severity: "high",
  seen_at: "2026-07-28T09:30:00Z",
  confidence: 0.75,
  count: 12,
  by_sensor: { north: "low", south: "high" },
  ports: [80, 443, 8443],
  analyst: { name: "An Analyst" },
  parts: Array.from({ length: 6 }, (_, i) => part(i)),
};
const WORD = { name: "echo_sighting", arguments: { word: "hi" } };
/** About 1.1 KB. */
export const OBJECTS = { name: "echo_sighting", arguments: { word: "hi", sighting } };
const COUNT = { name: "count_sightings", arguments: { steps: 3, step_ms: 1 }, _meta: { progressToken: "p" } };

type Message = ReturnType<typeof modern> | ReturnType<typeof legacy>;
const bytesOf = ({ body, headers }: Message, more: Readonly<Record<string, string>> = KEY, path = PATH): Buffer =>
  requestBytes(path, { ...headers, ...more }, JSON.stringify(body));

/** The shapes of both eras. */
export const SHAPES: readonly Shape[] = (
  [
    ["2026-07-28", modern],
    ["2025-11-25", legacy],
  ] as const
).flatMap(([era, message]): Shape[] => {
  const list = message("tools/list");
  const ok = { status: 200, isForPeers: true };
  const encoded = ["br", "gzip"].map((encoding) => ({
    ...{ ...ok, encoding, name: `tools/list ${era}, ${encoding}` },
    request: bytesOf(list, { ...KEY, "accept-encoding": encoding }),
  }));
  return [
    { ...ok, name: `tools/list ${era}`, request: bytesOf(list) },
    ...encoded,
    { ...ok, name: `tools/call ${era}, a word`, request: bytesOf(message("tools/call", WORD)) },
    { ...ok, name: `tools/call ${era}, 7 objects`, request: bytesOf(message("tools/call", OBJECTS)) },
    {
      status: 200,
      isForPeers: false,
      name: `tools/call ${era}, 3 steps of progress`,
      request: bytesOf(message("tools/call", COUNT)),
    },
    { status: 401, isForPeers: false, name: `${era}, 401 without a key`, request: bytesOf(list, {}) },
    {
      status: 401,
      isForPeers: false,
      name: `${era}, 401 of an unknown key`,
      request: bytesOf(list, { authorization: "Bearer bad" }),
    },
    { status: 404, isForPeers: false, name: `${era}, 404`, request: bytesOf(list, KEY, "/nothing") },
  ];
});

/** Measures the façade. */
export async function facadeSuite(context: Context): Promise<void> {
  const { pauseUs } = context;
  const facades: { readonly edge: string; readonly server: Server }[] = [];
  for (const edge of EDGE_NAMES) facades.push({ edge, server: await startOwn("./facade.js", { edge }) });
  const { port } = (facades[0] as (typeof facades)[0]).server;
  const list = await capture(port, (SHAPES[0] as Shape).request, { status: 200 });
  const tools = messageOf(list).result?.tools as unknown[];
  for (const shape of SHAPES.filter(({ name }) => context.wants(name))) {
    const answer = await capture(port, shape.request, shape);
    const floor = await startFloor(answer);
    const peers = shape.isForPeers ? await startPeers(context, fixtureOf(tools, answer)) : [];
    const loop = { requests: [shape.request], connections: mostOf(context), status: shape.status, pauseUs };
    const sends = (one: Server) => (ms: number) => load({ ...loop, port: one.port }, ms);
    const bytes = answer.body.length;
    const variants = [
      { name: "bare µWS", kind: "floor" as const, pids: floor.pids, send: sends(floor), bytes },
      ...facades.map(({ edge, server }) => {
        return { name: `façade on ${edge}`, kind: "ours" as const, pids: server.pids, send: sends(server), bytes };
      }),
      ...(await peerVariants(peers, loop, context, shape.name)),
    ];
    const name = `${shape.name}, ${loopText(context, loop.connections)} (${bodyBytes(shape.request)} B in)`;
    context.measured(await measure({ suite: "facade", name, variants }, context.pace));
    await floor.stop();
    for (const { server } of peers) await server.stop();
  }
  for (const { server } of facades) await server.stop();
}

/** What peers answer, so that they send what we do: our list, or the structured result of our call. */
function fixtureOf(tools: readonly unknown[], answer: HttpAnswer): Fixture {
  const isCompressed = answer.headers["content-encoding"] !== undefined;
  const result = isCompressed ? undefined : messageOf(answer).result?.structuredContent;
  return { path: PATH, tools, results: { [WORD.name]: result } };
}
