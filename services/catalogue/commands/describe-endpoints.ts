import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DirectoryService } from "#proto/auth/v1/directory_service_pb.js";
import {
  EndpointAvailability as Availability,
  type DescribeEndpointsResponseSchema,
  type EndpointSchema,
} from "#proto/catalogue/v1/endpoint_service_pb.js";
import { ConnectionState } from "#proto/catalogue/v1/setting_service_pb.js";
import { CORE, isPlatformServer, platformOf, SERVERS } from "../../shared/platforms.js";
import type { Call } from "../../shared/rpc/call.js";
import { toolsetsOf } from "../../shared/tools/narrowing.js";
import type { Tool } from "../../shared/tools/tools.js";
import { standingOf } from "../capabilities.js";
import { stateOf } from "../connection-state.js";
import type { Context } from "../context.js";
import { platformsOf } from "../platforms.js";
import { readSwitches, readTurns, type Switches } from "../switches.js";
import { visibleTools } from "../visibility.js";
import { explainTool } from "./explain-tool.js";
import { availabilityOf } from "./get-endpoint-states.js";

/** Every endpoint as the caller finds it. */
export async function describeEndpoints(
  context: Context,
  call: Call,
): Promise<MessageInitShape<typeof DescribeEndpointsResponseSchema>> {
  const switches = await readSwitches(context);
  const served = SERVERS.filter((server) => context.tools.has(server));
  return { endpoints: await Promise.all(served.map((server) => describe(context, server, switches, call))) };
}

async function describe(
  context: Context,
  server: string,
  switches: Switches,
  call: Call,
): Promise<MessageInitShape<typeof EndpointSchema>> {
  const all = context.tools.get(server) ?? [];
  const availability = await availabilityOf(context, server, switches);
  const { title, connection, platform } = await behind(context, server);
  const about = { server, title, availability, connection, platform };
  if (availability !== Availability.OPEN)
    return { ...about, ...(await switchedOff(context, availability)), toolsets: countsOf(all, []) };
  const { capabilities, tenants } = await standingOf(context, server, call);
  const tools = visibleTools(all, call.caller, capabilities).listed;
  const reason = tools.every(({ name }) => name === WHOAMI) ? await whyNone(context, server, all, call) : "";
  return { ...about, tools: tools.length, reason, toolsets: countsOf(all, tools), tenants };
}

async function behind(
  context: Context,
  server: string,
): Promise<{ title: string; connection: ConnectionState; platform: string }> {
  if (!isPlatformServer(server))
    return { title: CORE.about.inShort, connection: ConnectionState.UNSPECIFIED, platform: "" };
  const title = platformOf(server).label;
  const [serving] = await platformsOf(context, server);
  if (serving === undefined) return { title, connection: ConnectionState.NOT_CONNECTED, platform: "" };
  const { state = ConnectionState.REGISTERED, title: platform = "" } = await stateOf(context, serving, true);
  return { title, connection: state, platform };
}

/** The switch because of which an endpoint does not serve. */
const SWITCH_OF: Readonly<Partial<Record<Availability, keyof Switches>>> = {
  [Availability.PLATFORM_SERVERS_OFF]: "platformServers",
  [Availability.CORE_OFF]: "core",
  [Availability.AI_OFF]: "ai",
};

/** Who turned it. Everybody who calls may know the name, so that they know whom to ask, and nobody the address. */
async function switchedOff(
  context: Context,
  availability: Availability,
): Promise<Pick<MessageInitShape<typeof EndpointSchema>, "switchedOffBy" | "switchedOffAt">> {
  const name = SWITCH_OF[availability];
  const turned = name && (await readTurns(context))[name];
  if (turned === undefined) return {};
  const { names } = await context.peers.callAsService(DirectoryService.method.getUserNames, { userIds: [turned.by] });
  return { switchedOffBy: names[turned.by] ?? "", switchedOffAt: timestampFromDate(turned.at) };
}

/** A tool that everybody with the scope has: it says which rights one has, and is no use without others. */
const WHOAMI = "whoami";

/** What the first tool lacks, every tool does; that of whoami is nothing but the scope. */
async function whyNone(context: Context, server: string, all: readonly Tool[], call: Call): Promise<string> {
  const first = all.find(({ name, readOnly }) => readOnly && name !== WHOAMI) ?? all[0];
  return first === undefined ? "" : (await explainTool(context, { server, tool: first.name } as never, call)).reason;
}

function countsOf(all: readonly Tool[], tools: readonly Tool[]): { name: string; tools: number }[] {
  return toolsetsOf(all).map((name) => ({
    name,
    tools: tools.filter(({ toolsets }) => toolsets.includes(name)).length,
  }));
}
