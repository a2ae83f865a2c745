import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { options, type Settings } from "../../../services/launcher/config.js";
import { laneOf } from "../../../services/launcher/lane.js";
import { readConfig } from "../../../services/shared/process/config.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { freePorts } from "../../support/program.js";

const settings = (...flags: string[]): Settings => readConfig(options, flags, {});
const where = async (given: Settings, edge: "uws" | "node" | undefined = "uws") => {
  return (await laneOf(given, edge, silentLog))?.at;
};

test("one process with everything has no lane, and one whose façades run apart has one at a Unix domain socket", async () => {
  expect(await where(settings())).toBeUndefined();
  expect(await where(settings("--workers=0"), undefined)).toBe("socket");
  expect(await where(settings("--workers=2", "--host=0.0.0.0"))).toBe("socket");
});

test("a port that is set is one of the address that the process listens on", async () => {
  const [port] = await freePorts(1);
  expect(await where(settings("--workers=0", `--lane-port=${port}`), undefined)).toEqual({ host: "127.0.0.1", port });
  expect(await where(settings("--host=0.0.0.0", `--lane-port=${port}`))).toEqual({ host: "0.0.0.0", port });
  const any = await where(settings("--lane-port=0"));
  expect(any).toEqual({ host: "127.0.0.1", port: expect.toSatisfy((port: number) => port > 0) });
});

test("with EDGE=node there is none", async () => {
  expect(await where(settings("--workers=2"), "node")).toBeUndefined();
  expect(await where(settings("--workers=0"), "node")).toBeUndefined();
  expect(await where(settings("--workers=0", "--lane-port=0"), "node")).toBeUndefined();
});

test("a port that is taken is said in one line", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  await expect(where(settings(`--lane-port=${port}`))).rejects.toThrow(
    `lane port ${port} on 127.0.0.1 is in use by another program: stop that program, or set another port`,
  );
  taken.close();
});
