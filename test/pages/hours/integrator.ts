import { readFileSync } from "node:fs";
import { ConnectError } from "@connectrpc/connect";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.js";
import { connectClient } from "../../../clients/node/connect.js";
import { everyItem } from "../../../clients/node/pages.js";
import type { Program } from "../../support/program.js";

/** The page, which needs Go, Java, Python and grpcurl as a whole: here, what a service says in it. */
export const INTEGRATOR = "docs/integrators-hour.md";

/** The page with the counts, names and sentences of a program that runs. */
export async function integratorsPage(page: string, { bootstrap, baseUrl }: Program): Promise<string> {
  const at = (apiKey: string) => ({ baseUrl: bootstrap.grpc_url, apiKey, protocol: "grpc" }) as const;
  const keys = connectClient(ApiKeyService, at(bootstrap.admin.api_key));
  const scopes = ["core:read", "core:write", "aev:read", "aev:write", "traces:write"];
  const { key, token } = await keys.createApiKey({ userEmail: bootstrap.analyst.email, name: "nightly", scopes });
  const agents = connectClient(AgentService, at(token));
  let count = 0;
  for await (const _ of everyItem(
    (pageToken) => agents.listAgents({ pageToken }),
    (answer) => answer.agents,
  ))
    count++;
  const refused = await refusal(() => agents.listAgents({ pageSize: 1000 }));
  const wrongKey = await refusal(() => connectClient(AgentService, at("nothing")).listAgents({}));
  const overHttp = await refusal(() =>
    connectClient(AgentService, { baseUrl: `${baseUrl}/rpc`, apiKey: "nothing", httpVersion: "1.1" }).listAgents({}),
  );
  const ofCore = (await servicesOf(at(token))).filter((name) => name.includes("core"));
  const caller = await whoAmI(baseUrl, token);
  await keys.revokeApiKey({ id: key?.id ?? "" });
  const revoked = await refusal(() => agents.listAgents({}));

  let seen = 0;
  return page
    .replace(/^agents \d+$/gm, `agents ${count}`)
    .replace(/^(refused INVALID_ARGUMENT ).*$/gm, `$1${refused}`)
    .replace(/^(wrong key UNAUTHENTICATED ).*$/gm, (_, head) => `${head}${seen++ === 0 ? overHttp : wrongKey}`)
    .replace(/^(\$ grpcurl .* list \| grep core\n)[\s\S]*?\n\n/m, (_, command) => `${command}${ofCore.join("\n")}\n\n`)
    .replace(
      /^(core\.v1.*ListAgents is) a method:\n(\/\/ .*\n)+/m,
      (_, head) => `${head} a method:\n${commentOf("ListAgents")}`,
    )
    .replace(/^\{"caller":.*("keyId":".*)$/m, (_, shownKey) => caller.replace(/"keyId":.*/, shownKey))
    .replace(/^(\tdetails = ").*"$/m, `$1${revoked}"`)
    .replace(/^(ConnectError: \[unauthenticated\] ).*$/m, `$1${revoked}`)
    .replace(/(code = Unauthenticated desc = ).*$/m, `$1${revoked}`);
}

async function refusal(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
  } catch (error) {
    return ConnectError.from(error).rawMessage;
  }
  throw new Error("the call was not refused");
}

async function servicesOf(options: Parameters<typeof connectClient>[1]): Promise<string[]> {
  const client = connectClient(ServerReflection, options);
  const asked = (async function* () {
    yield { messageRequest: { case: "listServices" as const, value: "" } };
  })();
  for await (const { messageResponse } of client.serverReflectionInfo(asked)) {
    if (messageResponse.case === "listServicesResponse")
      return messageResponse.value.service.map(({ name }) => name).sort();
  }
  throw new Error("reflection lists no services");
}

async function whoAmI(baseUrl: string, token: string): Promise<string> {
  const reply = await fetch(`${baseUrl}/rpc/auth.v1.ApiKeyService/WhoAmI`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  return JSON.stringify(await reply.json());
}

/** The comment of a method of agents, as grpcurl shows it. */
function commentOf(method: string): string {
  const source = readFileSync("proto/core/v1/agent_service.proto", "utf8");
  const [, comment] = new RegExp(`((?: *//.*\\n)+) *rpc ${method}\\(`).exec(source) ?? [];
  if (comment === undefined) throw new Error(`no comment of ${method}`);
  return comment.replace(/^ +/gm, "");
}
