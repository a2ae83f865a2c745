import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RunState } from "#proto/core/v1/run_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { QUICK, startStage } from "./stage.js";

// One user queues all that one may, of runs that take for ever: nobody else waits for them.

let stage: Awaited<ReturnType<typeof startStage>>;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const MOST = 100;

test("who comes after a hundred queued runs of another is worked for at once, and so are the next two", async () => {
  const sharing = ["bob", "carl"].map((who) => ({ to: `user:${who}`, tier: Tier.VIEW }));
  const agent = await stage.agent({ resourceIds: [await stage.integrate({ sharing })], sharing });
  stage.script.reply = ({ messages }) => (messages[1]!.content === "For ever." ? "never" : "Done.");
  const ids: string[] = [];
  for (let n = 0; n < MOST; n++) ids.push((await stage.trigger(agent, { input: "For ever." })).id);
  await vi.waitFor(() => expect(stage.model.asked.length).toBe(QUICK.atOnce / 2), { interval: 10, timeout: 5_000 });

  const stuck = await stage.trigger(agent, { input: "For ever." }, "carl");
  for (const who of ["bob", "root"]) {
    const own = who === "root" ? await stage.agent({ resourceIds: [await stage.integrate({}, who)] }, who) : agent;
    const { id } = await stage.trigger(own, {}, who);
    expect(await stage.rested(id, who)).toMatchObject({ state: RunState.COMPLETED, output: "Done." });
  }
  expect((await stage.record(stuck.id))?.state).toBe("running");

  const states = await Promise.all(ids.map(async (id) => (await stage.record(id))?.state));
  expect(states.filter((state) => state === "running")).toHaveLength(QUICK.atOnce / 2);
});
