import type { Context } from "../../context.js";
import { bytesOf } from "../../room.js";
import type { ListedTool } from "../../runs/apart/mcp.js";
import { pinsOf, type ToolPin, type WaitingTool, waitingAfter, waitingOf } from "./pins.js";
import type { McpServerRecord } from "./record.js";

/**
 * Pins the tools of a server that nobody has chosen from yet: all that its first list has.
 *
 * @returns the pins that were kept first; none if the server was changed meanwhile.
 */
export async function keepFirstTools(
  context: Context,
  server: McpServerRecord,
  listed: readonly ListedTool[],
): Promise<readonly ToolPin[]> {
  const tools = pinsOf(listed);
  if (await keepTools(context, server, { tools, waiting: [] })) return tools;
  const now = await context.collection<McpServerRecord>("MCP server").findOne({ _id: server._id, etag: server.etag });
  return now?.tools ?? [];
}

/** Keeps which of the listed tools wait for the owner, for get_mcp_server to show them. */
export async function keepWaiting(
  context: Context,
  server: McpServerRecord,
  { listed, pins }: { readonly listed: readonly ListedTool[]; readonly pins: readonly ToolPin[] },
  { redact }: { redact(text: string): string },
): Promise<readonly WaitingTool[]> {
  const shown = server.waiting ?? [];
  const found = shownOf(waitingOf(listed, pins), redact);
  const waiting = waitingAfter(shown, found);
  if (server.tools && JSON.stringify(waiting) !== JSON.stringify(shown))
    await keepTools(context, server, { tools: server.tools, waiting });
  return waiting;
}

/** Waiting tools as they are shown: without what is secret. A name that holds a secret cannot be accepted. */
export function shownOf(waiting: readonly WaitingTool[], redact: (text: string) => string): WaitingTool[] {
  return waiting.flatMap((one) =>
    redact(one.name) === one.name ? [{ ...one, description: redact(one.description) }] : [],
  );
}

/**
 * Keeps what is chosen of a server and what waits, unless the server was changed meanwhile or somebody else chose. It
 * is no change of the server: its etag stays.
 *
 * @returns whether it was kept.
 */
export async function keepTools(
  { collection, room }: Context,
  server: McpServerRecord,
  kept: { readonly tools: readonly ToolPin[]; readonly waiting: readonly WaitingTool[] },
): Promise<boolean> {
  const grows = bytesOf({ ...server, ...kept } as McpServerRecord) - bytesOf(server);
  await room.take(server.owner, 0, grows);
  const { matchedCount } = await collection<McpServerRecord>("MCP server").updateOne(
    { _id: server._id, etag: server.etag, tools: (server.tools ?? null) as never },
    { $set: kept },
  );
  if (matchedCount === 0) await room.take(server.owner, 0, -grows);
  return matchedCount > 0;
}
