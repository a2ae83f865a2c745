// What the record of a call costs: a call whose service does nothing, audited
// and not. Its floor appends as many bytes to a synced file.

import { legacy, modern } from "../../facade/support/client.js";
import { measure } from "../figures/measure.js";
import { bodyBytes, load, requestBytes } from "../load.js";
import type { FacadeAsked } from "../servers/facade.js";
import { type Server, startOwn } from "../servers/server.js";
import { capture, messageOf, startFloor, startStoringFloor } from "./capture.js";
import { type Context, loopText } from "./context.js";
import { OBJECTS } from "./facade.js";
import { peerVariants, startPeers } from "./peer-variants.js";

const PATH = "/mcp/cti";
const ERAS = { "2026-07-28": modern, "2025-11-25": legacy } as const;
const READ = "echo_sighting";
const AUDITED = "keep_sighting";
/** Bytes of such a record in a frame of 32. */
const RECORD = 373;

/** Measures an audited call, and the same call as a read. */
export async function auditSuite(context: Context): Promise<void> {
  const { pauseUs } = context;
  const own = await Promise.all(
    [0, 1, 2].map((workers) => startOwn("./facade.js", { edge: "uws", audits: true, workers } satisfies FacadeAsked)),
  );
  const [facade, apart, two] = own as [Server, Server, Server];
  for (const [era, message] of Object.entries(ERAS)) {
    const requestOf = (name: string): Buffer => {
      const { body, headers } = message("tools/call", { ...OBJECTS, name });
      return requestBytes(PATH, { ...headers, authorization: "Bearer good" }, JSON.stringify(body));
    };
    const [read, audited] = [requestOf(READ), requestOf(AUDITED)];
    const answer = await capture(facade.port, audited, { status: 200 });
    const result = messageOf(answer).result?.structuredContent;
    const tools = [{ name: AUDITED, description: AUDITED, inputSchema: { type: "object" } }];
    for (const connections of context.connections) {
      const group = `an audited call that does nothing, ${era}, ${loopText(context, connections)}`;
      if (!context.wants(group)) continue;
      const floor = await startFloor(answer);
      const storing = await startStoringFloor(answer, { record: RECORD });
      const peers = await startPeers(context, { path: PATH, tools, results: { [AUDITED]: result } });
      const variant = (name: string, kind: "floor" | "ours", { pids, port }: Server, request: Buffer) => {
        const loop = { requests: [request], connections, port, pauseUs };
        return { name, kind, pids, bytes: answer.body.length, send: (ms: number) => load(loop, ms) };
      };
      const variants = [
        variant("bare µWS", "floor", floor, audited),
        variant("µWS that appends", "floor", storing, audited),
        variant("façade, a read", "ours", facade, read),
        variant("façade, audited", "ours", facade, audited),
        variant("two processes, a read", "ours", apart, read),
        variant("two processes, audited", "ours", apart, audited),
        variant("two workers, a read", "ours", two, read),
        variant("two workers, audited", "ours", two, audited),
        ...(await peerVariants(peers, { requests: [audited], connections, pauseUs }, context, group)),
      ];
      const name = `${group} (${bodyBytes(audited)} B in)`;
      context.measured(await measure({ suite: "audit", name, variants }, context.pace));
      for (const one of [floor, storing, ...peers.map(({ server }) => server)]) await one.stop();
    }
  }
  for (const server of own) await server.stop();
}
