import type { ExplainToolRequest } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { CORE, isPlatformServer, platformOf } from "../../shared/platforms.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { notFound } from "../../shared/rpc/errors.js";
import type { Tool } from "../../shared/tools/tools.js";
import { standingOf } from "../capabilities.js";
import type { Context } from "../context.js";
import { holdsScope, missingOf } from "../visibility.js";

/** Why the caller does not see a tool that its server has: which right is missing, and who gives it. */
export async function explainTool(
  context: Context,
  { server, tool: name }: ExplainToolRequest,
  call: Call,
): Promise<{ reason: string }> {
  const tools = context.tools.get(server) ?? [];
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw notFound(`there is no tool ${name} on ${server}`);
  if (!holdsScope(tool, call.caller)) return { reason: outOfScope(tool, call.caller) };
  const { capabilities } = await standingOf(context, server, call);
  const missing = missingOf(tool, capabilities);
  return { reason: missing.length === 0 ? "" : withoutRights(tool, missing, tools) };
}

function outOfScope({ name, scope }: Tool, { keyId }: Caller): string {
  const credential = keyId === "" ? "the credential" : "the API key";
  return `${name} needs the scope ${scope}, which ${credential} of this connection does not have: its owner or an administrator can create a key that has it`;
}

function withoutRights({ name, server }: Tool, missing: readonly string[], tools: readonly Tool[]): string {
  if (!isPlatformServer(server)) {
    const words: Readonly<Record<string, string>> = CORE.rights;
    return `${name} needs ${missing.map((right) => words[right] ?? right).join(" and ")}, and you have none: ${CORE.granting}`;
  }
  const { rights = {}, granting } = platformOf(server);
  const named = missing.map((right) => rights[right] ?? right).join(" and ");
  const noun = missing.length === 1 ? "right" : "rights";
  const shown = tools.some((tool) => tool.name === "whoami") ? ". whoami shows your rights" : "";
  return `${name} needs the ${noun} ${named} on the ${server} platform, which your account there does not have: ${granting}${shown}`;
}
