import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Asker, type Said } from "../hold/chaos/asking.js";
import { type Deployment, deploy, type Layout, MISSING } from "../hold/chaos/deployments.js";
import { Ledger } from "../hold/chaos/ledger.js";
import { type Member, send } from "../hold/chaos/members.js";
import { prepare } from "../hold/chaos/stage.js";
import { titled } from "../support/titled.js";

// Each process of a deployment is ended and started again, one after the other, while clients read and write at the two
// doors as a balancer does: it asks the other door if nobody listens at one, or if one says that it takes no more. Of a
// service with façade workers each worker is ended, which the service replaces; both doors lead there.

const CLIENTS = 4;
const PAUSE_MS = 40;
const WORKER = "facade/main.js";
/** Between two restarts, in milliseconds. */
const REST_MS = 2_000;
const LAYOUTS: readonly Layout[] = ["mongodb", "doubled", "workers"];

test.each(LAYOUTS.map((layout) => [titled(layout, MISSING[layout]), layout] as const))(
  "a rolling restart under load fails no request: %s",
  async (_title, layout) => {
    if (MISSING[layout] !== undefined) return;
    const ledger = new Ledger();
    const deployment = await deploy(layout);
    const failed: string[] = [];
    let [requests, moved] = [0, 0];
    try {
      const stage = await prepare(deployment, ledger);
      const doors = deployment.doors.slice(0, 2);
      let isOver = false;
      const acknowledged: string[] = [];
      const client = async (n: number): Promise<void> => {
        const asker = new Asker(stage.people[0]!.key, ledger.problem);
        const ask = async (name: string, args: object): Promise<Said> => {
          const [first, second] = n % 2 === 0 ? doors : doors.toReversed();
          requests++;
          const said = await asker.call(first!, "core", name, args);
          if (!isRefused(said)) return said;
          moved++;
          return asker.call(second!, "core", name, args);
        };
        for (let i = 0; !isOver; i++) {
          const name = `client ${n}: ${i}`;
          const [tool, args] =
            i % 2 === 0
              ? (["create_agent", { name, instructions: "Watch." }] as const)
              : (["list_agents", { page_size: 5 }] as const);
          const said = await ask(tool, args);
          if (said.value === undefined) failed.push(`${tool}: ${JSON.stringify(said.heard).slice(0, 300)}`);
          else if (i % 2 === 0) acknowledged.push(name);
          await sleep(PAUSE_MS);
        }
        await asker.close();
      };
      const clients = Array.from({ length: CLIENTS }, (_, n) => client(n));
      for (const restart of restartsOf(layout, deployment)) {
        await sleep(REST_MS);
        await restart();
        await ready(deployment.doors);
      }
      await sleep(REST_MS);
      isOver = true;
      await Promise.all(clients);
      process.stdout.write(`${layout}: ${requests} requests, ${moved} asked the other door, ${failed.length} failed\n`);
      expect(acknowledged.length).toBeGreaterThan(50);
      expect(failed).toEqual([]);
      expect([...ledger.problems]).toEqual([]);
      await stage.close();
    } finally {
      await deployment.close();
    }
  },
  600_000,
);

/** What ends and starts again each process that serves. */
function restartsOf(layout: Layout, { members, doors }: Deployment): readonly (() => Promise<void>)[] {
  const [service] = members as [Member];
  if (layout === "workers")
    return service.started(WORKER).map((worker) => async () => {
      const all = service.started(WORKER).length;
      // A door is answered by the workers that are left: the next one ends when the new one listens too.
      const listening = (): number => listenersOf(new URL(doors[0]!).port);
      const before = listening();
      expect(send(worker, "SIGTERM")).toBe(true);
      const others = (): number[] => service.started(WORKER).filter((pid) => pid !== worker);
      await expect.poll(others, { timeout: 60_000, interval: 100 }).toHaveLength(all);
      await expect.poll(() => service.started(WORKER), { timeout: 60_000, interval: 100 }).not.toContain(worker);
      await expect.poll(listening, { timeout: 60_000, interval: 100 }).toBe(before);
    });
  return members.map((member) => async () => {
    expect(await member.end("SIGTERM")).toBe(0);
    await member.start();
  });
}

/** How many sockets of this machine listen at a port of loopback. */
function listenersOf(port: string): number {
  const local = new RegExp(`^\\s*\\d+: [0-9A-F]+:${Number(port).toString(16).toUpperCase().padStart(4, "0")} \\S+ 0A `);
  return ["tcp", "tcp6"]
    .flatMap((kind) => readFileSync(`/proc/net/${kind}`, "utf8").split("\n"))
    .filter((line) => local.test(line)).length;
}

/** Whether a balancer asks another one: nobody listened, or the process takes no more requests. */
function isRefused({ heard }: Said): boolean {
  return "lost" in heard ? heard.lost === "ECONNREFUSED" : heard.status === 503;
}

async function ready(doors: readonly string[]): Promise<void> {
  for (const door of doors)
    await expect
      .poll(
        () =>
          fetch(`${door}/readyz`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 60_000, interval: 100 },
      )
      .toBe(200);
}
