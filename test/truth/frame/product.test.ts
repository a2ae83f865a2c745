import { expect, test, vi } from "vitest";
import { startProduct } from "./product.js";

const program = vi.hoisted(() => ({
  baseUrl: "http://127.0.0.1:1",
  bootstrap: { grpc_url: "http://127.0.0.1:1", admin: { api_key: "none" } },
  stop: vi.fn(async () => undefined),
}));
vi.mock("../../support/program.js", () => ({ startProgram: async () => program }));

test("a program whose people cannot be made is ended, and not left running", async () => {
  await expect(startProduct("grc", {}, { somebody: "somebody@example.org" })).rejects.toThrow();
  expect(program.stop).toHaveBeenCalledTimes(1);
});
