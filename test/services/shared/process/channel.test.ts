import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { openChannel, type Peer } from "../../../../services/shared/process/channel.js";

/** Two ends of a line over which messages go as JSON, as between processes. */
function line(): [Peer, Peer] {
  const [one, other] = [new EventEmitter(), new EventEmitter()];
  const end = (own: EventEmitter, far: EventEmitter): Peer => ({
    send: (message, done) => {
      const text = JSON.stringify(message);
      setImmediate(() => far.emit("message", JSON.parse(text)));
      done();
    },
    on: (event, hear) => own.on(event, hear),
  });
  return [end(one, other), end(other, one)];
}

test("either end asks the other, whatever else is sent", async () => {
  const [parent, child] = line();
  const ofParent = openChannel(parent, { ready: async () => ["full"] });
  const ofChild = openChannel(child, { metrics: async () => ({ a: 1 }) });
  child.send?.("listening" as never, () => undefined);
  expect(await Promise.all([ofParent.ask("metrics"), ofChild.ask("ready")])).toEqual([{ a: 1 }, ["full"]]);
});

test("a question that is unknown or fails is refused", async () => {
  const [parent, child] = line();
  const asking = openChannel(parent, {});
  openChannel(child, {
    fails: async () => {
      throw new Error("not now");
    },
  });
  await expect(asking.ask("fails")).rejects.toThrow("did not answer: fails");
  await expect(asking.ask("unknown")).rejects.toThrow("did not answer: unknown");
});

test("an end that does not answer is not waited for without end", async () => {
  const asking = openChannel({ send: () => undefined, on: () => undefined }, {});
  await expect(asking.ask("metrics")).rejects.toThrow("did not answer");
});
