import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { narrowToOwner, openSeal } from "../../../services/launcher/private-files.js";
import type { Log } from "../../../services/shared/process/log.js";

let dir: string;
let lines: object[];
const log = { warn: (line: object) => lines.push(line) } as unknown as Log;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "private-"));
  lines = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const modeOf = (name: string): number => statSync(join(dir, name)).mode & 0o777;

test("what is ours and open to others is narrowed, with one line; what is another's is left", () => {
  mkdirSync(join(dir, "main"));
  for (const name of ["bootstrap.json", "service-key", "main/data.mdb", "notes.txt"]) {
    writeFileSync(join(dir, name), "");
    chmodSync(join(dir, name), 0o664);
  }
  chmodSync(dir, 0o755);
  narrowToOwner(dir, log);
  const files = ["bootstrap.json", "service-key", "main/data.mdb", "main", "."];
  expect(files.map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o700, 0o700]);
  expect(modeOf("notes.txt")).toBe(0o664);
  expect(lines).toEqual([{ files }]);
  narrowToOwner(dir, log);
  expect(lines).toHaveLength(1);
});

test("the first start makes a key that only its owner reads, and the next one takes it", () => {
  const sealed = openSeal(undefined, dir).seal("secret", "here");
  expect(modeOf("secrets-key")).toBe(0o600);
  expect(openSeal(undefined, dir).open(sealed, "here")).toBe("secret");
  writeFileSync(join(dir, "secrets-key"), "not a key");
  expect(() => openSeal(undefined, dir)).toThrow(/secrets-key must be keys of 32 bytes/);
  expect(readFileSync(join(dir, "secrets-key"), "utf8")).toBe("not a key");
});
