import { expect, test, vi } from "vitest";
import { createUsageWriter } from "../../../../services/shared/credentials/usage-writer.js";

const failed = (error: unknown): never => {
  throw error;
};

test("a key that is used while it is written is written next time, so that a write ends in a busy process", async () => {
  const told: number[] = [];
  const { counter, close } = createUsageWriter({
    async write(usages) {
      told.push(...usages.map(({ uses }) => uses));
      for (let i = 0; i < 3; i++) counter.use(counter.of("busy"), 2);
    },
    failed,
  });
  counter.use(counter.of("busy"), 1);
  await vi.waitUntil(() => told.length === 1, 5_000);
  await vi.waitUntil(() => told.length === 2, 5_000);
  await close();
  expect(told).toEqual([1, 3, 3]);
});

test("more keys than are written at a time are written one after the other, each once", async () => {
  const sizes: number[] = [];
  const keys = new Set<string>();
  const write = async (usages: readonly { keyId: string }[]): Promise<void> => {
    sizes.push(usages.length);
    for (const { keyId } of usages) keys.add(keyId);
  };
  const { counter, close } = createUsageWriter({ write, failed });
  for (let i = 0; i < 25_000; i++) counter.use(counter.of(`key ${i}`), 1);
  await close();
  expect(sizes).toEqual([10_000, 10_000, 5_000]);
  expect(keys.size).toBe(25_000);
});

test("uses that cannot be written are written later, and somebody hears of it", async () => {
  const heard: unknown[] = [];
  const written: number[] = [];
  const { counter, close } = createUsageWriter({
    async write(usages) {
      if (heard.length < 2) throw new Error("down");
      written.push(...usages.map(({ uses }) => uses));
    },
    failed: (error) => heard.push(error),
  });
  counter.use(counter.of("a"), 1);
  await vi.waitUntil(() => heard.length === 1, 5_000);
  counter.use(counter.of("a"), 2);
  await vi.waitUntil(() => written.length === 1, 5_000);
  expect(heard).toHaveLength(2);
  expect(written).toEqual([2]);
  await close();
  expect(written).toEqual([2]);
});
