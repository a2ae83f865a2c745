import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { startAev } from "../../support/platforms/aev.js";
import { startCti } from "../../support/platforms/cti.js";
import { startGrc } from "../../support/platforms/grc.js";
import type { Harness } from "../../support/platforms/harness.js";
import { type Hostile, startHostile } from "../../support/platforms/hostile.js";

// What a platform and a person on it can do, of every platform: asked once for
// all who wait, kept for a while, and asked anew when something changed.

interface Rig {
  readonly tools: Harness;
  /** Who may change things there, and who may only look. */
  readonly writer: string;
  readonly reader: string;
}

const through = (hostile: Hostile) => (url: string) => {
  hostile.towards = url;
  return hostile.url;
};

const RIGS: Readonly<Record<"cti" | "aev" | "grc", (hostile: Hostile) => Promise<Rig>>> = {
  cti: async (hostile) => ({
    tools: await startCti({ through: through(hostile) }),
    writer: "analyst",
    reader: "reader",
  }),
  aev: async (hostile) => ({
    tools: await startAev({ through: through(hostile) }),
    writer: "planner",
    reader: "reader",
  }),
  grc: async (hostile) => ({
    tools: await startGrc("exchange", {}, through(hostile)),
    writer: "officer",
    reader: "reader",
  }),
};

const allowList = readTools(readImage());

/** What OpenAEV lets everybody do who may read the simulation (ReportApi: Action.READ on each of its routes). */
const BY_READERS = new Set(["create", "update", "delete"].map((verb) => `${verb}_simulation_report`));

describe.each(Object.keys(RIGS) as (keyof typeof RIGS)[])("%s", (server) => {
  let hostile: Hostile;
  let rig: Rig;
  let asked = 0;
  beforeAll(async () => {
    hostile = await startHostile();
    rig = await RIGS[server](hostile);
    hostile.arm(
      () => true,
      () => {
        asked++;
        return false;
      },
    );
  });
  afterAll(async () => {
    await rig.tools.close();
    await hostile.close();
  });

  const snapshot = (who: string) => rig.tools.call(SnapshotService.method.getSnapshot, { server }, who);
  const listed = async (who: string) => {
    const { capabilities } = await snapshot(who);
    const held = new Set(capabilities);
    return allowList
      .filter((tool) => tool.server === server && (held.has("*") || tool.needs.every((need) => held.has(need))))
      .map(({ name }) => name);
  };

  test("says its version, and of each person what that one can do", async () => {
    const { version } = await snapshot(rig.writer);
    expect(version).toMatch(/\d/);
    const [more, less] = [await listed(rig.writer), await listed(rig.reader)];
    expect(less.length).toBeGreaterThan(0);
    expect(less.length).toBeLessThan(more.length);
    expect(more).toEqual(expect.arrayContaining(less));
    const writes = allowList.filter((tool) => !tool.readOnly).map(({ name }) => name);
    expect(less.filter((name) => writes.includes(name) && !BY_READERS.has(name))).toEqual([]);
  });

  test("is asked once for all who wait, and not again while it is kept", async () => {
    await rig.tools.emit("platform", server);
    asked = 0;
    await snapshot(rig.writer);
    const once = asked;
    await rig.tools.emit("platform", server);
    asked = 0;
    await Promise.all(Array.from({ length: 20 }, () => snapshot(rig.writer)));
    await snapshot(rig.writer);
    expect(once).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(once);
  });

  test.each([["platform"], ["reset"], ["user"]])("is asked anew after a change of kind %s", async (kind) => {
    await snapshot(rig.writer);
    await rig.tools.emit(kind, kind === "user" ? `user-${rig.writer}` : server);
    asked = 0;
    await snapshot(rig.writer);
    expect(asked).toBeGreaterThan(0);
  });

  test("that does not answer says so, and is asked anew when it does again", async () => {
    await rig.tools.emit("reset", "");
    await hostile.down();
    await expect(snapshot(rig.writer)).rejects.toThrow(/cannot be reached/);
    await hostile.up();
    expect((await snapshot(rig.writer)).capabilities.length).toBeGreaterThan(0);
  });
});
