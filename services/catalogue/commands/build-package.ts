import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApiKeyService, type CreateApiKeyResponse } from "#proto/auth/v1/api_key_service_pb.js";
import { EndpointAvailability as Availability } from "#proto/catalogue/v1/endpoint_service_pb.js";
import {
  type BuildPackageRequest,
  type BuildPackageResponseSchema,
  PackageFormat,
} from "#proto/catalogue/v1/package_service_pb.js";
import { buildPackage, FORMATS, type FormatName } from "../../../clients/packages/build.js";
import type { Contents, PackageTool } from "../../../clients/packages/contents.js";
import { guidanceOf } from "../../../clients/packages/guidance.js";
import { CORE, isPlatformServer, platformOf, scopesOfServer, topicsOf } from "../../shared/platforms.js";
import { VERSION } from "../../shared/process/version.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, notFound, permissionDenied } from "../../shared/rpc/errors.js";
import { leftOutBy, queryOf } from "../../shared/tools/narrowing.js";
import type { Tool } from "../../shared/tools/tools.js";
import { narrowingOf } from "../asked-narrowing.js";
import { standingOf } from "../capabilities.js";
import type { Context } from "../context.js";
import { readSwitches } from "../switches.js";
import { visibleTools } from "../visibility.js";
import { explainTool } from "./explain-tool.js";
import { availabilityOf } from "./get-endpoint-states.js";

const FORMAT_NAMES: Readonly<Record<PackageFormat, FormatName | undefined>> = {
  [PackageFormat.UNSPECIFIED]: undefined,
  [PackageFormat.CLAUDE_CODE]: "claude-code",
  [PackageFormat.MCPB]: "mcpb",
  [PackageFormat.AGENT_PLUGIN]: "agent-plugin",
};
const EXPIRE_DAYS = 90;
const DAY_MS = 86_400_000;

/** Builds a package of what the caller reaches; everything is checked before a key is created. */
export async function buildPackageFor(
  context: Context,
  request: BuildPackageRequest,
  call: Call,
): Promise<MessageInitShape<typeof BuildPackageResponseSchema>> {
  const { server, oneClick } = request;
  const format = FORMAT_NAMES[request.format];
  if (format === undefined) throw invalidArgument("format: name one of the formats");
  const { client } = FORMATS[format];
  if (oneClick && client === undefined)
    throw invalidArgument("this format carries no key, by its specification: ask without one_click");
  const contents = await contentsOf(context, request, call);
  const created = oneClick ? await createKey(context, request, call, `${client} (${server})`) : undefined;
  const built = buildPackage(format, { ...contents, key: created?.token });
  const key = created?.key;
  return { ...built, ...(key && { key: { id: key.id, name: key.name, expiresAt: key.expiresAt } }) };
}

async function contentsOf(context: Context, request: BuildPackageRequest, call: Call): Promise<Contents> {
  const { server } = request;
  const all = context.tools.get(server);
  if (all === undefined) throw notFound(`there is no server ${server}`);
  const narrowing = narrowingOf(request, all);
  const availability = await availabilityOf(context, server, await readSwitches(context));
  if (availability !== Availability.OPEN) throw failedPrecondition(`${server} is not served: ${CLOSED[availability]}`);
  const { capabilities } = await standingOf(context, server, call);
  const { listed } = visibleTools(all, call.caller, capabilities);
  if (listed.length === 0) throw permissionDenied(await whyNone(context, all, call));
  const tools = listed.filter((tool) => leftOutBy(tool, narrowing) === undefined);
  if (tools.length === 0) throw invalidArgument("this narrowing leaves no tool: choose other toolsets");
  return {
    server,
    serviceName: context.serviceName,
    subject: isPlatformServer(server) ? platformOf(server).label : CORE.about.inShort,
    topics: topicsOf(isPlatformServer(server) ? platformOf(server).about : CORE.about, tools),
    url: `${context.urlOf(server)}${queryOf(narrowing)}`,
    tools: tools.map(toolOf),
    guidance: guidanceOf(server, tools),
    serviceVersion: VERSION,
    homepage: context.homepage,
    key: undefined,
  };
}

const CLOSED: Readonly<Record<Availability, string>> = {
  [Availability.UNSPECIFIED]: "",
  [Availability.OPEN]: "",
  [Availability.PLATFORM_SERVERS_OFF]: "an administrator switched the platform servers off; ask one to switch them on",
  [Availability.NOT_REGISTERED]: "no platform is registered there; ask an administrator to register one",
  [Availability.CORE_OFF]: "an administrator has not switched it on; ask one to do so",
  [Availability.AI_OFF]: "an administrator switched AI off; ask one to switch it on",
};

async function whyNone(context: Context, all: readonly Tool[], call: Call): Promise<string> {
  const first = all.find(({ readOnly }) => readOnly) ?? (all[0] as Tool);
  const { reason } = await explainTool(context, { server: first.server, tool: first.name } as never, call);
  return reason;
}

function toolOf({ name, readOnly, toolset, listing }: Tool): PackageTool {
  return { name, readOnly, toolset, description: listing.description };
}

/** A key in the caller's name that reaches this server alone, as far as the caller does. */
function createKey(
  { peers }: Context,
  { server, expireDays = EXPIRE_DAYS, readOnly }: BuildPackageRequest,
  call: Call,
  name: string,
): Promise<CreateApiKeyResponse> {
  const [read, write] = scopesOfServer(server);
  const scopes = (readOnly ? [read] : [read, write]).filter((scope) => call.caller.scopes.has(scope));
  const expiresAt = timestampFromMs(Date.now() + expireDays * DAY_MS);
  return peers.call(ApiKeyService.method.createApiKey, { name, scopes, expiresAt }, call);
}
