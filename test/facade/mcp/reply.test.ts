import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Exchange, JSON_HEADERS } from "../../../facade/http/exchange.js";
import { Reply } from "../../../facade/mcp/reply.js";
import { eventsOf } from "../support/client.js";

/** A client that notes what it is sent and reads only when it is told to. */
class SlowClient implements Exchange {
  readonly method = "POST";
  readonly path = "/";
  readonly query = "";
  readonly address = "";
  readonly malformed = undefined;
  readonly headers = { accept: "application/json, text/event-stream" };
  gone = false;
  reads = true;
  text = "";
  status = 0;
  ended = false;
  private writable = (): void => undefined;

  onGone(): void {}
  readJson(): void {}
  stream(): never {
    throw new Error("nothing is read here");
  }
  bound(): void {}
  hold(): void {}
  letGo(): void {}
  readonly postponed = false;
  postpone(): void {}
  inTurn(run: () => void): void {
    run();
  }
  occupy(): boolean {
    return true;
  }
  keep(): boolean {
    return true;
  }
  answer(status: number, _headers: readonly string[], body: string | Uint8Array = ""): void {
    this.status = status;
    this.end(body.toString());
  }
  open(status: number): void {
    this.status = status;
  }
  write(piece: string | Uint8Array): boolean {
    this.text += piece;
    return this.reads;
  }
  onWritable(listener: () => void): void {
    this.writable = listener;
  }
  catchUp(): void {
    this.reads = true;
    this.writable();
  }
  end(piece = ""): void {
    this.text += piece;
    this.ended = true;
  }
  close(): void {
    this.gone = true;
  }
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const note = (done: number, message = "") => ({ done, message });

test("a silent stream says every fifteen seconds that it lives, and no more once it has ended", () => {
  const client = new SlowClient();
  const reply = new Reply(client, JSON_HEADERS);
  vi.advanceTimersByTime(60_000);
  expect(client.text).toBe("");
  reply.progress("t", note(1));
  const begun = client.text;
  vi.advanceTimersByTime(31_000);
  expect(client.text).toBe(`${begun}: \n\n: \n\n`);
  reply.finish(200, '{"done":true}', 1);
  const all = client.text;
  vi.advanceTimersByTime(60_000);
  expect(client.text).toBe(all);
  expect(vi.getTimerCount()).toBe(0);
});

test("between two notifications the newest waits, one that goes back is dropped, the last is not sent after the result", () => {
  const client = new SlowClient();
  const reply = new Reply(client, JSON_HEADERS);
  for (const done of [1, 2, 5, 4, 3]) reply.progress("t", note(done));
  expect(eventsOf(client.text).map(({ params }) => params.progress)).toEqual([1]);
  vi.advanceTimersByTime(100);
  expect(eventsOf(client.text).map(({ params }) => params.progress)).toEqual([1, 5]);
  reply.progress("t", note(6));
  reply.finish(200, '{"result":1}', 1);
  vi.advanceTimersByTime(1_000);
  expect(eventsOf(client.text).slice(2)).toEqual([{ result: 1 }]);
});

test("a client that does not read is spared progress, and gets the newest when it has caught up", () => {
  const client = new SlowClient();
  const reply = new Reply(client, JSON_HEADERS);
  client.reads = false;
  reply.progress("t", note(1));
  for (let done = 2; done < 50; done++) {
    reply.progress("t", note(done));
    vi.advanceTimersByTime(100);
  }
  expect(eventsOf(client.text)).toHaveLength(1);
  client.catchUp();
  expect(eventsOf(client.text).map(({ params }) => params.progress)).toEqual([1, 49]);
});

test("a client that is a mebibyte behind is cut off", () => {
  const client = new SlowClient();
  const reply = new Reply(client, JSON_HEADERS);
  client.reads = false;
  reply.notify("notifications/x", { text: "x".repeat(600_000) });
  expect(client.gone).toBe(false);
  reply.notify("notifications/x", { text: "x".repeat(600_000) });
  expect(client.gone).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a result that is too large for an event is an error in a stream and whole as JSON", () => {
  const result = `{"jsonrpc":"2.0","id":1,"result":"${"x".repeat(1 << 20)}"}`;
  const streamed = new SlowClient();
  const reply = new Reply(streamed, JSON_HEADERS);
  reply.progress("t", note(1));
  reply.finish(200, result, 1);
  expect(eventsOf(streamed.text).at(-1)).toMatchObject({ id: 1, error: { code: -32603 } });
  const plain = new SlowClient();
  new Reply(plain, JSON_HEADERS).finish(200, result, 1);
  expect(plain.text).toBe(result);
});
