import type { ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { ended, runScript } from "./processes.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-"));
});
afterEach(() => rm(dir, { recursive: true }));

test("a second process is told which directory is in use and what to do", async () => {
  const holder = await runScript("holder.ts", dir);
  expect(await firstLine(holder)).toBe("open");
  await expect(openEmbeddedStore(dir)).rejects.toThrow(
    `the data directory ${dir} is in use by another process; stop that process or choose another directory`,
  );
  holder.stdin?.end();
  await ended(holder);
  expect(holder.exitCode).toBe(0);
  await (await openEmbeddedStore(dir)).close();
});

test("this process holds a directory against another one", async () => {
  const store = await openEmbeddedStore(dir);
  const other = await runScript("holder.ts", dir);
  expect(await firstLine(other)).toContain("is in use by another process");
  await ended(other);
  await store.close();
});

test("the lock ends with a process that is killed, and leaves nothing behind", async () => {
  for (let i = 0; i < 2; i++) {
    const holder = await runScript("holder.ts", dir);
    expect(await firstLine(holder)).toBe("open");
    holder.kill("SIGKILL");
    await ended(holder);
  }
  await (await openEmbeddedStore(dir)).close();
  expect((await readdir(dir)).filter((name) => name.endsWith(".sock"))).toEqual([]);
});

test("of several processes that find a dead holder one gets the directory", async () => {
  const dead = await runScript("holder.ts", dir);
  await firstLine(dead);
  dead.kill("SIGKILL");
  await ended(dead);
  const rivals = await Promise.all(Array.from({ length: 4 }, () => runScript("holder.ts", dir)));
  const answers = await Promise.all(rivals.map(firstLine));
  expect(answers.filter((answer) => answer === "open")).toHaveLength(1);
  for (const rival of rivals) rival.stdin?.end();
  await Promise.all(rivals.map(ended));
});

test("one process opens a directory once, and again after it closed it", async () => {
  const store = await openEmbeddedStore(dir);
  await expect(openEmbeddedStore(`${dir}/.`)).rejects.toThrow("is already open in this process");
  await store.close();
  await (await openEmbeddedStore(dir)).close();
});

test("a directory whose path is too long for a socket is locked too", async () => {
  const deep = join(dir, "x".repeat(120));
  await mkdir(deep);
  const store = await openEmbeddedStore(deep);
  const other = await runScript("holder.ts", deep);
  expect(await firstLine(other)).toContain("is in use by another process");
  await ended(other);
  await store.close();
});

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface(child.stdout!)) return line;
  throw new Error("the process said nothing");
}
