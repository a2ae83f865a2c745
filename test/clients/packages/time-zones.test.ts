import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SERVERS } from "../../../services/shared/platforms.js";
import { notLong } from "../../support/long.js";
import { FORMATS, packagesOf } from "../../support/packages.js";
import { freePorts, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// Two programs with the same data, at the same address one after the other, whose clocks are in zones a day apart.

const ZONES = ["Pacific/Kiritimati", "Pacific/Pago_Pago"];
const folders = ["data-", "packages-"].map((name) => mkdtempSync(join(tmpdir(), name)));
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const title = titled(
  "every package of a service is the same file, byte for byte, in whatever time zone it is built",
  notLong,
);
test.skipIf(notLong !== undefined)(title, { timeout: 300_000 }, async () => {
  const [dataDir = "", below = ""] = folders;
  const [port] = await freePorts(1);
  const hashes: Record<string, string>[] = [];
  for (const TZ of ZONES) {
    const program = await startProgram({ dataDir, env: { TZ, PORT: `${port}` }, readyWithin: 120_000 });
    try {
      const packages = packagesOf(program, program.bootstrap.analyst.api_key, below);
      const seen: Record<string, string> = {};
      for (const server of SERVERS) {
        for (const format of Object.keys(FORMATS) as (keyof typeof FORMATS)[]) {
          const { sha256, version, files } = await packages.build(server, format);
          seen[`${server} ${format}`] = `${sha256} ${version}`;
          for (const [path, body] of files) expect(body.includes("slp_"), `${server} ${format} ${path}`).toBe(false);
        }
      }
      hashes.push(seen);
    } finally {
      await program.stop();
    }
  }
  expect(Object.keys(hashes[0] ?? {})).toHaveLength(12);
  expect(hashes[1]).toEqual(hashes[0]);
});
