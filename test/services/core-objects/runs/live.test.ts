import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { LiveReader, LiveTexts } from "../../../../services/core-objects/runs/live.js";
import { createRedactor } from "../../../../services/core-objects/runs/redact.js";
import { as } from "../rig.js";
import { CREDENTIAL, startStage } from "./stage.js";

const { triggerRun, followRun } = RunService.method;

let stage: Awaited<ReturnType<typeof startStage>>;
let integration = "";
beforeAll(async () => {
  stage = await startStage();
  integration = await stage.integrate();
});
afterAll(() => stage.close());

/** A model that writes its answer in so many small pieces. */
function writes(text: string, pieces: number, everyMs: number) {
  const size = Math.ceil(text.length / pieces);
  return {
    async respond(response: import("node:http").ServerResponse) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let at = 0; at < text.length; at += size) {
        const delta = { content: text.slice(at, at + size) };
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
        if (everyMs > 0) await sleep(everyMs);
      }
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    },
  };
}

interface Followed {
  readonly texts: string[];
  readonly done: number[];
  readonly messages: string[];
  readonly at: number[];
  run?: Run;
}

async function follow(agentId: string, slowMs = 0): Promise<Followed> {
  const followed: Followed = { texts: [], done: [], messages: [], at: [] };
  const request = { agentId, input: "Look.", waitSeconds: 50 };
  for await (const { event } of stage.rig.dispatch.stream(RunService.method.triggerRun, request, as("alice"))) {
    if (event.case === "result") followed.run = event.value.run!;
    if (event.case !== "progress") continue;
    followed.done.push(event.value.done);
    followed.messages.push(event.value.message);
    if (event.value.text !== undefined) {
      followed.texts.push(event.value.text);
      followed.at.push(performance.now());
    }
    if (slowMs > 0) await sleep(slowMs);
  }
  return followed;
}

test("who follows a run reads the model's text while it is written, ten pieces a second, and nothing of it is stored", async () => {
  const text = Array.from({ length: 600 }, (_, n) => `word${n}`).join(" ");
  stage.script.reply = () => writes(text, 600, 5);
  const agent = await stage.agent({ resourceIds: [integration] });
  await follow(agent);
  const { texts, done, messages, at, run } = await follow(agent);
  const told = texts.join("");
  expect(run!.output).toBe(text);
  // Of the end nothing need be told: the run has it.
  expect(text.startsWith(told)).toBe(true);
  expect(told.length).toBeGreaterThan(text.length / 2);
  const seconds = (at.at(-1)! - at[0]!) / 1_000;
  expect(texts.length).toBeGreaterThan(5);
  expect(texts.length).toBeLessThanOrEqual(10 * seconds + 3);
  expect(done).toEqual([...done].sort((a, b) => a - b));
  expect(Math.max(...done)).toBeLessThanOrEqual(run!.stepCount);
  expect(messages.every((message) => message.length < 400)).toBe(true);
  expect(messages.some((message) => /^running.*word\d+/.test(message))).toBe(true);
});

test("a run that another call began is followed by its user alone, and a later stream begins with all that is written of the step", async () => {
  const text = Array.from({ length: 200 }, (_, n) => `word${n}`).join(" ");
  stage.script.reply = () => writes(text, 200, 15);
  const agent = await stage.agent({ resourceIds: [integration] });
  const { run } = await last(stage.rig.dispatch.stream(triggerRun, { agentId: agent, input: "Look." }, as("alice")));
  const runId = run!.id;
  await expect(last(stage.rig.dispatch.stream(followRun, { runId }, as("bob")))).rejects.toThrow("you have no run");
  const [first, second] = [await textsOf(runId, 3), await textsOf(runId, 1)];
  expect(text.startsWith(first)).toBe(true);
  expect(second.startsWith(first)).toBe(true);
  expect(text.startsWith(second)).toBe(true);
  const end = await last(stage.rig.dispatch.stream(followRun, { runId, waitSeconds: 50 }, as("alice")));
  expect(end.run!.output).toBe(text);
  // Of one that has ended there is nothing to wait for.
  const began = performance.now();
  expect((await last(stage.rig.dispatch.stream(followRun, { runId, waitSeconds: 50 }, as("alice")))).run!.id).toBe(
    runId,
  );
  expect(performance.now() - began).toBeLessThan(2_000);
});

/** The texts of the first messages that have one. */
async function textsOf(runId: string, count: number): Promise<string> {
  const texts: string[] = [];
  for await (const { event } of stage.rig.dispatch.stream(followRun, { runId, waitSeconds: 50 }, as("alice"))) {
    if (event.case === "progress" && event.value.text !== undefined) texts.push(event.value.text);
    if (texts.length === count) break;
  }
  return texts.join("");
}

/** The run that a stream ends with. */
async function last(
  stream: AsyncIterable<{ event: { case?: string | undefined; value?: unknown } }>,
): Promise<{ run?: Run }> {
  let end: { run?: Run } = {};
  for await (const { event } of stream) if (event.case === "result") end = event.value as { run?: Run };
  return end;
}

test("what is secret is in no piece, wherever it is parted", async () => {
  stage.script.reply = () =>
    writes(`The key is ${CREDENTIAL}, and ${CREDENTIAL} again; nothing more is said of it.`, 60, 40);
  const agent = await stage.agent({ resourceIds: [integration] });
  const { texts, messages } = await follow(agent);
  const told = texts.join("");
  expect(told).toMatch(/^The key is \[redacted\], and \[redacted\] again/);
  for (let at = 0; at + 8 <= CREDENTIAL.length; at++) expect(told).not.toContain(CREDENTIAL.slice(at, at + 8));
  expect(messages.join("\n")).not.toContain(CREDENTIAL.slice(4, 14));
});

test("a slow reader gets the newest text, and what is kept for it is bounded", async () => {
  const texts = new LiveTexts();
  const { live, end } = texts.begin("run-1", createRedactor());
  const [slow, quick] = [new LiveReader(texts, "run-1"), new LiveReader(texts, "run-1")];
  let read = "";
  for (let n = 0; n < 1_000; n++) {
    live.add(`${String(n).padStart(6, "0")} ${"x".repeat(500)} `);
    read += quick.read().text;
  }
  const late = slow.read();
  expect(late.text.length).toBeLessThanOrEqual(32 * 1024);
  expect(late.text).toContain("000999");
  expect(late.written).toBe(read.length);
  expect(read).toContain("000000");
  expect(slow.read().text).toBe("");
  end();
  expect(texts.of("run-1")).toBeUndefined();
});

test("a character of two halves is not parted", () => {
  const texts = new LiveTexts();
  const { live } = texts.begin("run-1", createRedactor());
  const reader = new LiveReader(texts, "run-1");
  let told = "";
  for (const half of "ab😀😀😀cd".split("")) {
    live.add(half);
    const { text } = reader.read();
    expect(text.isWellFormed()).toBe(true);
    told += text;
  }
  expect("ab😀😀😀cd".startsWith(told)).toBe(true);
  expect(told).toContain("😀😀");
});
