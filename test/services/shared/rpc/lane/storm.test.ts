import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { CREATE, GET, laneAt, OURS, openRelay, startLane, untilOnLane } from "./support.js";

// Hundreds of calls of every kind, some of which end early, on connections that are lost and processes that close.

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

type Rig = Awaited<ReturnType<typeof startLane>>;
const LOST = "Unavailable";
/** What becomes of a call that its caller ends early. */
const ENDED = ["Canceled", "DeadlineExceeded"];

async function start(begun: Map<string, number>): Promise<Rig> {
  const rig = await startLane();
  closings.push(() => rig.close());
  const serve = async (id: string): Promise<object> => {
    begun.set(id, (begun.get(id) ?? 0) + 1);
    if (Math.random() < 0.6) await sleep(Math.random() * 50);
    return { agent: { id } };
  };
  rig.world.get = serve;
  rig.world.create = serve;
  return rig;
}

/** Makes a call, a write or a read, and gives what became of it. */
function outcomeOf({ dispatch }: Rig, name: string, writes: boolean, endsEarly: boolean): Promise<string> {
  const early = Math.ceil(Math.random() * 50);
  const out = {
    ...OURS,
    ...(endsEarly && Math.random() < 0.5 && { signal: AbortSignal.timeout(early) }),
    ...(endsEarly && { deadline: Date.now() + early + 5 }),
  };
  const answer: Promise<{ readonly agent?: { readonly id: string } | undefined }> = writes
    ? dispatch.unary(CREATE, { name }, out)
    : dispatch.unary(GET, { agentId: name }, out);
  return answer.then(
    ({ agent }) => (agent?.id === name ? "answered" : `the answer of ${agent?.id}`),
    (error: unknown) => Code[ConnectError.from(error).code] as string,
  );
}

test("connections are lost: each call has its own answer or error, and no write is made twice", async () => {
  const begun = new Map<string, number>();
  const rig = await start(begun);
  const relay = await openRelay((await laneAt(rig.server.port)).port);
  closings.push(() => relay.close());
  rig.door.announceAt(relay.port);
  await untilOnLane(rig.dispatch, rig.door);
  const outcomes: Promise<string>[] = [];
  for (let turn = 0; turn < 30; turn++) {
    for (let n = 0; n < 20; n++) {
      const i = outcomes.length;
      outcomes.push(outcomeOf(rig, `n${i}`, i % 2 === 0, i % 5 === 0));
    }
    if (turn % 10 === 9) relay.cut();
    await sleep(Math.random() * 8);
  }
  const all = await Promise.all(outcomes);
  for (const [i, outcome] of all.entries()) {
    const writes = i % 2 === 0;
    // A read that was lost is made again.
    expect(["answered", ...(writes ? [LOST] : []), ...(i % 5 === 0 ? ENDED : [])]).toContain(outcome);
    const times = begun.get(`n${i}`) ?? 0;
    if (writes) expect(times).toBeLessThanOrEqual(1);
    if (outcome === "answered") expect(times).toBeGreaterThanOrEqual(1);
  }
  expect(all).toContain(LOST);
}, 30_000);

test("a process closes while another takes its place: no call is lost, and none is made twice", async () => {
  const begun = new Map<string, number>();
  const [rig, other] = [await start(begun), await start(begun)];
  await untilOnLane(rig.dispatch, rig.door);
  begun.clear();
  const outcomes: Promise<string>[] = [];
  let closed: Promise<void> | undefined;
  for (let turn = 0; turn < 30; turn++) {
    for (let n = 0; n < 20; n++) outcomes.push(outcomeOf(rig, `n${outcomes.length}`, n % 2 === 0, false));
    if (turn === 15) {
      rig.door.leadTo(other.server.port);
      closed = rig.server.close(10_000);
    }
    await sleep(Math.random() * 8);
  }
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["answered"]));
  expect(new Set(begun.values())).toEqual(new Set([1]));
  await closed;
}, 30_000);
