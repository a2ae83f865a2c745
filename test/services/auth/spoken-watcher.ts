import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { WatchRequestSchema, type WatchResponseSchema } from "#proto/auth/v1/watch_service_pb.js";
import type { WatchHub } from "../../../services/auth/watch-hub.js";
import { createOutbox } from "../../../services/shared/credentials/outbox.js";

/** What a hub says; undefined at the end of the stream. */
export type Said = MessageInitShape<typeof WatchResponseSchema>["message"];

/** A watcher that says exactly what a test wants said. */
export type SpokenWatcher = ReturnType<typeof speak>;

/** Connects a watcher and says hello. */
export function speak(hub: WatchHub, watcher: string, since: number) {
  const requests = createOutbox<ReturnType<typeof request>>();
  const gone = new AbortController();
  const replies = hub.watch(requests, gone.signal)[Symbol.asyncIterator]();
  const request = (message: MessageInitShape<typeof WatchRequestSchema>["message"]) =>
    create(WatchRequestSchema, { message: message as never });
  let n = 0n;
  const hello = () => requests.push(request({ case: "hello", value: { watcher, since: BigInt(since) } }));
  hello();
  return {
    hello,
    renew: (ack: number) => requests.push(request({ case: "renew", value: { n: ++n, ack: BigInt(ack) } })),
    goodbye: () => requests.push(request({ case: "goodbye", value: {} })),
    async next(): Promise<Said> {
      const { value, done } = await replies.next();
      return done ? undefined : (value as MessageInitShape<typeof WatchResponseSchema>).message;
    },
    /** The stream breaks without a word. */
    cut: () => gone.abort(),
  };
}

/** Connects a watcher and gives it its first lease. */
export async function leasedAt(hub: WatchHub, watcher: string): Promise<SpokenWatcher> {
  const connected = speak(hub, watcher, hub.seq);
  expect((await connected.next())?.case).toBe("welcome");
  connected.renew(hub.seq);
  expect((await connected.next())?.case).toBe("lease");
  return connected;
}
