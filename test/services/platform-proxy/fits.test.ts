import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { GetScenarioResponseSchema } from "#proto/aev/v1/scenario_service_pb.js";
import { fits } from "../../../services/platform-proxy/fits.js";
import { SightingSchema } from "../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";

const scenario = (more: object) => ({ scenario: { id: "1", name: "a", ...more } });

test("what a binding makes of an answer as its API has it fits, and absent fields do", () => {
  expect(fits(GetScenarioResponseSchema, scenario({ labels: ["a"], createdAt: timestampFromMs(0) }))).toBe(true);
  expect(fits(GetScenarioResponseSchema, create(GetScenarioResponseSchema, scenario({})))).toBe(true);
  expect(fits(GetScenarioResponseSchema, {})).toBe(true);
});

test.each([
  ["a number for a text", scenario({ name: 1 })],
  ["an object for a text", scenario({ name: { toString: "x" } })],
  ["a text for a list", scenario({ labels: "ab" })],
  ["a list of something else", scenario({ labels: ["a", 1] })],
  ["a text for a time", scenario({ createdAt: "2026-01-01" })],
  ["a time without seconds", scenario({ createdAt: { seconds: "1" } })],
  ["a number that is none", scenario({ players: Number.NaN })],
  ["a fraction for a count", scenario({ players: 1.5 })],
  ["a list for a message", { scenario: [] }],
  ["nothing", null],
])("%s does not", (_what, value) => {
  expect(fits(GetScenarioResponseSchema, value)).toBe(false);
});

test.each([
  ["a map", { bySensor: { north: 1 } }, { bySensor: { north: "low" } }],
  ["a text of a oneof", { seenBy: { case: "sensor", value: "a" } }, { seenBy: { case: "sensor", value: 1 } }],
  [
    "a message of a oneof",
    { seenBy: { case: "analyst", value: { name: "a" } } },
    { seenBy: { case: "analyst", value: { name: 1 } } },
  ],
  ["a number of 64 bits with a sign", { count: -(2n ** 63n) }, { count: 2n ** 63n }],
  ["one without", { offset: 2n ** 64n - 1n }, { offset: -1n }],
  ["a list of numbers", { ports: [0, 2 ** 32 - 1] }, { ports: [-1] }],
  ["bytes", { payload: new Uint8Array(1) }, { payload: "AA==" }],
  ["what is any JSON object", { raw: { a: [1, null] } }, { raw: [] }],
  ["a number that may be none", { weight: Number.NaN, confidence: 0.5 }, { weight: "0.5" }],
  ["a message in its own kind", { parts: [{ parts: [{ id: "a" }] }] }, { parts: [{ parts: [{ id: 1 }] }] }],
])("%s fits if it has the types of its field, and else not", (_what, right, wrong) => {
  expect(fits(SightingSchema, right)).toBe(true);
  expect(fits(SightingSchema, wrong)).toBe(false);
});
