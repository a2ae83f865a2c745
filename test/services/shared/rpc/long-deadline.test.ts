import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { mountInProcess } from "../../../../services/shared/rpc/in-process.js";
import { unary } from "../../../../services/shared/rpc/method.js";

const caller = {
  id: "u",
  email: "",
  name: "",
  admin: false,
  groups: [],
  scopes: new Set(["core:read"]),
  keyId: "",
  service: false,
};

test.each([30, 90])("a deadline in %i days does not fire at once", async (days) => {
  const method = unary(AgentService.method.getAgent, async (_, { signal }) => {
    await sleep(20);
    return { agent: { name: signal.aborted ? "late" : "in time" } };
  });
  const steps = { authenticator: { authenticate: () => ({ caller, assertion: "" }) }, log: silentLog };
  const dispatch = mountInProcess([method], steps);
  const call = { credential: {}, deadline: Date.now() + days * 86_400_000 };
  const { agent } = await dispatch.unary(AgentService.method.getAgent, { agentId: "a" }, call);
  expect(agent?.name).toBe("in time");
});
