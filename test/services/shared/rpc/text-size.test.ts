import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CreateAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { compileTextSize } from "../../../../services/shared/rpc/text-size.js";
import { EchoSightingRequestSchema } from "../../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";

const lengthOf = (desc: DescMessage, message: Message): number => compileTextSize(desc, (text) => text.length)(message);

test("an empty message has no text", () => {
  expect(lengthOf(EchoSightingRequestSchema, create(EchoSightingRequestSchema))).toBe(0);
  expect(lengthOf(CreateAgentRequestSchema, create(CreateAgentRequestSchema))).toBe(0);
});

test("texts are counted wherever they are: in messages, in one of several, in lists, maps and documents", () => {
  const message = create(EchoSightingRequestSchema, {
    word: "1",
    sighting: {
      id: "22",
      seenAt: { seconds: 1n, nanos: 2 },
      raw: { a: "333", deep: [{ b: "4444" }, 5, null, true] },
      payload: new Uint8Array(100),
      notes: { 1: "55555", 2: "" },
      parts: [{ id: "666666" }, { parts: [{ id: "7777777" }] }],
      seenBy: { case: "analyst", value: { name: "88888888" } },
      ports: [1, 2, 3],
    },
  });
  expect(lengthOf(EchoSightingRequestSchema, message)).toBe(1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  const sensor = create(EchoSightingRequestSchema, { sighting: { seenBy: { case: "sensor", value: "999999999" } } });
  expect(lengthOf(EchoSightingRequestSchema, sensor)).toBe(9);
});

test("characters are counted in UTF-16 units", () => {
  expect(lengthOf(EchoSightingRequestSchema, create(EchoSightingRequestSchema, { word: "é\u{1f600}" }))).toBe(3);
});

test("or in bytes", () => {
  const message = create(EchoSightingRequestSchema, { word: "é", sighting: { raw: { a: "\u{1f600}" } } });
  expect(compileTextSize(EchoSightingRequestSchema, Buffer.byteLength)(message)).toBe(2 + 4);
});
