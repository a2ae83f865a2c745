import { v7 as uuidv7 } from "uuid";
import { openAuthStore } from "../../../services/auth/store.js";
import { randomBase62 } from "../../../services/shared/credentials/format.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { modern } from "../../facade/support/client.js";
import { makeKeys } from "../../support/new-keys.js";
import { type Program, startProgram } from "../../support/program.js";
import { load, requestBytes } from "../load.js";
import { cpuMicroseconds } from "../servers/processes.js";
import { LIST_AGENTS } from "../suites/agents.js";
import type { Say } from "./main.js";

const USED = 10;
const ROUNDS = 9;
const ROUND_MS = 1_000;
const KEYS_OF_A_USER = 100;
const BATCH = 1_000;
const ANY_RATE = { CALLS_PER_SECOND: "1000000", USER_CALLS_PER_SECOND: "1000000" };

/** What a call costs where there are many keys, as a ratio to where there are ten: medians of turns. */
export async function keysPart(say: Say, count: number): Promise<void> {
  const few = await startProgram({ env: ANY_RATE });
  const first = await startProgram({ env: ANY_RATE, keepData: true });
  const tokens = { few: await makeKeys(few, USED), many: await makeKeys(first, USED) };
  await first.stop();
  await addKeys(first.dataDir, count);
  const many = await startProgram({ env: ANY_RATE, dataDir: first.dataDir });
  try {
    const ratios: number[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const a = await costOf(few, tokens.few);
      const b = await costOf(many, tokens.many);
      if (round >= 0) ratios.push(b / a);
    }
    const median = ratios.sort((a, b) => a - b)[ROUNDS >> 1] as number;
    const [least, most] = [ratios[0] as number, ratios.at(-1) as number];
    say(
      "a read, to the same with ten keys",
      median.toFixed(2),
      `${count} keys; ${least.toFixed(2)} to ${most.toFixed(2)}`,
    );
  } finally {
    await Promise.all([few.stop(), many.stop()]);
    first.forget();
  }
}

async function costOf({ process, baseUrl }: Program, tokens: readonly string[]): Promise<number> {
  const { body, headers } = modern("tools/call", LIST_AGENTS);
  const requests = tokens.map((token) =>
    requestBytes("/mcp/core", { authorization: `Bearer ${token}`, ...headers }, JSON.stringify(body)),
  );
  const before = cpuMicroseconds(process.pid as number);
  const loop = { port: Number(new URL(baseUrl).port), requests, connections: tokens.length };
  const answers = await load(loop, ROUND_MS);
  return (cpuMicroseconds(process.pid as number) - before) / answers;
}

/** Puts keys, and users who have them, into a store that no program has open. */
async function addKeys(folder: string, count: number): Promise<void> {
  const store = await openEmbeddedStore(folder);
  const { keys, users } = await openAuthStore(store);
  const someone = await users.findOne({ login: { $exists: true } });
  const someKey = await keys.findOne({});
  if (someone === null || someKey === null) throw new Error("the store has no user with a key");
  let user = someone;
  for (let made = 0; made < count; made += BATCH) {
    const more = [];
    for (let i = 0; i < BATCH; i++) {
      if ((made + i) % KEYS_OF_A_USER === 0) {
        const login = `many-${made + i}@example.org`;
        user = { ...someone, _id: uuidv7(), login, groups: [], admin: false };
        await users.insertOne(user);
      }
      more.push({ ...someKey, _id: randomBase62(12), serial: uuidv7(), user_id: user._id, name: `key ${made + i}` });
    }
    await keys.insertMany(more);
  }
  await store.close();
}
