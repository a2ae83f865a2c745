import type { Variant } from "../figures/group.js";
import { type Loop, load, once } from "../load.js";
import type { Fixture, Peer } from "../peers/peers.js";
import type { Server } from "../servers/server.js";
import { messageOf } from "./capture.js";
import type { Context } from "./context.js";

/** A peer that runs. */
export interface Running {
  readonly peer: Peer;
  readonly server: Server;
}

/** Starts the peers with what they answer; one that does not start is skipped. */
export async function startPeers({ peers, skip }: Context, fixture: Fixture): Promise<Running[]> {
  const running: Running[] = [];
  for (const peer of peers) {
    try {
      running.push({ peer, server: await peer.start(fixture) });
    } catch (error) {
      skip(`${peer.name} did not start: ${(error as Error).message.slice(0, 500)}`);
    }
  }
  return running;
}

/** The variants of those peers that answer a request well. @param group for those that do not. */
export async function peerVariants(
  running: readonly Running[],
  loop: Omit<Loop, "port">,
  { skip }: Context,
  group: string,
): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const { peer, server } of running) {
    const answer = await once(server.port, loop.requests[0] as Buffer);
    const { result } = answer.status === 200 ? messageOf(answer) : {};
    if (result === undefined || result.isError === true) {
      skip(`${peer.name} does not answer ${group}: ${answer.status} ${answer.body.toString().slice(0, 200)}`);
      continue;
    }
    const { pids, port } = server;
    const send = (ms: number): Promise<number> => load({ ...loop, port }, ms);
    variants.push({ name: peer.name, kind: "peer", pids, send, bytes: answer.body.length });
  }
  return variants;
}
