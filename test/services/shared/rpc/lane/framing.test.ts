import { expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { answerHeadOf, Requests } from "../../../../../services/shared/rpc/lane/framing.js";

const DATE = "Date: Fri, 27 Nov 2026 17:37:54 GMT";
const TYPE = "content-type: application/proto";

test("the head of a message says the same in whatever order its headers come", () => {
  const written = `HTTP/1.1 200 OK\r\n${TYPE}\r\n${DATE}\r\nuWebSockets: 20\r\nContent-Length: 1877`;
  const other = `HTTP/1.1 200 OK\r\nContent-Length: 1877\r\n${DATE}\r\n${TYPE}`;
  const { text: _, ...head } = answerHeadOf(written) ?? {};
  expect(head).toEqual({ status: 200, length: 1877, isMessage: true, closes: false });
  expect(answerHeadOf(other)).toEqual({ ...head, text: other });
});

test("one more header is read, and without a length that is a number it is not the answer of a lane", () => {
  const begun = `HTTP/1.1 200 OK\r\n${TYPE}\r\n${DATE}\r\nuWebSockets: 20\r\nContent-Length: `;
  expect(answerHeadOf(`${begun}7\r\nconnection: close`)).toMatchObject({ length: 7, closes: true });
  for (const length of ["", "-1", "7x", "12345678901"]) expect(answerHeadOf(`${begun}${length}`)).toBeUndefined();
});

test("a header that cannot be written is refused, also after one that can", () => {
  const requests = new Requests({ host: "127.0.0.1", port: 1, token: "t" });
  const { getAgent } = AgentService.method;
  const sent = (assertion: string) => requests.of(getAgent, { credential: { assertion } }, undefined, new Uint8Array());
  const good = "a".repeat(600);
  for (const assertion of [good, good, "short"])
    expect(String(sent(assertion))).toContain(`x-caller: ${assertion}\r\n`);
  for (const bad of ["\r\nx: y", "ä", "\0"]) {
    expect(sent(bad)).toBeUndefined();
    expect(sent(`${good}${bad}`)).toBeUndefined();
  }
  for (let n = 0; n < 1_000; n++) expect(sent(`${good}${n}`)).toBeDefined();
  expect(sent(`${good}\n`)).toBeUndefined();
});
