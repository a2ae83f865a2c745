import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { GetScenarioResponseSchema } from "#proto/aev/v1/scenario_service_pb.js";
import { fits } from "../../../services/platform-proxy/fits.js";

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
